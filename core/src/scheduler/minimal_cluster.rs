//! The smallest cluster: in memory, single-threaded, with immediate responses. For tests, and for short programs that
//! print decisions of a profile.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use crate::engine::bundle::Bundle;
use crate::model::intern::Interner;
use crate::model::placement::Placement;
use crate::model::{Node, Pod, PodSpec, Uid};
use crate::plugin_api::client::{ApiError, Client, Event, StatusPatch};
use crate::plugin_api::handle::Handle;
use crate::profile_api::profile::StartErrors;
use crate::scheduler::{Change, Completed, Options, Outcome, Scheduler, Tasks};

/// A client whose requests about pods succeed immediately, unless bindings are refused
/// ([`MinimalCluster::refuse_bindings`]). It does not support requests about other objects.
#[derive(Clone, Debug, Default)]
pub struct ImmediateClient {
    calls: Arc<Mutex<Vec<CompletedCall>>>,
    events: Arc<Mutex<Vec<Event>>>,
    refusal: Arc<Mutex<Option<ApiError>>>,
}

/// A completed request that changes the cluster.
#[derive(Clone, Debug)]
enum CompletedCall {
    Bound(Placement),
    Nominated(Uid, Option<Arc<str>>),
    Deleted(Uid),
}

impl ImmediateClient {
    fn push(&self, call: CompletedCall) {
        lock(&self.calls).push(call);
    }
    fn take(&self) -> Vec<CompletedCall> {
        std::mem::take(&mut *lock(&self.calls))
    }
}

impl Client for ImmediateClient {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        if let Some(refusal) = lock(&self.refusal).clone() {
            return Err(refusal);
        }
        self.push(CompletedCall::Bound(placement.clone()));
        Ok(())
    }
    async fn patch_pod_status(&self, pod: &Arc<Pod>, patch: &StatusPatch) -> Result<(), ApiError> {
        if let Some(node) = &patch.nominated_node {
            self.push(CompletedCall::Nominated(pod.uid.clone(), node.clone()));
        }
        Ok(())
    }
    async fn delete_pod(&self, pod: &Arc<Pod>) -> Result<(), ApiError> {
        self.push(CompletedCall::Deleted(pod.uid.clone()));
        Ok(())
    }
    fn record(&self, event: Event) {
        lock(&self.events).push(event);
    }
    async fn sleep(&self, _: Duration) {}
}

/// A client whose bindings and status patches succeed without effect. It supports no other requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopClient;

impl Client for NoopClient {
    async fn bind(&self, _: &Placement) -> Result<(), ApiError> {
        Ok(())
    }
    async fn sleep(&self, _: Duration) {}
}

/// Runs every task to its end when it is started, on this thread.
#[derive(Debug, Default)]
pub struct InlineTasks(VecDeque<Completed>);

impl InlineTasks {
    /// Returns the next completed task, in the order of their starts.
    pub fn pop(&mut self) -> Option<Completed> {
        self.0.pop_front()
    }
}

impl Tasks for InlineTasks {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        self.0.push_back(block_on(task));
    }
}

/// A scheduler with a minimal cluster.
pub struct MinimalCluster<B: Bundle> {
    /// The scheduler.
    pub scheduler: Scheduler<B, ImmediateClient>,
    client: ImmediateClient,
    tasks: InlineTasks,
    outcomes: VecDeque<Outcome>,
}

impl<B: Bundle> MinimalCluster<B> {
    /// Makes an empty cluster. `seed` determines the choice among equally good nodes.
    ///
    /// # Errors
    /// All plugins that cannot start, or extenders that cannot be called.
    pub fn new(seed: u64) -> Result<Self, StartErrors> {
        Self::with(Options { seed, ..Options::default() })
    }

    /// Makes an empty cluster.
    ///
    /// # Errors
    /// All plugins that cannot start, or extenders that cannot be called.
    pub fn with(options: Options) -> Result<Self, StartErrors> {
        Self::with_factory(B::new, options)
    }

