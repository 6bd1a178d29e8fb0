//! `schedc run`

mod compare;
mod host;
mod leader;
mod metrics;
mod read_only;
mod serving;
mod settings;

#[cfg(feature = "recordings")]
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::ProfileInfo;
use schedc_core::scheduler::Options;
use schedc_kubernetes::blocking;
use schedc_kubernetes::config::{Settings, effective};
use schedc_kubernetes::connect::Target;
use schedc_kubernetes::driver::{self, Driver, FreeMemory, Leadership, Setup, StopReason};
use schedc_kubernetes::events::{EventRecorder, EventWriter};
use schedc_kubernetes::flags::{FlagValues, Flags};
use schedc_kubernetes::health::Health;
use schedc_kubernetes::inspect::Inspector;
use schedc_kubernetes::logs;
use schedc_kubernetes::metrics::{MeteredTransport, MetricsHooks};
use schedc_kubernetes::resources::Resource;
#[cfg(feature = "recordings")]
use schedc_kubernetes::transport::Transport;
use schedc_kubernetes::transport::{Http, RateLimitedTransport};
use schedc_kubernetes::write::Bindings;
use tokio::runtime::Builder;
use tracing::info;

use super::extenders::Extenders;
use super::failure::Failure;
#[cfg(feature = "recordings")]
use super::record::while_running::RecordingHooks;
use super::signals;
#[cfg(feature = "tools")]
use super::watch::run::{LiveRun, above_view};
use leader::Leader;
use metrics::metrics;
use read_only::{Process, ReadOnlyMode};
use serving::{ApiClients, ServedContent, Serving};

/// Schedule the pods of a cluster, instead of or next to kube-scheduler
///
/// Accepts kube-scheduler's flags. Serves the pods whose schedulerName is that of a compiled-in profile.
#[derive(Args)]
pub(crate) struct Run {
    #[command(flatten)]
    flags: Flags,

    #[command(flatten)]
    flag_values: FlagValues,

    /// Behaviour of a replica that does not lead
    ///
    /// The default is warm, or small if `delayCacheUntilActive` is true in the file of --config
    #[arg(long, value_enum, value_name = "MODE", help_heading = "schedc")]
    standby: Option<Standby>,

    #[command(flatten)]
    extenders: Extenders,

    #[command(flatten)]
    read_only: ReadOnlyMode,

    /// Show throughput, queue and reasons of pending pods on the terminal, below the logs
    #[cfg(feature = "tools")]
    #[arg(long, help_heading = "schedc")]
    watch: bool,

    /// Record the changes that the scheduler receives in this folder, for `schedc replay` and `schedc backtest`
    ///
    /// The format is that of `schedc record`, with the kinds that the profiles watch.
    #[cfg(feature = "recordings")]
    #[arg(long, value_name = "FOLDER", help_heading = "schedc")]
    record: Option<PathBuf>,

    /// Number of changes that the recording stores in order before it merges later ones
    #[cfg(feature = "recordings")]
    #[arg(long, hide = true, value_name = "NUMBER", requires = "record")]
    record_queue: Option<usize>,
}

/// Behaviour of a replica that does not lead.
#[derive(Clone, Copy, ValueEnum)]
enum Standby {
    /// Watch the cluster, to take over faster
    Warm,
    /// Do nothing, which needs almost no memory
    Small,
}

/// Time limit for writing the last events.
const LAST_EVENTS_TIMEOUT: Duration = Duration::from_secs(2);

