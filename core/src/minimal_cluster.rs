//! The smallest cluster: in memory, whatever is asked of it happens at once, one thing after the other. For tests, and to
//! see a profile decide in a few lines.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use crate::client::{ApiError, Client, Event, StatusPatch};
use crate::extension_points::Placement;
use crate::handle::Handle;
use crate::intern::Interner;
use crate::model::{Node, Pod, PodSpec, Uid};
use crate::profile::{Bundle, StartErrors};
use crate::scheduler::{Change, Completed, Options, Outcome, Scheduler, Tasks};

/// A client to whom nothing fails, unless it is told so.
#[derive(Clone, Debug, Default)]
pub struct ImmediateClient {
    done: Arc<Mutex<Vec<CompletedCall>>>,
    events: Arc<Mutex<Vec<Event>>>,
    refusal: Arc<Mutex<Option<ApiError>>>,
}

/// What was asked for.
#[derive(Clone, Debug)]
enum CompletedCall {
    Bound(Placement),
    Nominated(Uid, Option<Arc<str>>),
    Deleted(Uid),
}

impl ImmediateClient {
    fn push(&self, done: CompletedCall) {
        lock(&self.done).push(done);
    }
    fn take(&self) -> Vec<CompletedCall> {
        std::mem::take(&mut *lock(&self.done))
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

/// A client that says yes to everything, and keeps nothing of it.
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
    /// The next task that was run, in the order in which they were started.
    pub fn pop(&mut self) -> Option<Completed> {
        self.0.pop_front()
    }
}

impl Tasks for InlineTasks {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        self.0.push_back(block_on(task));
    }
}

/// A scheduler with such a cluster.
pub struct MinimalCluster<B: Bundle> {
    /// The scheduler.
    pub scheduler: Scheduler<B, ImmediateClient>,
    client: ImmediateClient,
    tasks: InlineTasks,
    outcomes: VecDeque<Outcome>,
}

impl<B: Bundle> MinimalCluster<B> {
    /// An empty cluster. Equally good nodes are drawn among by `seed`.
    ///
    /// # Errors
    /// All plugins that cannot start.
    pub fn new(seed: u64) -> Result<Self, StartErrors> {
        Self::with(Options { seed, ..Options::default() })
    }

    /// An empty cluster.
    ///
    /// # Errors
    /// All plugins that cannot start.
    pub fn with(options: Options) -> Result<Self, StartErrors> {
        Self::with_factory(B::new, options)
    }

    /// An empty cluster, and profiles that somebody else makes.
    ///
    /// # Errors
    /// What `make` says.
    pub fn with_factory(
        make: impl FnOnce(&Handle) -> Result<B, StartErrors>,
        options: Options,
    ) -> Result<Self, StartErrors> {
        let client = ImmediateClient::default();
        let scheduler = Scheduler::with_factory(make, client.clone(), options)?;
        Ok(MinimalCluster { scheduler, client, tasks: InlineTasks::default(), outcomes: VecDeque::new() })
    }

    /// The cluster's strings, for those who make nodes and pods.
    pub fn interner(&mut self) -> &mut Interner {
        &mut self.scheduler.cache.base.interner
    }

    /// A node came or changed.
    pub fn node(&mut self, node: Node) {
        self.change(Change::Node(node));
    }
    /// A pod came or changed.
    pub fn pod(&mut self, pod: Pod) {
        self.change(Change::Pod(pod));
    }
    /// Something came, changed or went.
    pub fn change(&mut self, change: Change) {
        self.scheduler.on_change(change, &mut self.tasks);
    }

    /// What becomes of the next pod. None: nothing is left to do now, until something changes or time passes.
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

    /// Lets time pass until the patience of a Permit plugin ends. Returns false if no pod waits there.
    pub fn wait(&mut self) -> bool {
        let patience = self.scheduler.next_deadline();
        patience.inspect(|&now| self.tick(now)).is_some()
    }

    /// What becomes of all pods that can be tried now.
    pub fn run(&mut self) -> Vec<Outcome> {
        std::iter::from_fn(|| self.step()).collect()
    }

    /// The time is `now`, in nanoseconds.
    pub fn tick(&mut self, now: i64) {
        self.scheduler.tick(now, &mut self.tasks);
    }

    /// The events that were recorded since this was asked last.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut *lock(&self.client.events))
    }

    /// From now on all bindings are refused so, or none any more.
    pub fn refuse_bindings(&mut self, refusal: Option<ApiError>) {
        *lock(&self.client.refusal) = refusal;
    }

    /// Ends tasks, and tells the scheduler what they did, until nothing comes of it any more.
    fn catch_up(&mut self) {
        loop {
            while let Some(completed) = self.tasks.pop() {
                self.scheduler.on_completed(completed, &mut self.tasks);
            }
            let done = self.client.take();
            if done.is_empty() {
                break;
            }
            for done in done {
                if let Some(change) = self.change_of(done) {
                    self.change(change);
                }
            }
        }
        self.outcomes.extend(self.scheduler.take_outcomes());
    }

    fn change_of(&self, done: CompletedCall) -> Option<Change> {
        let interner = &self.scheduler.cache.base.interner;
        match done {
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

/// Nothing is left half done under these locks.
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
    // Most are done at once, and need nobody to wake them.
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
