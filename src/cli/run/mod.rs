//! `schedc run`

mod host;
mod leader;
mod serving;
mod signals;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum};
use schedc::pipelines::Profiles;
use schedc_core::profile::Bundle;
use schedc_core::scheduler::Options;
use schedc_kubernetes::connect::Target;
use schedc_kubernetes::drive::{self, Driver, End, Leadership, Setup};
use schedc_kubernetes::events::{Recorder, Sink};
use schedc_kubernetes::flags::{Connection, Flags, Printed};
use schedc_kubernetes::resources::Resource;
use schedc_kubernetes::wire::{Http, Pace, Paced};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use super::failure::Failure;
use leader::Leader;
use serving::{Content, Serving, Ways};

/// Schedule the pods of a cluster, in kube-scheduler's place or beside it
///
/// It takes kube-scheduler's flags, and serves the pods that ask for the scheduler name of a profile that is compiled in.
#[derive(Args)]
pub(crate) struct Run {
    #[command(flatten)]
    flags: Flags,

    #[command(flatten)]
    printed: Printed,

    /// What a replica does that does not lead
    #[arg(long, value_enum, value_name = "HOW", default_value = "warm", help_heading = "schedc")]
    standby: Standby,
}

/// What a replica does that does not lead.
#[derive(Clone, Copy, ValueEnum)]
enum Standby {
    /// Follow the cluster, to take over sooner
    Warm,
    /// Nothing, which takes next to no memory
    Small,
}

/// How long it may take to write the last events.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Run {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::new(format!("cannot start: {error}")))?;
        runtime.block_on(self.schedule())
    }

    async fn schedule(self) -> Result<(), Failure> {
        let started = SystemTime::now();
        let Run { flags, printed, standby } = self;
        let seed = host::draw();
        let http = connect(&flags).await?;
        let pace = Pace { qps: flags.connection.qps.unwrap_or(0.0), burst: flags.connection.burst.unwrap_or(0) };
        let streams = Paced::new(http.clone(), Some(pace));
        let (queue, sink) = Sink::new(streams.clone(), Recorder::new(&host::name()), seed);
        let sink = tokio::spawn(sink.run());
        let connection = &flags.connection;
        let ways = Ways::new(connection.kubeconfig.as_deref(), connection.master.as_deref(), &http);
        let content = Content { configuration: configuration(), printed, endpoints: Arc::new(()), started };
        let serving = Serving::start(&flags, content, leader::lease(&flags.leader_election), ways).await?;
        let leader = Leader::start(&flags.leader_election, http, seed);
        let setup = Setup {
            streams,
            kinds: kinds()?,
            leadership: leader.as_ref().map_or_else(Leadership::alone, Leader::leadership),
            standby: match standby {
                Standby::Warm => drive::Standby::Warm,
                Standby::Small => drive::Standby::Small,
            },
            options: options(&flags, seed),
        };
        let driver = Driver::<Profiles, _, _, _>::new(setup, queue, ())?.telling(serving.health());
        let stop = signals::stop()?;
        serving.follow(leader.as_ref().map(Leader::standing), stop.clone());
        let end = driver.run(stop).await;
        if end == End::Lost {
            return Err(Failure::new("leader election lost"));
        }
        tokio::join!(serving.end(), async {
            if let Some(leader) = leader {
                leader.release().await;
            }
        });
        // What was said last may still be written, if the API server does not take long.
        let _ = tokio::time::timeout(LAST_WORDS, sink).await;
        Ok(())
    }
}

/// The way to the API server, which stays open.
async fn connect(flags: &Flags) -> Result<Http, Failure> {
    let Connection { kubeconfig, master, .. } = &flags.connection;
    let (http, fresh) = Target::new(kubeconfig.as_deref(), master.as_deref())?.http().await?;
    tokio::spawn(fresh.keep());
    Ok(http)
}

/// The kinds that the profiles look at.
fn kinds() -> Result<Vec<&'static Resource>, Failure> {
    let of = |kind: &'static &str| {
        Resource::of(kind)
            .ok_or_else(|| Failure::new(format!("{kind}: a plugin watches this kind, and nothing here knows it")))
    };
    Profiles::WATCHES.iter().map(of).collect()
}

/// What holds, as far as the command line says it.
fn configuration() -> Value {
    let profiles: Vec<_> =
        Profiles::PROFILES.iter().map(|profile| json!({"schedulerName": profile.scheduler_name})).collect();
    json!({"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1", "profiles": profiles})
}

fn options(flags: &Flags, seed: u64) -> Options {
    let default = Options { seed, ..Options::default() };
    let leftover_after = flags.leftover_after.map(|time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
    Options { leftover_after: leftover_after.unwrap_or(default.leftover_after), ..default }
}
