//! Undoing hypothetical changes restores the cycle states of PreFilter plugins.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use schedc_core::cache::Cache;
use schedc_core::handle::Handle;
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::Pod;
use schedc_core::profile::{PreFilterRun, Profile};

use crate::cycle::scheduler::preemption::{Cycle, Pipeline};
use crate::cycle::test_cluster::TestCluster;

/// Returns the names of the plugins with different states.
fn differing(a: &Cycle, b: &Cycle) -> Vec<&'static str> {
    macro_rules! compare {
        ($($plugin:ident)*) => {{
            // Without `..`, the pattern must list every plugin of the profile that has a state.
            let Cycle { $($plugin),* } = a;
            [$((stringify!($plugin), *$plugin != b.$plugin)),*]
        }};
    }
    let plugins = compare! {
        node_affinity node_ports node_resources_fit volume_restrictions node_volume_limits pod_topology_spread
        inter_pod_affinity
    };
    plugins.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

/// Returns a strategy for pods with all fields that affect other pods: labels, namespace, affinity, spreading, claims
/// and deletion.
fn any_pod() -> impl Strategy<Value = String> {
    let app = || select(vec!["web", "db", "cache"]);
    let term = (select(vec!["zone", "rack"]), app(), any::<bool>()).prop_map(|(key, app, everywhere)| {
        let namespaces = if everywhere { ", namespaceSelector: {}" } else { "" };
        format!("{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: {app}}}}}{namespaces}}}")
    });
    let terms = prop::collection::vec(term, 0..3)
        .prop_map(|terms| format!("{{requiredDuringSchedulingIgnoredDuringExecution: [{}]}}", terms.join(", ")));
    let constraint = (select(vec!["zone", "rack"]), app(), 1..3).prop_map(|(key, app, skew)| {
        let selector = format!("labelSelector: {{matchLabels: {{app: {app}}}}}");
        format!("{{topologyKey: {key}, maxSkew: {skew}, whenUnsatisfiable: DoNotSchedule, {selector}}}")
    });
    let constraints = prop::collection::vec(constraint, 0..3);
    let volume = select(vec![
        "{name: v, persistentVolumeClaim: {claimName: mine}}",
        "{name: v, persistentVolumeClaim: {claimName: data}}",
        "{name: v, persistentVolumeClaim: {claimName: more}}",
        "{name: v, awsElasticBlockStore: {volumeID: 'aws://z/broken'}}",
    ]);
    let volumes = prop::collection::vec(volume, 0..3).prop_map(|volumes| volumes.join(", "));
    let deleted = select(vec!["", ", deletionTimestamp: 2026-01-01T00:00:00Z"]);
    (app(), select(vec!["a", "b"]), terms.clone(), terms, constraints, volumes, deleted).prop_map(
        |(app, namespace, near, far, spread, volumes, deleted)| {
            let affinity = format!("affinity: {{podAffinity: {near}, podAntiAffinity: {far}}}");
            let spread = format!("topologySpreadConstraints: [{}]", spread.join(", "));
            format!(
                "{{metadata: {{name: NAME, namespace: {namespace}, labels: {{app: {app}}}{deleted}}}, \
                 spec: {{nodeName: NODE, {affinity}, {spread}, volumes: [{volumes}]}}}}"
            )
        },
    )
}

