//! Whether the API server responds, shared by all reflectors of a cluster.
//!
//! client-go's reflectors back off separately, and wait for 30 to 60 seconds between requests once an outage has lasted
//! for two minutes. Here, one reflector probes about once per second during an outage. When it receives a response, the
//! others end their pauses, spread over half a second. The scheduler receives new pods within two seconds after the
//! server is back.
//!
//! The server counts as unreachable only while no reflector has an open stream. If one kind alone fails, its reflector
//! backs off as client-go does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tracing::info;

/// Minimum duration of an outage that is logged when it ends.
const LOGGED: Duration = Duration::from_secs(5);

/// State that the reflectors of a cluster share. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Reachability(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Number of outages that ended.
    returns: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    members: usize,
    /// Number of members with an open stream.
    live: usize,
    away_since: Option<Duration>,
    /// The member that probes.
    prober: Option<usize>,
}

impl Default for Shared {
    fn default() -> Self {
        Shared { state: Mutex::default(), returns: watch::channel(0).0 }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reachability {
    /// Adds a reflector. `may_probe`: whether the reflector may probe. It may only if every API server serves its kind.
    pub fn member(&self, may_probe: bool) -> ReachabilityMember {
        let mut state = self.0.state();
        state.members += 1;
        let (id, returns) = (state.members, self.0.returns.subscribe());
        drop(state);
        ReachabilityMember { shared: self.0.clone(), id, may_probe, is_live: false, returns }
    }
}

/// One reflector's access to the shared state.
#[derive(Debug)]
pub struct ReachabilityMember {
    shared: Arc<Shared>,
    id: usize,
    may_probe: bool,
    is_live: bool,
    returns: watch::Receiver<u64>,
}

impl ReachabilityMember {
    /// Records that the server responded to this reflector.
    pub fn answered(&mut self, clock: Duration) {
        let mut state = self.shared.state();
        let Some(since) = state.away_since.take() else { return };
        state.prober = None;
        drop(state);
        self.shared.returns.send_modify(|returns| *returns += 1);
        let time = clock.saturating_sub(since);
        if time >= LOGGED {
            info!("The API server answers again, after {} s", time.as_secs());
        }
    }

    /// Records whether this reflector has an open stream.
    pub(crate) fn set_live(&mut self, is_live: bool) {
        if std::mem::replace(&mut self.is_live, is_live) != is_live {
            let live = &mut self.shared.state().live;
            *live = if is_live { *live + 1 } else { live.saturating_sub(1) };
        }
    }

    /// Records a failure that may be an outage. Returns whether this reflector is the one that probes.
    pub fn failed(&mut self, clock: Duration) -> bool {
        // Outages that ended earlier do not affect this failure.
        self.returns.mark_unchanged();
        let mut state = self.shared.state();
        if state.live > 0 {
            return false;
        }
        state.away_since.get_or_insert(clock);
        if self.may_probe {
            state.prober.get_or_insert(self.id);
        }
        state.prober == Some(self.id)
    }

    /// Waits for the end of an outage during which this reflector failed.
    pub async fn returned(&mut self) {
        if self.returns.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

impl Drop for ReachabilityMember {
    fn drop(&mut self) {
        self.set_live(false);
        let mut state = self.shared.state();
        if state.prober == Some(self.id) {
            state.prober = None;
        }
    }
}

#[cfg(test)]
mod tests;
