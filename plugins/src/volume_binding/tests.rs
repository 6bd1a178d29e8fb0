//! Assumptions of Reserve, and their removal by Unreserve. The tests in `tests/cycle` cover Filter.

use std::sync::Arc;

use schedc_core::column::Index;
use schedc_core::extension_points::{FilterPlugin, Placement, PreFilterPlugin, ReservePlugin};
use schedc_core::handle::Handle;
use schedc_core::model::{NodeIndex, Object};
use schedc_core::plugin::{CompileContext, Plugin, View};
use schedc_objects::testing;

mod binding;

use super::{ReservedVolumes, VolumeBinding, VolumeBindingArgs, VolumeBindingPod};
use crate::columns::NodeLabels;
use crate::indexes::Volumes;
use crate::testing::Cluster;

const ARGS: VolumeBindingArgs = VolumeBindingArgs::DEFAULT;

/// Nodes `n1` and `n2`, a plugin, and volumes. Volumes of class `made` can be provisioned, volumes of class `found`
/// cannot.
struct TestCluster {
    cluster: Cluster<NodeLabels>,
    volumes: Volumes,
    plugin: VolumeBinding,
}

impl TestCluster {
    fn new(objects: &[&str]) -> TestCluster {
        let cluster = Cluster::new(&["metadata: {name: n1}", "metadata: {name: n2}"]);
        let plugin = VolumeBinding::new(&ARGS, &Handle::default()).expect("a plugin");
        let mut cluster = TestCluster { cluster, volumes: Volumes::default(), plugin };
        for (name, provisioner) in [("found", "kubernetes.io/no-provisioner"), ("made", "p")] {
            cluster.object(&format!(
                "{{kind: StorageClass, metadata: {{name: {name}}}, provisioner: {provisioner}, volumeBindingMode: WaitForFirstConsumer}}"
            ));
        }
        objects.iter().for_each(|object| drop(cluster.object(object)));
        cluster
    }

    fn object(&mut self, yaml: &str) -> Object {
        let object = testing::object(yaml, &mut self.cluster.cache.base.interner);
        self.volumes.set_object(None, Some(&object));
        object
    }

    fn view(&self) -> View<'_, VolumeBinding> {
        View {
            columns: (self.cluster.columns(), NodeIndex(0)),
            indexes: &self.volumes,
            reads: (),
            base: &self.cluster.cache.base,
        }
    }

    /// Returns the feasible nodes of a pod with this claim.
    fn feasible_nodes(&mut self, claim: &str) -> String {
        let pod = self.compiled(claim);
        let view = self.view();
        let cycle = self.plugin.pre_filter(&ARGS, &pod, view).expect("a usable claim").slot.state;
        let fits = |node: &u32| VolumeBinding::filter(&ARGS, &pod, &cycle, view.row(NodeIndex(*node))).is_ok();
        let names: Vec<_> = (0..2).filter(fits).map(|node| view.base.name(NodeIndex(node))).collect();
        names.join(" ")
    }

    fn compiled(&mut self, claim: &str) -> VolumeBindingPod {
        let pod = self.pod(claim);
        let cx = CompileContext { interner: &mut self.cluster.cache.base.interner, indexes: &mut self.volumes };
        VolumeBinding::compile(&ARGS, &pod.spec, cx)
    }

    fn pod(&mut self, claim: &str) -> schedc_core::model::Pod {
        self.cluster.pod(&format!(
            "metadata: {{name: of-{claim}}}\nspec: {{volumes: [{{name: v, persistentVolumeClaim: {{claimName: {claim}}}}}]}}"
        ))
    }

    fn reserve(&mut self, claim: &str, node: u32) -> (Placement, ReservedVolumes) {
        let pod = Arc::new(self.pod(claim));
        let node_name = format!("n{}", node + 1).into();
        let placement = Placement { pod, node: NodeIndex(node), node_name };
        let reserved = self.plugin.reserve(&ARGS, &placement, self.view()).expect("the pod fits");
        (placement, reserved)
    }

    fn unreserve(&mut self, (placement, reserved): &(Placement, ReservedVolumes)) {
        self.plugin.unreserve(&ARGS, placement, Some(reserved));
    }
}

