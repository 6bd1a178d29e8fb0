//! What operations say, field by field, as scheduler_perf has them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::duration::Duration;

/// Makes nodes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateNodes {
    /// How many.
    #[serde(default)]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// A text template of a Node; without, nodes of 4 CPUs and 32 GiB for 110 pods.
    pub node_template_path: Option<String>,
    /// Resources of CSI drivers and others. Goes before the other two, as all but one are ignored.
    pub node_allocatable_strategy: Option<NodeAllocatable>,
    /// Gives nodes a label whose values take turns.
    pub label_node_prepare_strategy: Option<LabelNodes>,
    /// Gives every node a label with a value of its own.
    pub unique_node_label_strategy: Option<UniqueLabel>,
}

/// What nodes have besides the resources of their template.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeAllocatable {
    /// Quantities by resource.
    #[serde(default)]
    pub node_allocatable: BTreeMap<String, String>,
    /// What a node's CSINode says, by driver.
    #[serde(default)]
    pub csi_node_allocatable: BTreeMap<String, CsiNodeAllocatable>,
    /// In-tree volume plugins that CSI drivers took the place of.
    #[serde(default)]
    pub migrated_plugins: Vec<String>,
}

/// How many volumes of a CSI driver a node can have.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CsiNodeAllocatable {
    /// No limit without it.
    pub count: Option<i32>,
}

/// A label whose values take turns.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelNodes {
    /// Its key.
    pub label_key: String,
    /// Its values.
    pub label_values: Vec<String>,
}

/// A label with a value of its own for every node.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UniqueLabel {
    /// Its key.
    pub label_key: String,
}

/// Makes namespaces: the prefix, a hyphen, and a number from 0.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateNamespaces {
    /// What their names begin with.
    pub prefix: String,
    /// How many.
    #[serde(default)]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// A Namespace.
    pub namespace_template_path: Option<String>,
}

/// Makes pods, and waits until they are scheduled.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreatePods {
    /// How many.
    #[serde(default)]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// Whether to delete all pods once they are scheduled, and to begin again, for a time.
    #[serde(default)]
    pub steady_state: bool,
    pub(super) steady_state_param: Option<String>,
    /// For how long, in a steady state.
    #[serde(default)]
    pub duration: Duration,
    pub(super) duration_param: Option<String>,
    /// Whether to measure.
    #[serde(default)]
    pub collect_metrics: bool,
    /// Where to; `namespace-` and the place of the operation without.
    pub namespace: Option<String>,
    /// A text template of a Pod; that of the test case without; without that, pods of 100m CPU and 500 MiB.
    pub pod_template_path: Option<String>,
    /// Whether not to wait.
    #[serde(default)]
    pub skip_wait_to_completion: bool,
    /// A PersistentVolume for every pod.
    pub persistent_volume_template_path: Option<String>,
    /// A PersistentVolumeClaim for every pod.
    pub persistent_volume_claim_template_path: Option<String>,
}

/// Makes pods in several namespaces: the prefix, a hyphen, and a number from 0.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreatePodSets {
    /// How many namespaces.
    #[serde(default)]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// What their names begin with.
    pub namespace_prefix: String,
    /// What to do in each.
    pub create_pods_op: Map<String, Value>,
}

/// Makes objects of any kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateAny {
    /// Where to, for kinds that have namespaces.
    pub namespace: Option<String>,
    /// A text template.
    pub template_path: String,
    /// How many.
    #[serde(default = "one")]
    pub count: usize,
    pub(super) count_param: Option<String>,
}

/// Changes objects of any kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateAny {
    /// Where, for kinds that have namespaces.
    pub namespace: Option<String>,
    /// A text template.
    pub template_path: String,
    /// How many.
    #[serde(default = "one")]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// How many in a second; all at once if 0.
    #[serde(default)]
    pub update_per_second: u64,
    /// Which part of the object; the same here.
    #[serde(rename = "subresources", default)]
    _subresources: Vec<String>,
}

/// Deletes pods.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeletePods {
    /// Where.
    pub namespace: String,
    /// Which; all without.
    #[serde(default)]
    pub label_selector: BTreeMap<String, String>,
    /// Whether to go on meanwhile.
    #[serde(default)]
    pub skip_wait_to_completion: bool,
    /// How many in a second; all at once if 0.
    #[serde(default)]
    pub delete_pods_per_second: u64,
}

/// Makes objects beside everything else, to the end of the workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Churn {
    /// Whether they are deleted again.
    pub mode: ChurnMode,
    /// How many at most; of `recreate`, how many are there before the first is deleted again.
    #[serde(default)]
    pub number: usize,
    /// How long to wait before each.
    #[serde(default)]
    pub interval_milliseconds: u64,
    /// Where to; `namespace-` and the place of the operation without.
    pub namespace: Option<String>,
    /// Of each of these, one at a time.
    pub template_paths: Vec<String>,
}

/// What becomes of the objects of a churn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChurnMode {
    /// They stay.
    Create,
    /// They are deleted, in turn.
    Recreate,
}

/// Waits for pods of earlier operations that did not.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Barrier {
    /// Where; everywhere without.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// Which; all without.
    #[serde(default)]
    pub label_selector: BTreeMap<String, String>,
    /// For what.
    #[serde(default)]
    pub stage_requirement: Stage,
}

/// How far a pod has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Stage {
    /// It has a node.
    #[default]
    Scheduled,
    /// It was tried.
    Attempted,
}

/// Lets time pass.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sleep {
    /// How much.
    #[serde(default)]
    pub duration: Duration,
    pub(super) duration_param: Option<String>,
}

/// Measures from now on.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartCollecting {
    #[serde(rename = "name", default)]
    _name: String,
    /// Pods of these namespaces.
    pub namespaces: Vec<String>,
    /// Which; all without.
    #[serde(default)]
    pub label_selector: BTreeMap<String, String>,
}

fn one() -> usize {
    1
}
