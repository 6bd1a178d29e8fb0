//! Operations as they are written, and what of that may be wrong.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::params::Params;
use crate::Error;

/// An operation, and where it stands.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its place in the list, from 0.
    pub at: usize,
    /// What it is called.
    pub opcode: String,
    /// What it is.
    pub op: Op,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op {} ({})", self.at, self.opcode)
    }
}

/// What can be done.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is what its fields are")]
pub enum Op {
    CreateNodes(CreateNodes),
    CreateNamespaces(CreateNamespaces),
    CreatePods(CreatePods),
    CreatePodSets(CreatePodSets),
    CreateAny(CreateAny),
    UpdateAny(UpdateAny),
    DeletePods(DeletePods),
    Churn(Churn),
    Barrier(Barrier),
    Sleep(Sleep),
    StartCollecting(StartCollecting),
    StopCollecting,
    /// It cannot be done here, and this is why.
    Refused(String),
}

/// Makes nodes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateNodes {
    /// How many.
    #[serde(default)]
    pub count: usize,
    count_param: Option<String>,
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
    count_param: Option<String>,
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
    count_param: Option<String>,
    /// Whether to delete all pods once they are scheduled, and to begin again, for a time.
    #[serde(default)]
    pub steady_state: bool,
    steady_state_param: Option<String>,
    /// For how long, in a steady state.
    #[serde(default)]
    pub duration: Duration,
    duration_param: Option<String>,
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
    count_param: Option<String>,
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
    count_param: Option<String>,
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
    count_param: Option<String>,
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
    duration_param: Option<String>,
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

/// A time as Go writes it: `1m30s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Duration(pub std::time::Duration);

impl TryFrom<String> for Duration {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        const UNITS: [(&str, f64); 7] =
            [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
        let wrong = || format!("`{text}` is no duration; write one such as 90s, 1m30s or 250ms");
        let (mut seconds, mut rest) = (0.0, text.as_str());
        while !rest.is_empty() && rest != "0" {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
            let amount: f64 = rest[..end].parse().map_err(|_| wrong())?;
            rest = &rest[end..];
            let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
            let unit = UNITS.iter().find(|(unit, _)| *unit == &rest[..end]).ok_or_else(wrong)?;
            seconds += amount * unit.1;
            rest = &rest[end..];
        }
        if text.is_empty() {
            return Err(wrong());
        }
        std::time::Duration::try_from_secs_f64(seconds).map(Duration).map_err(|_| wrong())
    }
}

impl Operation {
    pub(super) fn of(at: usize, mut fields: Map<String, Value>) -> Result<Operation, Error> {
        let opcode = match fields.remove("opcode") {
            Some(Value::String(opcode)) => opcode,
            _ => return Err(Error::new(format!("op {at} has no opcode"))),
        };
        let op = Op::of(&opcode, fields);
        let mut operation = Operation { at, opcode, op: Op::StopCollecting };
        operation.op = op.map_err(|error| error.at(&operation))?;
        Ok(operation)
    }
}

/// Operations that are known.
const KNOWN: &str = "createNodes, createNamespaces, createPods, createPodSets, createAny, updateAny, deletePods, churn, barrier, \
sleep, startCollectingMetrics, stopCollectingMetrics";

impl Op {
    fn of(opcode: &str, fields: Map<String, Value>) -> Result<Op, Error> {
        let op = match opcode {
            "createNodes" => Op::CreateNodes(read(fields)?),
            "createNamespaces" => Op::CreateNamespaces(read(fields)?),
            "createPods" => Op::CreatePods(read(fields)?),
            "createPodSets" => {
                let mut sets: CreatePodSets = read(fields)?;
                sets.create_pods_op.remove("opcode");
                sets.create_pods().map_err(|error| error.at("createPodsOp"))?.check()?;
                Op::CreatePodSets(sets)
            }
            "createAny" => Op::CreateAny(read(fields)?),
            "updateAny" => Op::UpdateAny(read(fields)?),
            "deletePods" => Op::DeletePods(read(fields)?),
            "churn" => Op::Churn(read(fields)?),
            "barrier" => Op::Barrier(read(fields)?),
            "sleep" => Op::Sleep(read(fields)?),
            "startCollectingMetrics" => Op::StartCollecting(read(fields)?),
            "stopCollectingMetrics" => {
                let Nothing {} = read(fields)?;
                Op::StopCollecting
            }
            "createResourceDriver" | "createResourceClaims" | "allocResourceClaims" => Op::Refused(
                "needs a driver of dynamic resources, and the embedded cluster has none; choose other workloads with --workload or --labels"
                    .to_owned(),
            ),
            _ => Op::Refused(format!("is not known; the operations are {KNOWN}")),
        };
        op.check()?;
        Ok(op)
    }