fn cluster(running: &[(usize, String)]) -> (TestCluster<Pipeline>, Vec<Arc<Pod>>) {
    let mut cluster = TestCluster::new();
    for (at, labels) in ["zone: a, rack: r1", "zone: a, rack: r2", "zone: b", "zone: '', rack: r1"].iter().enumerate() {
        cluster.node(&format!(
            "{{metadata: {{name: n{at}, labels: {{{labels}}}}}, status: {{allocatable: {{pods: 99}}}}}}"
        ));
    }
    for node in 0..3 {
        let driver = format!("{{name: d, nodeID: x, allocatable: {{count: {node}}}}}");
        cluster.object(&format!("{{kind: CSINode, metadata: {{name: n{node}}}, spec: {{drivers: [{driver}]}}}}"));
    }
    for namespace in ["a", "b"] {
        cluster.object(&format!("{{kind: Namespace, metadata: {{name: {namespace}}}}}"));
        let claim =
            format!("metadata: {{name: mine, namespace: {namespace}}}, spec: {{accessModes: [ReadWriteOncePod]}}");
        cluster.object(&format!("{{kind: PersistentVolumeClaim, {claim}}}"));
        for volume in ["data", "more"] {
            let csi = format!("csi: {{driver: d, volumeHandle: {volume}-{namespace}}}");
            cluster.object(&format!(
                "{{kind: PersistentVolume, metadata: {{name: {volume}-{namespace}}}, spec: {{{csi}}}}}"
            ));
            let metadata = format!("metadata: {{name: {volume}, namespace: {namespace}}}");
            let spec = format!("spec: {{volumeName: {volume}-{namespace}}}");
            cluster.object(&format!("{{kind: PersistentVolumeClaim, {metadata}, {spec}}}"));
        }
    }
    let named = |at: usize, node: usize, pod: &str| {
        pod.replace("NAME", &format!("p{at}")).replace("NODE", &format!("n{}", node % 4))
    };
    let pods =
        running.iter().enumerate().map(|(at, (node, pod))| cluster.add_running(&named(at, *node, pod))).collect();
    (cluster, pods)
}

proptest! {
    #[test]
    fn hypothetical_changes_are_undone_completely(
        running in prop::collection::vec((0..4_usize, any_pod()), 0..8),
        pending in any_pod(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let (mut cluster, pods) = cluster(&running);
        let pod = cluster.pod(&pending.replace("NAME", "new").replace("nodeName: NODE, ", ""));
        let plugins = Pipeline::new(&Handle::default()).expect("plugins that start");
        let compiled = plugins.compile(&pod.spec, &mut cluster.cache.base.interner, &mut cluster.cache.state);
        let cache: &Cache<_> = &cluster.cache;
        let Ok(mut cycle) = plugins.pre_filter(&compiled, cache, &mut PreFilterRun::default()) else { return Ok(()) };
        let before = cycle.clone();
        for node in cache.base.alive().iter() {
            let is_here = |pod: &Arc<Pod>| pod.spec.node_name.and_then(|name| cache.base.node(name)) == Some(node);
            let mut on_node: Vec<&Arc<Pod>> = pods.iter().filter(|pod| is_here(pod)).collect();
            // As in preemption: all pods are removed, then added one by one, some only temporarily.
            let mut changed = cycle.clone();
            on_node.iter().for_each(|pod| Pipeline::remove_pod(&compiled, &mut changed, pod, cache, node));
            for (at, index) in order.iter().enumerate() {
                if !on_node.is_empty() {
                    let at = (at + index.index(on_node.len())) % on_node.len();
                    on_node.swap(0, at);
                    Pipeline::add_pod(&compiled, &mut changed, on_node[0], cache, node);
                    Pipeline::remove_pod(&compiled, &mut changed, on_node[0], cache, node);
                }
            }
            on_node.iter().for_each(|pod| Pipeline::add_pod(&compiled, &mut changed, pod, cache, node));
            prop_assert_eq!(differing(&changed, &before), [""; 0]);

            let mut hypothetical = HypotheticalNode::<Pipeline>::new(&compiled, &mut cycle, cache, node);
            on_node.iter().for_each(|pod| hypothetical.remove_pod(pod));
            let empty = hypothetical.checkpoint();
            on_node.iter().for_each(|pod| hypothetical.add_pod(pod));
            hypothetical.roll_back_to(empty);
            drop(hypothetical);
            prop_assert_eq!(differing(&cycle, &before), [""; 0]);
        }
    }
}
