//! Contract of AddPod and RemovePod: hypothetical changes of a node equal real ones.

use std::sync::Arc;

use schedc_core::cache::{Cache, State};
use schedc_core::engine::Engine;
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::profile::{Bundle, PreFilterRun, Profile, Visitor};
use schedc_core::random::Random;
use schedc_core::verdict::Verdict;

use super::difference::{Difference, verdict};
use super::{PluginUnderTest, bundle, new_engine};
use crate::history::Step;
use crate::test_cluster::{TestCluster, rebuilt};
use crate::test_object::TestObject;

pub(super) fn play<B: Bundle>(
    test_cluster: &mut TestCluster<B>,
    subject: &PluginUnderTest,
    steps: &[Step],
    objects: &[TestObject],
) -> Result<(), String> {
    for (at, step) in steps.iter().enumerate() {
        test_cluster.apply_step(*step, objects);
        let pending = test_cluster.pending();
        for pod in &pending {
            let random = Random::new(subject.seed.wrapping_add(at as u64));
            let cache = &mut test_cluster.cluster.scheduler.cache;
            let hypothetical = HypotheticalPods { cache, pod, pending: &pending, plugin: subject.plugin, random };
            bundle::<B>()?.with(test_cluster.profile, hypothetical)?;
        }
        test_cluster.run();
    }
    Ok(())
}

struct HypotheticalPods<'a, S> {
    cache: &'a mut Cache<S>,
    pod: &'a Arc<Pod>,
    pending: &'a [Arc<Pod>],
    plugin: &'static str,
    random: Random,
}

impl<S: State> Visitor<S> for HypotheticalPods<'_, S> {
    type Output = Result<(), String>;

    fn visit<P: Profile<State = S>>(mut self, engine: &mut Engine<P>) -> Self::Output {
        let (pod, plugins) = (self.pod, engine.plugins.clone());
        let compiled = plugins.compile(&pod.spec, &mut self.cache.base.interner, &mut self.cache.state);
        let cache: &Cache<S> = self.cache;
        let mut run = PreFilterRun::default();
        // If PreFilter rejects the pod, Filter does not run on any node.
        let Ok(cycle) = plugins.pre_filter(&compiled, cache, &mut run) else { return Ok(()) };
        let is_active = !run.skipped().contains(&self.plugin);
        for node in cache.base.alive().iter() {
            let name = cache.base.name(node);
            check_undo::<P>(&compiled, &cycle, cache, node, &mut self.random)
                .map_err(|pods| describe_undo(self.plugin, pod, name, &pods))?;
            if !is_active {
                continue;
            }
            for removed in &cache.base.infos()[node.get()].pods {
                let mut changed = cycle.clone();
                let mut hypothetical = HypotheticalNode::<P>::new(&compiled, &mut changed, cache, node);
                hypothetical.remove_pod(removed);
                let verdicts = hypothetical.all_verdicts();
                drop(hypothetical);
                let change = format!(
                    "{} on {name} without {}, after RemovePod",
                    pod.namespaced_name(),
                    removed.namespaced_name()
                );
                let mut without = rebuilt(cache, self.pending, &[&removed.uid], &[]);
                self.compare::<P>(&change, &mut without, name, &verdicts)?;
            }
            for (other, from) in cache.pods().map(|(other, from, _)| (other, from)) {
                let Some(to) = cache.base.infos()[node.get()].node.as_ref().map(|node| node.name) else { continue };
                if from == to {
                    continue;
                }
                let twin = Arc::new(Pod { uid: schedc_core::model::Uid("hypothetical".into()), ..Pod::clone(other) });
                let mut changed = cycle.clone();
                let mut hypothetical = HypotheticalNode::<P>::new(&compiled, &mut changed, cache, node);
                hypothetical.add_pod(&twin);
                let verdicts = hypothetical.all_verdicts();
                drop(hypothetical);
                let change = format!(
                    "{} on {name} with a copy of {}, after AddPod",
                    pod.namespaced_name(),
                    other.namespaced_name()
                );
                let mut with = rebuilt(cache, self.pending, &[], &[(&twin, to)]);
                self.compare::<P>(&change, &mut with, name, &verdicts)?;
            }
        }
        Ok(())
    }
}

