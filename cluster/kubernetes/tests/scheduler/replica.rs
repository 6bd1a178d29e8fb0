//! A scheduler on a separate thread.

use std::thread::JoinHandle;
use std::time::Duration;

use schedc_core::erased::AnyBundle;
use schedc_core::profile::Bundle;
use schedc_core::scheduler::{Options, TieBreak};
use schedc_fake_apiserver::Server;
use schedc_kubernetes::blocking;
use schedc_kubernetes::driver::{Driver, DriverHooks, Leadership, Setup, Standby, StopReason};
use schedc_kubernetes::election::{self, Election, ElectionStatus, LeaderElectionConfiguration};
use schedc_kubernetes::events::{EventRecorder, EventWriter};
use schedc_kubernetes::resources::{RESOURCES, Resource};
use schedc_kubernetes::write::Bindings;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot, watch};

use crate::scheduler::pipelines::Profiles;
use crate::support::Fast;

/// Speed of the clock of a single scheduler.
const ALONE: u32 = 20;
/// Speed of the clock with leases: a lease of 15 seconds lasts three real seconds, long enough for a busy machine.
const ELECTED: u32 = 5;

/// Scheduler, which is killed when this value is dropped.
pub(crate) struct Replica {
    stop: watch::Sender<bool>,
    hold: mpsc::UnboundedSender<Duration>,
    kill: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Option<StopReason>>>,
}

impl Replica {
    /// Starts a single replica without an election.
    pub(crate) fn alone(server: &Server) -> Replica {
        Replica::start::<Profiles>(server, "alone", false, || (), ())
    }

    /// Starts a replica that takes part in an election. Its requests carry its name as their token.
    pub(crate) fn elected(server: &Server, name: &'static str) -> Replica {
        Replica::start::<Profiles>(server, name, true, || (), ())
    }

    /// Starts a replica with other profiles. `prepare` runs on the thread that creates them.
    pub(crate) fn start<B: Bundle>(
        server: &Server,
        name: &'static str,
        is_elected: bool,
        prepare: impl FnOnce() + Send + 'static,
        hooks: impl DriverHooks + Send + 'static,
    ) -> Replica {
        let transport = Fast::to(server, if is_elected { ELECTED } else { ALONE });
        transport.set_token(name);
        let (stop, stop_receiver) = watch::channel(false);
        let (hold, mut held) = mpsc::unbounded_channel();
        let (kill, killed) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            prepare();
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.spawn(async move {
                while let Some(time) = held.recv().await {
                    // This blocks the only thread of the runtime, so no other task of the replica runs meanwhile. A
                    // scheduler with extenders is not blocked: it has a separate thread.
                    std::thread::sleep(time);
                }
            });
            let work = schedule::<B>(transport, name, is_elected, stop_receiver, hooks);
            runtime.block_on(async {
                tokio::select! {
                    end = work => Some(end),
                    _ = killed => None,
                }
            })
            // Dropping the runtime cancels everything in flight.
        });
        Replica { stop, hold, kill: Some(kill), thread: Some(thread) }
    }

    /// Kills the replica without notice.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// Stops the replica and waits. Returns the reason why the replica stopped.
    pub(crate) fn stop(mut self) -> Option<StopReason> {
        self.stop.send_replace(true);
        self.join()
    }

    /// Drops the sender of the stop channel and waits. Returns the reason why the replica stopped.
    pub(crate) fn abandon(mut self) -> Option<StopReason> {
        self.stop = watch::channel(false).0;
        self.join()
    }

    /// Suspends the replica for a time, as if its host were suspended.
    pub(crate) fn hold_up(&self, time: Duration) {
        self.hold.send(time).unwrap();
    }

    /// Waits until the replica stops by itself.
    pub(crate) fn join(&mut self) -> Option<StopReason> {
        self.thread.take().unwrap().join().unwrap()
    }

    fn end(&mut self) {
        let _ = self.kill.take().map(|kill| kill.send(()));
        // A panic was printed already.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.end();
    }
}

/// Schedules until it is stopped or the lease is lost, as `schedc run` does.
async fn schedule<B: Bundle>(
    transport: Fast,
    name: &'static str,
    is_elected: bool,
    stop: watch::Receiver<bool>,
    hooks: impl DriverHooks + Send + 'static,
) -> StopReason {
    let seed = name.len() as u64;
    let (queue, sink) = EventWriter::new(transport.clone(), EventRecorder::new("host"), seed);
    let sink = tokio::spawn(sink.run());
    let (release, release_receiver) = watch::channel(false);
    let (sender, status) = watch::channel(ElectionStatus::default());
    let election = is_elected.then(|| {
        let election = Election::new(name, LeaderElectionConfiguration::default(), seed);
        tokio::spawn(election::run(transport.clone(), election, "default-scheduler", sender, release_receiver))
    });
    let setup = Setup {
        streams: transport,
        kinds: RESOURCES.iter().filter(|resource| resource.is_watched()).collect::<Vec<&Resource>>(),
        leadership: if is_elected { Leadership::elected(status) } else { Leadership::alone() },
        standby: Standby::Warm,
        options: Options { seed, tie_break: TieBreak::First, ..Options::default() },
    };
    let driver = Driver::new(&AnyBundle::running::<B>(), setup, queue, Bindings::default(), hooks);
    let driver = driver.map_err(|errors| errors.len()).unwrap();
    let end = if B::ORIGINALS.any() {
        blocking::run_scheduler(driver.run(stop)).await.unwrap()
    } else {
        driver.run(stop).await
    };
    if let Some(election) = election {
        release.send_replace(true);
        election.await.unwrap();
    }
    if end == StopReason::Stopped {
        sink.await.unwrap();
    }
    end
}
