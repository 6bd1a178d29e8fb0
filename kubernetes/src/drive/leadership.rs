//! Whether we lead, and that nothing is sent that takes leading when we do not.

use std::future::{Future, pending};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use tokio::sync::watch;

use crate::election::Standing;
use crate::wire::{Answer, Call, Lane, Silence, Streams, Transport};

/// Whether we lead. Clones say the same.
#[derive(Clone, Debug)]
pub struct Leadership(Option<watch::Receiver<Standing>>);

impl Leadership {
    /// There is nobody else: `--leader-elect=false`.
    pub fn alone() -> Self {
        Leadership(None)
    }

    /// As an election says.
    pub fn elected(standing: watch::Receiver<Standing>) -> Self {
        Leadership(Some(standing))
    }

    /// Whether we lead at this time of the clock.
    pub fn leads(&self, clock: Duration) -> bool {
        self.0.as_ref().is_none_or(|standing| standing.borrow().leads(clock))
    }

    /// Whether we led, and never will again.
    pub fn is_lost(&self) -> bool {
        self.0.as_ref().is_some_and(|standing| standing.borrow().is_lost)
    }

    /// Whether it is known who leads.
    pub fn is_known(&self) -> bool {
        self.0.as_ref().is_none_or(|standing| standing.borrow().leader.is_some())
    }

    /// Waits until anything of that may have changed.
    pub async fn changed(&mut self) {
        if let Some(standing) = &mut self.0
            && standing.changed().await.is_ok()
        {
            return;
        }
        pending().await
    }
}

/// A way on which nothing is sent that changes the cluster unless we lead: what was begun before the lease was lost, such as by
/// a process that was stopped for a while, is not done after another replica took over.
#[derive(Clone, Debug)]
pub struct Fenced<T> {
    inner: T,
    leadership: Leadership,
}

impl<T> Fenced<T> {
    /// A way that is open as long as we lead.
    pub fn new(inner: T, leadership: Leadership) -> Self {
        Fenced { inner, leadership }
    }
}

impl<T: Transport> Transport for Fenced<T> {
    async fn call(&self, lane: Lane, call: Call) -> Result<Answer, Silence> {
        if matches!(lane, Lane::Bind | Lane::Write) && !self.leadership.leads(self.inner.clock()) {
            return Err(Silence::NotSent("another replica may lead by now".to_owned()));
        }
        self.inner.call(lane, call).await
    }
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.inner.sleep(time)
    }
    fn now(&self) -> Timestamp {
        self.inner.now()
    }
    fn clock(&self) -> Duration {
        self.inner.clock()
    }
}

impl<T: Streams> Streams for Fenced<T> {
    type Chunks = T::Chunks;

    fn open(&self, path: String) -> impl Future<Output = Result<Result<Self::Chunks, Answer>, Silence>> + Send {
        self.inner.open(path)
    }
}