const VOLUME: &str =
    "{kind: PersistentVolume, metadata: {name: v}, spec: {storageClassName: found}, status: {phase: Available}}";

fn claim(name: &str, class: &str) -> String {
    format!("{{kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {{storageClassName: {class}}}}}")
}

#[test]
fn a_volume_is_reserved_for_one_claim_until_unreserve() {
    let mut cluster = TestCluster::new(&[VOLUME, &claim("c", "found"), &claim("d", "found")]);
    let placed = cluster.reserve("c", 0);
    assert_eq!(cluster.feasible_nodes("d"), "");
    // Another pod with the claim gets the same volume.
    assert_eq!(cluster.feasible_nodes("c"), "n1 n2");
    let second = cluster.reserve("c", 1);
    cluster.unreserve(&second);
    assert_eq!(cluster.feasible_nodes("d"), "", "the first pod still has the volume");
    cluster.unreserve(&placed);
    cluster.unreserve(&placed);
    assert_eq!(cluster.feasible_nodes("d"), "n1 n2");
}

#[test]
fn a_volume_is_provisioned_for_one_node_until_unreserve() {
    let mut cluster = TestCluster::new(&[&claim("c", "made")]);
    let placed = cluster.reserve("c", 1);
    assert_eq!(cluster.feasible_nodes("c"), "n2");
    cluster.unreserve(&placed);
    assert_eq!(cluster.feasible_nodes("c"), "n1 n2");
}

#[test]
fn later_cluster_changes_replace_assumptions() {
    let mut cluster = TestCluster::new(&[VOLUME, &claim("c", "found"), &claim("d", "found"), &claim("e", "made")]);
    let placed = [cluster.reserve("c", 0), cluster.reserve("e", 0)];
    cluster.object(VOLUME);
    cluster.object(&claim("e", "made"));
    assert_eq!([cluster.feasible_nodes("d"), cluster.feasible_nodes("e")], ["n1 n2", "n1 n2"]);
    // Assumptions about outdated versions are ignored, and reverting them has no effect.
    let later = cluster.reserve("d", 0);
    placed.iter().for_each(|placed| cluster.unreserve(placed));
    assert_eq!(cluster.feasible_nodes("c"), "");
    cluster.unreserve(&later);
    assert_eq!(cluster.feasible_nodes("c"), "n1 n2");
}

#[test]
fn unreserve_without_reserve_changes_nothing() {
    let mut cluster = TestCluster::new(&[VOLUME, &claim("c", "found"), &claim("d", "found")]);
    let _placed = cluster.reserve("c", 0);
    // The volume is reserved for the other claim, so the node does not fit, and nothing is assumed.
    let (placement, reserved) = cluster.reserve("d", 0);
    assert!(reserved.0.is_none());
    cluster.plugin.unreserve(&ARGS, &placement, None);
    assert_eq!(cluster.feasible_nodes("c"), "n1 n2");
}

#[test]
fn outdated_assumptions_are_dropped() {
    let mut cluster = TestCluster::new(&[]);
    for n in 0..1000 {
        let name = format!("c{n}");
        let object = cluster.object(&claim(&name, "made"));
        cluster.reserve(&name, 0);
        cluster.volumes.set_object(Some(&object), None);
    }
    assert!(cluster.plugin.assumed().len() < 100);
}

#[test]
fn arguments_for_scoring_by_capacity_are_rejected() {
    let shape = "[{ utilization = 0, score = 0 }]";
    let complaints = crate::testing::args::<VolumeBindingArgs>(&format!("shape = {shape}"));
    assert_eq!(
        complaints.expect_err("scoring by capacity is off"),
        "p.toml:1:9: `shape` needs the feature gate StorageCapacityScoring, which is off"
    );
    assert!(crate::testing::args::<VolumeBindingArgs>("bind-timeout-seconds = -1").is_err());
}