/// Removes all pods of a node and adds them again, some of them several times; the cycle state must be unchanged.
fn check_undo<P: Profile>(
    compiled: &P::Pod,
    cycle: &P::Cycle,
    cache: &Cache<P::State>,
    node: NodeIndex,
    random: &mut Random,
) -> Result<(), UndoDifference> {
    let node_pods = &cache.base.infos()[node.get()].pods;
    let mut changed = cycle.clone();
    node_pods.iter().for_each(|pod| P::remove_pod(compiled, &mut changed, pod, cache, node));
    for _ in node_pods {
        let pod = &node_pods[random.below(node_pods.len())];
        P::add_pod(compiled, &mut changed, pod, cache, node);
        P::remove_pod(compiled, &mut changed, pod, cache, node);
    }
    node_pods.iter().for_each(|pod| P::add_pod(compiled, &mut changed, pod, cache, node));
    if changed == *cycle {
        return Ok(());
    }
    let pods = node_pods.iter().map(|pod| pod.namespaced_name().to_string()).collect::<Vec<_>>().join(", ");
    let mut unchanged = cycle.clone();
    let verdicts = |cycle: &mut P::Cycle| HypotheticalNode::<P>::new(compiled, cycle, cache, node).all_verdicts();
    let (expected, actual) = (verdicts(&mut unchanged), verdicts(&mut changed));
    Err(UndoDifference { pods, expected, actual })
}

/// A cycle state that differs after RemovePod and AddPod, with Filter's verdicts before and after.
struct UndoDifference {
    pods: String,
    expected: Vec<Verdict>,
    actual: Vec<Verdict>,
}

fn describe_undo(subject: &'static str, pod: &Pod, node: &str, undone: &UndoDifference) -> String {
    let UndoDifference { pods, expected, actual } = undone;
    let mut difference = Difference::of(
        format!("{} on {node}, RemovePod and AddPod of {pods}", pod.namespaced_name()),
        ["before", "after"],
    );
    for plugin in expected.iter().chain(actual).map(|verdict| verdict.plugin) {
        let of_plugin = |verdicts: &[Verdict]| verdict(verdicts.iter().find(|verdict| verdict.plugin == plugin));
        difference.field_of(plugin, &format!("Filter of {plugin} on {node}"), of_plugin(expected), of_plugin(actual));
    }
    if difference.is_empty() {
        difference.name_plugins([subject]);
        difference.field("state of PreFilter", "as PreFilter returned it".to_owned(), "a different state".to_owned());
    }
    difference.finish().err().unwrap_or_default()
}

impl<S: State> HypotheticalPods<'_, S> {
    /// Compares the plugin's verdicts with those in a cluster that has the changes.
    fn compare<P: Profile<State = S>>(
        &self,
        change: &str,
        cluster: &mut Cache<S>,
        node: &str,
        verdicts: &[Verdict],
    ) -> Result<(), String> {
        let plugin = self.plugin;
        let explanation = new_engine::<P>()?.explain(self.pod, cluster, true);
        if explanation.gated_by.is_some() || explanation.pre_filter.is_some() || explanation.skipped.contains(&plugin) {
            return Ok(());
        }
        let Some(explained) = explanation.nodes.iter().find(|explained| explained.node == node) else { return Ok(()) };
        let of_plugin = |verdicts: &[Verdict]| verdict(verdicts.iter().find(|verdict| verdict.plugin == plugin));
        let mut difference = Difference::of(change, ["cluster with that change", "cycle state with that change"]);
        difference.field_of(
            plugin,
            &format!("Filter of {plugin} on {node}"),
            of_plugin(&explained.verdicts),
            of_plugin(verdicts),
        );
        difference.finish()
    }
}