    /// What can be said without the parameters.
    fn check(&self) -> Result<(), Error> {
        match self {
            Op::CreateNodes(CreateNodes { label_node_prepare_strategy: Some(labels), .. })
                if labels.label_values.is_empty() =>
            {
                Err(Error::new("labelNodePrepareStrategy: labelValues: there is none"))
            }
            Op::CreatePods(pods) => pods.check(),
            Op::Churn(churn) if churn.template_paths.is_empty() => {
                Err(Error::new("templatePaths: there is none; name at least one file"))
            }
            Op::Churn(Churn { mode: ChurnMode::Recreate, number: 0, .. }) => {
                Err(Error::new("number: must be at least 1 where objects are recreated"))
            }
            Op::StartCollecting(start) if start.namespaces.is_empty() => {
                Err(Error::new("namespaces: there is none; name those whose pods are to be measured"))
            }
            _ => Ok(()),
        }
    }

    /// Whether something is measured with it.
    pub(super) fn collects_metrics(&self) -> bool {
        match self {
            Op::CreatePods(pods) => pods.collect_metrics,
            Op::CreatePodSets(sets) => sets.create_pods_op.get("collectMetrics") == Some(&Value::Bool(true)),
            Op::StopCollecting => true,
            _ => false,
        }
    }

    /// The same with its parameters; sets of pods become an operation each.
    pub(super) fn resolve(mut self, params: &mut Params<'_>) -> Result<Vec<Op>, Error> {
        match &mut self {
            Op::CreateNodes(op) => op.count = params.count(op.count, op.count_param.as_deref())?,
            Op::CreateNamespaces(op) => op.count = params.count(op.count, op.count_param.as_deref())?,
            Op::CreatePods(op) => op.resolve(params)?,
            Op::CreatePodSets(op) => {
                let count = params.count(op.count, op.count_param.as_deref())?;
                let mut pods = op.create_pods()?;
                pods.resolve(params)?;
                let of = |at| {
                    let namespace = Some(format!("{}-{at}", op.namespace_prefix));
                    Op::CreatePods(CreatePods { namespace, ..pods.clone() })
                };
                return Ok((0..count).map(of).collect());
            }
            Op::CreateAny(op) => op.count = params.count(op.count, op.count_param.as_deref())?,
            Op::UpdateAny(op) => op.count = params.count(op.count, op.count_param.as_deref())?,
            Op::Sleep(op) => {
                if let Some(param) = &op.duration_param {
                    op.duration = params.duration(param)?;
                }
            }
            Op::Refused(why) => return Err(Error::new(why)),
            Op::DeletePods(_) | Op::Churn(_) | Op::Barrier(_) | Op::StartCollecting(_) | Op::StopCollecting => {}
        }
        Ok(vec![self])
    }
}

impl CreatePodSets {
    fn create_pods(&self) -> Result<CreatePods, Error> {
        read(self.create_pods_op.clone())
    }
}

impl CreatePods {
    fn check(&self) -> Result<(), Error> {
        if self.collect_metrics && self.skip_wait_to_completion {
            return Err(Error::new("collectMetrics and skipWaitToCompletion exclude each other"));
        }
        if self.steady_state && self.skip_wait_to_completion {
            return Err(Error::new("steadyState and skipWaitToCompletion exclude each other"));
        }
        let volumes = [&self.persistent_volume_template_path, &self.persistent_volume_claim_template_path];
        if volumes.iter().filter(|path| path.is_some()).count() == 1 {
            return Err(Error::new("persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath go together"));
        }
        Ok(())
    }

    fn resolve(&mut self, params: &mut Params<'_>) -> Result<(), Error> {
        self.count = params.count(self.count, self.count_param.as_deref())?;
        if let Some(param) = &self.duration_param {
            self.duration = params.duration(param)?;
        }
        if let Some(param) = &self.steady_state_param {
            self.steady_state = params.truth("steadyStateParam", param)?;
        }
        if self.steady_state && self.duration.0.is_zero() {
            return Err(Error::new("duration: must be longer than 0 in a steady state"));
        }
        self.check()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Error> {
    serde_json::from_value(Value::Object(fields)).map_err(Error::new)
}