    /// Makes an empty cluster with profiles that `make` creates.
    ///
    /// # Errors
    /// The errors of `make`, or extenders that cannot be called.
    pub fn with_factory(
        make: impl FnOnce(&Handle) -> Result<B, StartErrors>,
        options: Options,
    ) -> Result<Self, StartErrors> {
        let client = ImmediateClient::default();
        let scheduler = Scheduler::with_factory(make, client.clone(), options)?;
        Ok(MinimalCluster { scheduler, client, tasks: InlineTasks::default(), outcomes: VecDeque::new() })
    }

    /// Returns the cluster's strings, to make nodes and pods.
    pub fn interner(&mut self) -> &mut Interner {
        &mut self.scheduler.cache.base.interner
    }

    /// Adds or changes a node.
    pub fn node(&mut self, node: Node) {
        self.change(Change::Node(node));
    }
    /// Adds or changes a pod.
    pub fn pod(&mut self, pod: Pod) {
        self.change(Change::Pod(pod));
    }
    /// Applies a change of any kind.
    pub fn change(&mut self, change: Change) {
        self.scheduler.on_change(change, &mut self.tasks);
    }

    /// Returns the outcome of the next pod. `None`: there is no work until a change or until time passes.
    pub fn step(&mut self) -> Option<Outcome> {
        loop {
            self.catch_up();
            if let Some(outcome) = self.outcomes.pop_front() {
                return Some(outcome);
            }
            if !self.scheduler.schedule_one(&mut self.tasks) {
                return None;
            }
        }
    }

    /// Advances the time to the next deadline in Permit. Returns false if no pod waits there.
    pub fn wait(&mut self) -> bool {
        let deadline = self.scheduler.next_deadline();
        deadline.inspect(|&now| self.tick(now)).is_some()
    }

    /// Returns the outcomes of all pods that can be attempted now.
    pub fn run(&mut self) -> Vec<Outcome> {
        std::iter::from_fn(|| self.step()).collect()
    }

    /// Sets the time to `now`, in nanoseconds.
    pub fn tick(&mut self, now: i64) {
        self.scheduler.tick(now, &mut self.tasks);
    }

    /// Returns the events recorded since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut *lock(&self.client.events))
    }

    /// Lets all bindings fail with this error from now on; `None` lets them succeed again.
    pub fn refuse_bindings(&mut self, refusal: Option<ApiError>) {
        *lock(&self.client.refusal) = refusal;
    }

    /// Passes completed tasks, and the changes that they caused, to the scheduler until there are none.
    fn catch_up(&mut self) {
        loop {
            while let Some(completed) = self.tasks.pop() {
                self.scheduler.on_completed(completed, &mut self.tasks);
            }
            let calls = self.client.take();
            if calls.is_empty() {
                break;
            }
            for call in calls {
                if let Some(change) = self.change_of(call) {
                    self.change(change);
                }
            }
        }
        self.outcomes.extend(self.scheduler.take_outcomes());
    }

    fn change_of(&self, call: CompletedCall) -> Option<Change> {
        let interner = &self.scheduler.cache.base.interner;
        match call {
            CompletedCall::Bound(Placement { pod, node_name, .. }) => {
                let spec = Arc::new(PodSpec { node_name: interner.get(&node_name), ..PodSpec::clone(&pod.spec) });
                Some(Change::Pod(Pod { spec, nominated_node: None, ..Pod::clone(&pod) }))
            }
            CompletedCall::Nominated(uid, node) => {
                let pod = self.scheduler.pending(&uid)?;
                let nominated_node = node.and_then(|node| interner.get(&node));
                Some(Change::Pod(Pod { nominated_node, ..Pod::clone(pod) }))
            }
            CompletedCall::Deleted(uid) => Some(Change::PodDeleted(uid)),
        }
    }
}

/// Locks a mutex. A panic under the lock leaves no incomplete change, so the data are valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a future on this thread, and waits for it.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    // Most futures are ready at once, and need no waker.
    if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return output;
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
