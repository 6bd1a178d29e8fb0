//! A cluster from manifests, and the results of a profile for pods.

use std::sync::Arc;

use schedc_core::cache::{Cache, PodState};
use schedc_core::engine::{Decision, Engine, UNTIMED};
use schedc_core::explain::NodeExplanation;
use schedc_core::handle::Handle;
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::Pod;
use schedc_core::profile::Profile;
use schedc_core::verdict::Verdict;
use schedc_objects::testing;

pub(crate) struct TestCluster<P: Profile> {
    pub(crate) cache: Cache<P::State>,
    engine: Engine<P>,
}

impl<P: Profile> TestCluster<P> {
    pub(crate) fn new() -> Self {
        TestCluster { cache: Cache::default(), engine: Engine::new(&Handle::default()).expect("a profile that starts") }
    }

    pub(crate) fn node(&mut self, yaml: &str) {
        let node = testing::node(yaml, &mut self.cache.base.interner);
        self.cache.set_node(node);
    }

    pub(crate) fn object(&mut self, yaml: &str) {
        let object = testing::object(yaml, &mut self.cache.base.interner);
        self.cache.set_object(object);
    }

    pub(crate) fn pod(&mut self, yaml: &str) -> Arc<Pod> {
        Arc::new(testing::pod(yaml, &mut self.cache.base.interner))
    }

    /// Adds a pod on the node in its spec.
    pub(crate) fn add_running(&mut self, yaml: &str) -> Arc<Pod> {
        let pod = self.pod(yaml);
        let node = pod.spec.node_name.expect("a pod on a node");
        self.cache.add_pod(pod.clone(), node, PodState::Bound);
        pod
    }

    /// Returns the node of a pod, or its message.
    pub(crate) fn decide(&mut self, pod: &str) -> String {
        let pod = self.pod(pod);
        match self.engine.decide(&pod, &mut self.cache, 0, |_| 0) {
            Decision::Node(node) => self.cache.base.name(node).to_owned(),
            Decision::Unschedulable(pod) => pod.message,
            Decision::Error(error) => error,
        }
    }

    /// Returns the raw scores of each feasible node, one line each.
    pub(crate) fn scores(&mut self, pod: &str) -> String {
        let pod = self.pod(pod);
        let explanation = self.engine.explain(&pod, &mut self.cache, false);
        let line = |node: NodeExplanation| {
            let scores: Vec<_> = node.scores.iter().map(|score| format!("{} {}", score.plugin, score.raw)).collect();
            format!("{}: {}\n", node.node, scores.join(", "))
        };
        explanation.nodes.into_iter().map(line).collect()
    }

    /// Returns the decision. Pods that have not started count as started after all others. `seed` is the random
    /// value.
    pub(crate) fn decision(&mut self, pod: &str, seed: usize) -> Decision {
        self.decision_at(pod, UNTIMED, |_| seed)
    }

    pub(crate) fn decision_at(&mut self, pod: &str, now: i64, draw: impl FnMut(usize) -> usize) -> Decision {
        let pod = self.pod(pod);
        self.engine.decide(&pod, &mut self.cache, now, draw)
    }

    /// Returns the decision of an engine without cached answers.
    pub(crate) fn full_decision(&mut self, pod: &Arc<Pod>, now: i64, seed: usize) -> Decision {
        let mut engine = Engine::<P>::new(&Handle::default()).expect("a profile that starts");
        engine.decide(pod, &mut self.cache, now, |_| seed)
    }

    /// Returns the decision for a pod of the cluster, with cached answers.
    pub(crate) fn cached_decision(&mut self, pod: &Arc<Pod>, now: i64, seed: usize) -> Decision {
        self.engine.decide(pod, &mut self.cache, now, |_| seed)
    }

    /// Returns Filter's result for each node, one line each.
    pub(crate) fn verdicts(&mut self, pod: &str) -> String {
        self.verdicts_with(pod, |_| ())
    }

    /// Returns Filter's result for each node after a hypothetical change of that node.
    pub(crate) fn verdicts_with(
        &mut self,
        pod: &str,
        change_hypothetically: impl Fn(&mut HypotheticalNode<'_, P>),
    ) -> String {
        let pod = self.pod(pod);
        let nodes: Vec<_> = self.cache.base.alive().iter().collect();
        let mut lines = String::new();
        for node in nodes {
            let verdict = self.engine.run_filter_plugins(&pod, &mut self.cache, node, &change_hypothetically);
            lines += self.cache.base.name(node);
            if let Err(Verdict { code, plugin, reasons }) = verdict {
                lines += &format!(": {code} {plugin}: {}", reasons.join(", "));
            }
            lines += "\n";
        }
        lines
    }
}
