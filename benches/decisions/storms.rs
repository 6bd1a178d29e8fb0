//! Storms: many changes at once, or one change that concerns many waiting pods.

use schedc_core::intern::Symbol;
use schedc_core::model::{Node, Pod};
use schedc_core::scheduler::Change;

use super::churn::{Churn, Phase, PhaseEnd};
use super::objects;

/// Longer than any backoff, in nanoseconds.
const AFTER_BACKOFF: i64 = 20_000_000_000;

impl Churn {
    /// Adds nodes, places a pod, and removes the nodes.
    pub(crate) fn join(&mut self, nodes: usize, phases: &mut PhaseEnd<'_>) {
        let interner = &mut self.scheduler.cache.base.interner;
        let first = self.node_names.len();
        let new: Vec<Node> = (first..first + nodes).map(|number| objects::node(number, interner)).collect();
        let names: Vec<Symbol> = new.iter().map(|node| node.name).collect();
        phases(Phase::Other);
        new.into_iter().for_each(|node| self.apply(Change::Node(node)));
        phases(Phase::Storm);
        self.turn(phases);
        names.into_iter().for_each(|name| self.apply(Change::NodeDeleted(name)));
        phases(Phase::Other);
    }

    /// Adds pods on all nodes, deletes them, and places a pod.
    pub(crate) fn empty_namespace(&mut self, pods: usize, phases: &mut PhaseEnd<'_>) {
        let pods: Vec<Pod> = (0..pods)
            .map(|at| {
                let pod = objects::in_other_namespace(self.next_pod(), &mut self.scheduler.cache.base.interner);
                objects::bound(pod, self.node_names[at % self.node_names.len()])
            })
            .collect();
        let uids: Vec<_> = pods.iter().map(|pod| pod.uid.clone()).collect();
        pods.into_iter().for_each(|pod| self.apply(Change::Pod(pod)));
        phases(Phase::Other);
        uids.into_iter().for_each(|uid| self.apply(Change::PodDeleted(uid)));
        phases(Phase::Storm);
        self.turn(phases);
    }

    /// Adds pending pods of different sizes. They fit nowhere, and require a label that no node has.
    pub(crate) fn crowd_of_distinct(&mut self, pods: usize) {
        for number in 0..pods {
            let pod = objects::too_large_one(number, &mut self.scheduler.cache.base.interner);
            let (uid, name) = self.next_name();
            self.apply(Change::Pod(Pod { uid, name, ..pod }));
        }
        self.attempt_waiting_pods();
    }

    /// Adds to a node the label that all waiting pods require, attempts these pods, and removes the label.
    pub(crate) fn wake_all(&mut self, phases: &mut PhaseEnd<'_>) {
        let interner = &mut self.scheduler.cache.base.interner;
        let (plain, gold) = (objects::node(0, interner), objects::gold_node(0, interner));
        phases(Phase::Other);
        self.apply(Change::Node(gold));
        phases(Phase::Storm);
        self.attempt_waiting_pods();
        phases(Phase::Retries);
        self.apply(Change::Node(plain));
        phases(Phase::Other);
    }

    /// Ends the backoff of all pods, and attempts those that are ready.
    pub(crate) fn attempt_waiting_pods(&mut self) {
        self.now += AFTER_BACKOFF;
        self.scheduler.tick(self.now, &mut self.tasks);
        while self.scheduler.schedule_one(&mut self.tasks) {
            while let Some(completed) = self.tasks.pop() {
                self.scheduler.on_completed(completed, &mut self.tasks);
            }
        }
        self.scheduler.take_outcomes();
    }
}
