//! Fields of operations, with the names of scheduler_perf.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::duration::Duration;

/// Creates nodes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateNodes {
    /// Number of nodes.
    #[serde(default)]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// Text template of a Node; by default, nodes can allocate 4 CPUs, 32 GiB and 110 pods.
    pub node_template_path: Option<String>,
    /// Allocatable resources and CSI drivers. Of this strategy and the two below, only the first one that is set is
    /// used.
    pub node_allocatable_strategy: Option<NodeAllocatable>,
    /// Adds a label to the nodes, with the given values in turn.
    pub label_node_prepare_strategy: Option<LabelNodes>,
    /// Adds a label to the nodes, with a unique value for each.
    pub unique_node_label_strategy: Option<UniqueLabel>,
}

/// Allocatable resources of nodes, in addition to those of the template.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeAllocatable {
    /// Quantities by resource.
    #[serde(default)]
    pub node_allocatable: BTreeMap<String, String>,
    /// Content of a node's CSINode, by driver.
    #[serde(default)]
    pub csi_node_allocatable: BTreeMap<String, CsiNodeAllocatable>,
    /// In-tree volume plugins that CSI drivers replace.
    #[serde(default)]
    pub migrated_plugins: Vec<String>,
}

/// Number of volumes of a CSI driver per node.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CsiNodeAllocatable {
    /// Number of volumes; no limit if omitted.
    pub count: Option<i32>,
}

/// A label with the given values in turn.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelNodes {
    /// Label key.
    pub label_key: String,
    /// Label values.
    pub label_values: Vec<String>,
}

/// A label with a unique value for every node.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UniqueLabel {
    /// Label key.
    pub label_key: String,
}

/// Creates namespaces. Names consist of the prefix, a hyphen, and a number from 0.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateNamespaces {
    /// Prefix of the names.
    pub prefix: String,
    /// Number of namespaces.
    #[serde(default)]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// Template of a Namespace.
    pub namespace_template_path: Option<String>,
}

/// Creates pods and waits until they are scheduled.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreatePods {
    /// Number of pods.
    #[serde(default)]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// Whether to repeat for `duration`: create the pods, and delete them when all are scheduled.
    #[serde(default)]
    pub steady_state: bool,
    pub(super) steady_state_param: Option<String>,
    /// Duration of the steady state.
    #[serde(default)]
    pub duration: Duration,
    pub(super) duration_param: Option<String>,
    /// Whether to collect metrics.
    #[serde(default)]
    pub collect_metrics: bool,
    /// Namespace; by default, `namespace-` and the index of the operation.
    pub namespace: Option<String>,
    /// Text template of a Pod; by default that of the test case. Without any template, pods request 100m CPU and 500
    /// MiB.
    pub pod_template_path: Option<String>,
    /// Whether to continue without waiting for the pods.
    #[serde(default)]
    pub skip_wait_to_completion: bool,
    /// Template of a PersistentVolume for every pod.
    pub persistent_volume_template_path: Option<String>,
    /// Template of a PersistentVolumeClaim for every pod.
    pub persistent_volume_claim_template_path: Option<String>,
}

/// Creates pods in several namespaces, whose names consist of the prefix, a hyphen, and a number from 0.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreatePodSets {
    /// Number of namespaces.
    #[serde(default)]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// Prefix of the namespace names.
    pub namespace_prefix: String,
    /// Operation to run in each namespace.
    pub create_pods_op: Map<String, Value>,
}

/// Creates objects of any kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateAny {
    /// Namespace, for namespaced kinds.
    pub namespace: Option<String>,
    /// Text template.
    pub template_path: String,
    /// Number of objects.
    #[serde(default = "one")]
    pub count: usize,
    pub(super) count_param: Option<String>,
}

/// Updates objects of any kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateAny {
    /// Namespace, for namespaced kinds.
    pub namespace: Option<String>,
    /// Text template.
    pub template_path: String,
    /// Number of objects.
    #[serde(default = "one")]
    pub count: usize,
    pub(super) count_param: Option<String>,
    /// Number of updates per second; 0 for all at once.
    #[serde(default)]
    pub update_per_second: u64,
    /// Subresources to update; ignored here.
    #[serde(rename = "subresources", default)]
    _subresources: Vec<String>,
}

/// Creates a slice of devices of one driver on each selected node.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateResourceDriver {
    /// Name of the driver.
    pub driver_name: String,
    /// Pattern for the names of the nodes, with `*` and `?`.
    pub nodes: String,
    /// Number of devices on each node.
    #[serde(default)]
    pub max_claims_per_node: usize,
    pub(super) max_claims_per_node_param: Option<String>,
}

/// Allocates devices for resource claims, without pods.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllocResourceClaims {
    /// Namespace of the claims; all namespaces if empty.
    #[serde(default)]
    pub namespace: String,
}

/// Deletes pods.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeletePods {
    /// Namespace.
    pub namespace: String,
    /// Labels of the pods; all pods if omitted.
    #[serde(default)]
    pub label_selector: BTreeMap<String, String>,
    /// Whether to continue without waiting for the deletions.
    #[serde(default)]
    pub skip_wait_to_completion: bool,
    /// Number of deletions per second; 0 for all at once.
    #[serde(default)]
    pub delete_pods_per_second: u64,
}

/// Creates objects concurrently with other operations, until the end of the workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Churn {
    /// Whether the objects are deleted again.
    pub mode: ChurnMode,
    /// In mode `create`, the maximum number of objects of each template, or 0 for no limit. In mode `recreate`, the
    /// number of objects of each template before the first deletion.
    #[serde(default)]
    pub number: usize,
    /// Interval between objects, in milliseconds; 0 stands for 500.
    #[serde(default)]
    pub interval_milliseconds: u64,
    /// Namespace; by default, `namespace-` and the index of the operation.
    pub namespace: Option<String>,
    /// Templates; each interval creates one object of each.
    pub template_paths: Vec<String>,
}

/// Mode of a churn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChurnMode {
    /// Objects stay.
    Create,
    /// Objects are deleted in the order of creation.
    Recreate,
}

/// Waits for pods of earlier operations that did not wait.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Barrier {
    /// Namespaces; all if omitted.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// Labels of the pods; all pods if omitted.
    #[serde(default)]
    pub label_selector: BTreeMap<String, String>,
    /// Stage that the pods must reach.
    #[serde(default)]
    pub stage_requirement: Stage,
}

/// Scheduling stage of a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Stage {
    /// The pod has a node.
    #[default]
    Scheduled,
    /// The pod has had an attempt.
    Attempted,
}

/// Advances the time.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sleep {
    /// Duration.
    #[serde(default)]
    pub duration: Duration,
    pub(super) duration_param: Option<String>,
}

/// Starts collecting metrics.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartCollecting {
    #[serde(rename = "name", default)]
    _name: String,
    /// Namespaces of the pods.
    pub namespaces: Vec<String>,
    /// Labels of the pods; all pods if omitted.
    #[serde(default)]
    pub label_selector: BTreeMap<String, String>,
}

fn one() -> usize {
    1
}
