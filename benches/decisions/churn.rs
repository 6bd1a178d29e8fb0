//! A cluster in which pods come and go.

use std::collections::VecDeque;
use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::minimal_cluster::{InlineTasks, NoopClient};
use schedc_core::model::{Pod, Uid};
use schedc_core::scheduler::{Change, Observer, Options, Placed, Scheduler};

use super::objects;

mod scheduler {
    schedc_macros::profile!("../profiles/default.toml");
}

/// Phases of a turn. Each scenario has only some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Work of the benchmark itself, and of the scheduler before it pops a pod.
    Other,
    /// The scheduler is notified of a new pod.
    Created,
    /// The pod is popped, decided, assumed and reserved.
    Decision,
    /// The binding starts.
    Binding,
    /// The binding completes.
    Completed,
    /// The scheduler is notified of the bound pod.
    Bound,
    /// The scheduler is notified of the deletion of another pod.
    Deleted,
    /// The scheduler is notified of an unchanged node.
    Heartbeat,
    /// The scheduler is notified of all changes of a storm.
    Storm,
    /// All waiting pods are attempted.
    Retries,
}

impl Phase {
    pub(crate) const ALL: [Phase; 10] = [
        Phase::Other,
        Phase::Created,
        Phase::Decision,
        Phase::Binding,
        Phase::Completed,
        Phase::Bound,
        Phase::Deleted,
        Phase::Heartbeat,
        Phase::Storm,
        Phase::Retries,
    ];
    pub(crate) fn name(self) -> &'static str {
        match self {
            Phase::Other => "other",
            Phase::Created => "created",
            Phase::Decision => "decision",
            Phase::Binding => "binding",
            Phase::Completed => "completed",
            Phase::Bound => "bound",
            Phase::Deleted => "deleted",
            Phase::Heartbeat => "heartbeat",
            Phase::Storm => "storm",
            Phase::Retries => "retries",
        }
    }
}

/// Callback at the end of each phase.
pub(crate) type PhaseEnd<'a> = dyn FnMut(Phase) + 'a;

/// Observer that reports the end of a decision as a phase.
struct Decisions<'a>(&'a mut PhaseEnd<'a>);
impl Observer for Decisions<'_> {
    fn before_pop(&mut self) {
        self.0(Phase::Other);
    }
    fn decided(&mut self, _: &Arc<Pod>, has_node: bool) {
        assert!(has_node, "there is room");
        self.0(Phase::Decision);
    }
}

/// A cluster and the pods that run in it, oldest first.
pub(crate) struct Churn {
    pub(super) scheduler: Scheduler<scheduler::Profiles, NoopClient>,
    pub(super) tasks: InlineTasks,
    template: Pod,
    pub(super) node_names: Vec<Symbol>,
    /// Whether each pod is for one node, as in a DaemonSet.
    daemons: bool,
    running: VecDeque<Uid>,
    created: usize,
    /// Time of the scheduler.
    pub(super) now: i64,
}

impl Churn {
    /// Creates a cluster with two pods on each node. `daemons`: each pod is for one node.
    pub(crate) fn new(nodes: usize, template: fn(&mut Interner) -> Pod, daemons: bool) -> Self {
        let mut scheduler = match Scheduler::new(NoopClient, Options::default()) {
            Ok(scheduler) => scheduler,
            Err(errors) => panic!("{errors:?}"),
        };
        let mut tasks = InlineTasks::default();
        let template = template(&mut scheduler.cache.base.interner);
        let mut node_names = Vec::with_capacity(nodes);
        for number in 0..nodes {
            let node = objects::node(number, &mut scheduler.cache.base.interner);
            node_names.push(node.name);
            scheduler.on_change(Change::Node(node), &mut tasks);
        }
        let running = VecDeque::new();
        let mut churn = Churn { scheduler, tasks, template, node_names, daemons, running, created: 0, now: 0 };
        for at in 0..2 * nodes {
            let pod = churn.next_pod();
            let bound = objects::bound(pod, churn.node_names[at % nodes]);
            churn.running.push_back(bound.uid.clone());
            churn.apply(Change::Pod(bound));
        }
        churn
    }

    /// Adds pending pods that cannot be placed.
    pub(crate) fn crowd(&mut self, pods: usize, make: fn(&mut Interner) -> Pod) {
        let template = make(&mut self.scheduler.cache.base.interner);
        for _ in 0..pods {
            let (uid, name) = self.next_name();
            self.apply(Change::Pod(Pod { uid, name, ..template.clone() }));
        }
        while self.scheduler.schedule_one(&mut self.tasks) {
            self.tasks = InlineTasks::default();
        }
        self.scheduler.take_outcomes();
    }

    pub(super) fn apply(&mut self, change: Change) {
        self.scheduler.on_change(change, &mut self.tasks);
    }

    pub(super) fn next_name(&mut self) -> (Uid, Arc<str>) {
        let at = self.created;
        self.created += 1;
        let uid = format!("{:08x}-0000-4000-8000-{at:012x}", at.wrapping_mul(0x9e37_79b9) as u32);
        (Uid(uid.into()), format!("web-5f6b7c8d9-{at}").into())
    }

    pub(super) fn next_pod(&mut self) -> Pod {
        let at = self.created;
        let (uid, name) = self.next_name();
        let pod = Pod { uid, name, ..self.template.clone() };
        if self.daemons { objects::daemon(pod, self.node_names[at % self.node_names.len()]) } else { pod }
    }

    /// Adds, places and binds a pod, and deletes the oldest one. Calls `phases` at the end of each phase.
    pub(crate) fn turn(&mut self, phases: &mut PhaseEnd<'_>) {
        let pod = self.next_pod();
        let notified = pod.clone();
        phases(Phase::Other);
        self.apply(Change::Pod(notified));
        phases(Phase::Created);
        assert!(self.scheduler.schedule_one_with_observer(&mut self.tasks, &mut Decisions(&mut *phases)));
        phases(Phase::Binding);
        while let Some(completed) = self.tasks.pop() {
            self.scheduler.on_completed(completed, &mut self.tasks);
        }
        phases(Phase::Completed);
        let outcome = self.scheduler.take_outcomes().pop().expect("the pod was placed");
        let Ok(Placed { node }) = &outcome.result else { panic!("{:?}", outcome.result) };
        let node = self.scheduler.cache.base.interner.get(node).expect("nodes have names");
        self.running.push_back(pod.uid.clone());
        let bound = objects::bound(pod, node);
        phases(Phase::Other);
        self.apply(Change::Pod(bound));
        phases(Phase::Bound);
        let oldest = self.running.pop_front().expect("pods run");
        phases(Phase::Other);
        self.apply(Change::PodDeleted(oldest));
        phases(Phase::Deleted);
    }

    /// Sends an unchanged node.
    pub(crate) fn heartbeat(&mut self, phases: &mut PhaseEnd<'_>) {
        let at = self.created % self.node_names.len();
        self.created += 1;
        let node = self.scheduler.cache.base.infos()[at].node.as_deref().expect("no node is deleted").clone();
        phases(Phase::Other);
        self.apply(Change::Node(node));
        phases(Phase::Heartbeat);
    }
}
