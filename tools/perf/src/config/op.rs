//! The operations, their validation and parameters.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::fields::{
    AllocResourceClaims, Barrier, Churn, ChurnMode, CreateAny, CreateNamespaces, CreateNodes, CreatePodSets,
    CreatePods, CreateResourceDriver, DeletePods, Sleep, StartCollecting, UpdateAny,
};
use super::params::Params;
use crate::Error;

/// An operation with its position.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Index in the list, from 0.
    pub at: usize,
    /// Opcode.
    pub opcode: String,
    /// The operation.
    pub op: Op,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op {} ({})", self.at, self.opcode)
    }
}

/// The operations.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the types of the fields document them")]
pub enum Op {
    CreateNodes(CreateNodes),
    CreateNamespaces(CreateNamespaces),
    CreatePods(CreatePods),
    CreatePodSets(CreatePodSets),
    CreateAny(CreateAny),
    UpdateAny(UpdateAny),
    CreateResourceDriver(CreateResourceDriver),
    AllocResourceClaims(AllocResourceClaims),
    DeletePods(DeletePods),
    Churn(Churn),
    Barrier(Barrier),
    Sleep(Sleep),
    StartCollecting(StartCollecting),
    StopCollecting,
    /// An operation that is not supported, with the reason.
    Refused(String),
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

/// Opcodes of the supported operations.
const OPCODES: &str = "createNodes, createNamespaces, createPods, createPodSets, createAny, updateAny, \
createResourceDriver, createResourceClaims, allocResourceClaims, deletePods, churn, barrier, sleep, startCollectingMetrics, stopCollectingMetrics";

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
            "createAny" | "createResourceClaims" => Op::CreateAny(read(fields)?),
            "updateAny" => Op::UpdateAny(read(fields)?),
            "createResourceDriver" => Op::CreateResourceDriver(read(fields)?),
            "allocResourceClaims" => Op::AllocResourceClaims(read(fields)?),
            "deletePods" => Op::DeletePods(read(fields)?),
            "churn" => Op::Churn(read(fields)?),
            "barrier" => Op::Barrier(read(fields)?),
            "sleep" => Op::Sleep(read(fields)?),
            "startCollectingMetrics" => Op::StartCollecting(read(fields)?),
            "stopCollectingMetrics" => {
                let NoFields {} = read(fields)?;
                Op::StopCollecting
            }
            _ => Op::Refused(format!("unknown opcode; the operations are {OPCODES}")),
        };
        op.check()?;
        Ok(op)
    }

    /// Validates everything that does not depend on parameters.
    fn check(&self) -> Result<(), Error> {
        match self {
            Op::CreateNodes(CreateNodes { label_node_prepare_strategy: Some(labels), .. })
                if labels.label_values.is_empty() =>
            {
                Err(Error::new("labelNodePrepareStrategy: labelValues: is empty; add at least one value"))
            }
            Op::CreatePods(pods) => pods.check(),
            Op::CreateResourceDriver(driver) => driver.check(),
            Op::Churn(churn) if churn.template_paths.is_empty() => {
                Err(Error::new("templatePaths: is empty; name at least one file"))
            }
            Op::Churn(Churn { mode: ChurnMode::Recreate, number: 0, .. }) => {
                Err(Error::new("number: must be at least 1 in mode recreate"))
            }
            Op::StartCollecting(start) if start.namespaces.is_empty() => {
                Err(Error::new("namespaces: is empty; name the namespaces of the pods to measure"))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the operation collects metrics.
    pub(super) fn collects_metrics(&self) -> bool {
        match self {
            Op::CreatePods(pods) => pods.collect_metrics,
            Op::CreatePodSets(sets) => sets.create_pods_op.get("collectMetrics") == Some(&Value::Bool(true)),
            Op::StopCollecting => true,
            _ => false,
        }
    }

    /// Resolves the parameters. A pod set becomes one operation per namespace.
    pub(super) fn resolve(mut self, params: &mut Params<'_>) -> Result<Vec<Op>, Error> {
        match &mut self {
            Op::CreateNodes(op) => op.count = params.count(op.count, op.count_param.as_deref())?,
            Op::CreateNamespaces(op) => op.count = params.count(op.count, op.count_param.as_deref())?,
            Op::CreatePods(op) => op.resolve(params)?,
            Op::CreatePodSets(op) => {
                let count = params.count(op.count, op.count_param.as_deref())?;
                let mut pods = op.create_pods()?;
                pods.resolve(params)?;
                let create_pods_in_set = |at| {
                    let namespace = Some(format!("{}-{at}", op.namespace_prefix));
                    Op::CreatePods(CreatePods { namespace, ..pods.clone() })
                };
                return Ok((0..count).map(create_pods_in_set).collect());
            }
            Op::CreateAny(op) => op.count = params.count(op.count, op.count_param.as_deref())?,
            Op::UpdateAny(op) => op.count = params.count(op.count, op.count_param.as_deref())?,
            Op::CreateResourceDriver(op) => {
                let param = op.max_claims_per_node_param.as_deref();
                op.max_claims_per_node = params.number("maxClaimsPerNodeParam", op.max_claims_per_node, param)?;
            }
            Op::Sleep(op) => {
                if let Some(param) = &op.duration_param {
                    op.duration = params.duration(param)?;
                }
            }
            Op::Refused(reason) => return Err(Error::new(reason)),
            Op::AllocResourceClaims(_)
            | Op::DeletePods(_)
            | Op::Churn(_)
            | Op::Barrier(_)
            | Op::StartCollecting(_)
            | Op::StopCollecting => {}
        }
        Ok(vec![self])
    }
}

impl CreatePodSets {
    fn create_pods(&self) -> Result<CreatePods, Error> {
        read(self.create_pods_op.clone())
    }
}

impl CreateResourceDriver {
    fn check(&self) -> Result<(), Error> {
        if self.driver_name.is_empty() {
            return Err(Error::new("driverName: is empty"));
        }
        match self.nodes.contains(['[', ']', '\\']) {
            true => Err(Error::new(format!(
                "nodes: `{}` contains a square bracket or a backslash; patterns have only * and ?",
                self.nodes
            ))),
            false => Ok(()),
        }
    }
}

impl CreatePods {
    fn check(&self) -> Result<(), Error> {
        if self.collect_metrics && self.skip_wait_to_completion {
            return Err(Error::new("collectMetrics and skipWaitToCompletion are mutually exclusive"));
        }
        if self.steady_state && self.skip_wait_to_completion {
            return Err(Error::new("steadyState and skipWaitToCompletion are mutually exclusive"));
        }
        let volumes = [&self.persistent_volume_template_path, &self.persistent_volume_claim_template_path];
        if volumes.iter().filter(|path| path.is_some()).count() == 1 {
            return Err(Error::new(
                "persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath require each other",
            ));
        }
        Ok(())
    }

    fn resolve(&mut self, params: &mut Params<'_>) -> Result<(), Error> {
        self.count = params.count(self.count, self.count_param.as_deref())?;
        if let Some(param) = &self.duration_param {
            self.duration = params.duration(param)?;
        }
        if let Some(param) = &self.steady_state_param {
            self.steady_state = params.boolean("steadyStateParam", param)?;
        }
        if self.steady_state && self.duration.0.is_zero() {
            return Err(Error::new("duration: must be longer than 0 in a steady state"));
        }
        self.check()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Error> {
    serde_json::from_value(Value::Object(fields)).map_err(Error::new)
}