impl Run {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let bindings = Bindings::default();
        let bindings_in_flight = bindings.clone();
        // A short pause before responses are read: after it, the responses to several bindings are read together.
        let pause_before_responses = move || match bindings_in_flight.pause() {
            pause if pause.is_zero() => {}
            pause => thread::sleep(pause),
        };
        let runtime = Builder::new_current_thread().enable_all().on_thread_park(pause_before_responses).build();
        let runtime = runtime.map_err(|error| Failure::new(format!("cannot start the runtime: {error}")))?;
        runtime.block_on(self.schedule(bundle, bindings))
    }

    async fn schedule(self, bundle: &AnyBundle, bindings: Bindings) -> Result<(), Failure> {
        let started = SystemTime::now();
        #[cfg(feature = "tools")]
        let live = LiveRun::new(self.watch)?;
        #[cfg(feature = "recordings")]
        let (record, record_queue) = (self.record.clone(), self.record_queue);
        let Run { flags, flag_values, standby, extenders, read_only, .. } = self;
        #[cfg(feature = "tools")]
        logs::start_around(&flags.logging, above_view);
        #[cfg(not(feature = "tools"))]
        logs::start(&flags.logging);
        let extenders = extenders.overrides(bundle.profiles)?;
        let settings = settings::read(&flags, bundle.profiles)?;
        if settings::log_or_write(&settings, bundle.profiles, flags.write_config_to.as_deref())? {
            return Ok(());
        }
        info!(version = env!("CARGO_PKG_VERSION"), "Starting schedc");
        let serve_all = read_only.profile(bundle.profiles)?;
        // Read-only modes take part in no election.
        let election = Some(&settings.leader_election).filter(|_| !read_only.is_on());
        let seed = host::random_number();
        let (http, host) = connect(&settings).await?;
        let health = Health::new(election.and_then(leader::lease));
        let metrics = metrics(&flags, bundle.profiles, &settings.leader_election, host, health.clone());
        let measured = MeteredTransport::new(http.clone(), metrics.clone());
        let streams = RateLimitedTransport::new(measured.clone(), settings.rate_limit);
        let (queue, sink) = EventWriter::new(streams.clone(), EventRecorder::new(&host::name()), seed);
        let sink = tokio::spawn(sink.with_bindings(bindings.clone()).run());
        let api_clients = ApiClients::new(settings.kubeconfig.as_deref(), settings.master.as_deref(), &http);
        let configuration = effective(&settings, bundle.profiles);
        let metrics_hooks = MetricsHooks::new(metrics.clone());
        let content = ServedContent {
            configuration,
            profiles: bundle.profiles,
            hash: bundle.hash,
            flag_values,
            metrics: metrics.clone(),
            started,
        };
        let serving = Serving::start(&flags, content, health, api_clients).await?;
        let leader = election.and_then(|flags| Leader::start(flags, bundle.profiles, measured, seed));
        let setup = Setup {
            streams,
            kinds: kinds(bundle)?,
            leadership: leader.as_ref().map_or_else(Leadership::alone, Leader::leadership),
            standby: match (standby, settings.delay_cache) {
                (Some(Standby::Small), _) | (None, Some(true)) => driver::Standby::Small,
                (Some(Standby::Warm), _) | (None, _) => driver::Standby::Warm,
            },
            options: Options { serve_all, extenders, ..options(&settings, bundle.profiles, seed) },
        };
        let inspector = Inspector::default();
        signals::inspect(inspector.clone(), bundle.profiles, http)?;
        let memory = FreeMemory::default();
        tokio::spawn(memory.clone().return_after_bursts(schedc_allocator::return_free_memory));
        let hooks = ((metrics_hooks, memory), inspector);
        #[cfg(feature = "tools")]
        let hooks = {
            tokio::spawn(live.clone().run());
            (hooks, live)
        };
        #[cfg(feature = "recordings")]
        let metered = setup.streams.clone();
        #[cfg(feature = "recordings")]
        let report_cache = move |size| metered.report_cache(size);
        #[cfg(feature = "recordings")]
        let recording = RecordingHooks::start(record.as_deref(), record_queue, &setup.kinds, report_cache)?;
        #[cfg(feature = "recordings")]
        let hooks = (hooks, recording.clone());
        let stop = signals::stop()?;
        serving.follow(leader.as_ref().map(Leader::status), stop.clone());
        if read_only.is_on() {
            let process = Process { metrics: &metrics, health: serving.health(), stop };
            let end = read_only.run(bundle, setup, hooks, process).await;
            #[cfg(feature = "recordings")]
            recording.stop();
            end?;
            serving.end().await;
            return Ok(());
        }
        let driver = Driver::new(bundle, setup, queue, bindings, hooks)?.with_health(serving.health());
        // Calls of extenders block their thread until the response. The scheduler therefore runs on a separate thread, and
        // this one renews the lease.
        let end = if bundle.originals.any() {
            blocking::run_scheduler(driver.run(stop)).await.map_err(Failure::new)
        } else {
            Ok(driver.run(stop).await)
        };
        // Also after an error: a recording that is not stopped lacks its last lines.
        #[cfg(feature = "recordings")]
        recording.stop();
        if end? == StopReason::LeaseLost {
            return Err(Failure::new("leader election lost"));
        }
        tokio::join!(serving.end(), async {
            if let Some(leader) = leader {
                leader.release().await;
            }
        });
        // The last events are still written, within the time limit.
        let _ = tokio::time::timeout(LAST_EVENTS_TIMEOUT, sink).await;
        Ok(())
    }
}

/// Connects to the API server. Returns the connection and the server's address.
async fn connect(settings: &Settings) -> Result<(Http, String), Failure> {
    let target = Target::new(settings.kubeconfig.as_deref(), settings.master.as_deref())?;
    let host = target.server().authority().map(ToString::to_string).unwrap_or_default();
    let (http, refresher) = target.http().await?;
    tokio::spawn(refresher.run());
    Ok((http, host))
}

/// Returns the kinds that the profiles watch. A kind that this program does not know is an error.
pub(crate) fn kinds(bundle: &AnyBundle) -> Result<Vec<&'static Resource>, Failure> {
    let of = |kind: &'static &str| {
        Resource::of(kind).ok_or_else(|| Failure::new(format!("{kind}: a plugin watches this kind, but it is unknown")))
    };
    let mut kinds = bundle.watches.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    kinds.extend(bundle.kinds.iter().map(Resource::declared_static));
    Ok(kinds)
}

fn options(settings: &Settings, profiles: &[ProfileInfo], seed: u64) -> Options {
    let default = Options { seed, backoff: settings.backoff(profiles), ..Options::default() };
    let leftover_after = settings.max_unschedulable_time.map(|time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
    Options { leftover_after: leftover_after.unwrap_or(default.leftover_after), ..default }
}
