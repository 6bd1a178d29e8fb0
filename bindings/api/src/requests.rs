//! Requests in JSON, many per call.

use std::collections::BTreeMap;

use schedc_evaluation::Answer;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::cluster::Cluster;
use crate::error::{Error, ErrorCode};
use crate::input::Defaults;

/// A request: an operation of a [`Cluster`].
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
#[serde(expecting = "a JSON object with `op`")]
enum Request {
    Apply {
        objects: Vec<Value>,
        #[serde(default)]
        defaults: bool,
    },
    ApplyColumns {
        template: Value,
        columns: BTreeMap<String, Vec<Value>>,
        #[serde(default)]
        defaults: bool,
    },
    Delete {
        kind: String,
        #[serde(default)]
        namespace: String,
        name: String,
    },
    Clear {},
    Fork {},
    Commit {},
    Revert {},
    Forks {},
    Nodes {},
    Pods {},
    Check {
        pod: String,
        node: String,
    },
    CheckNodes {
        pod: String,
        nodes: Option<Vec<String>>,
    },
    Schedule {
        pod: String,
        node: String,
    },
    ScheduleOnAny {
        pod: String,
        nodes: Option<Vec<String>>,
    },
    Unschedule {
        pod: String,
    },
    Decide {
        pod: String,
    },
    Estimate {
        template: Vec<Value>,
        pods: Vec<String>,
        max_nodes: usize,
    },
}

/// The answer to a request.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Response {
    Result(Box<RawValue>),
    Error(Error),
}

impl Cluster {
    /// Answers requests, one JSON object per line. The answer to each line that is not blank is one line:
    /// `{"result": ...}` or `{"error": {"code": ..., "message": ...}}`. After a failed request, the later ones are still
    /// answered. docs/libraries.md describes the requests.
    pub fn requests(&mut self, requests: &[u8]) -> Vec<u8> {
        let mut responses = Vec::new();
        for line in requests.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            let response = self.request(line).map_or_else(Response::Error, Response::Result);
            // Writing cannot fail: the keys are texts, and the sink is memory.
            responses.extend(serde_json::to_vec(&response).unwrap_or_default());
            responses.push(b'\n');
        }
        responses
    }

    fn request(&mut self, line: &[u8]) -> Result<Box<RawValue>, Error> {
        let request: Request = serde_json::from_slice(line)
            .map_err(|error| Error::new(ErrorCode::InvalidRequest, format_args!("not a request: {error}")))?;
        match request {
            Request::Apply { objects, defaults } => value(&self.apply_values(objects, Defaults::from(defaults))?),
            Request::ApplyColumns { template, columns, defaults } => {
                value(&self.apply_columns(&template, &columns, Defaults::from(defaults))?)
            }
            Request::Delete { kind, namespace, name } => value(&self.delete(&kind, &namespace, &name)?),
            Request::Clear {} => {
                self.clear();
                value(&())
            }
            Request::Fork {} => {
                self.fork();
                value(&self.forks())
            }
            Request::Commit {} => {
                self.commit();
                value(&self.forks())
            }
            Request::Revert {} => {
                self.revert();
                value(&self.forks())
            }
            Request::Forks {} => value(&self.forks()),
            Request::Nodes {} => value(&self.nodes()),
            Request::Pods {} => value(&self.pods()),
            Request::Check { pod, node } => value(&self.check(&pod, &node)?),
            Request::CheckNodes { pod, nodes } => {
                let nodes = nodes.unwrap_or_else(|| self.nodes());
                let answers = self.check_nodes(&pod, &nodes)?;
                value(&nodes.into_iter().zip(answers).collect::<BTreeMap<String, Answer>>())
            }
            Request::Schedule { pod, node } => value(&self.schedule(&pod, &node)?),
            Request::ScheduleOnAny { pod, nodes } => value(&self.schedule_on_any(&pod, nodes.as_deref())?),
            Request::Unschedule { pod } => value(&self.unschedule(&pod)?),
            Request::Decide { pod } => value(&self.decide(&pod)?),
            Request::Estimate { template, pods, max_nodes } => {
                value(&self.estimate_values(template, &pods, max_nodes)?)
            }
        }
    }
}

fn value(result: &impl Serialize) -> Result<Box<RawValue>, Error> {
    let cannot_write =
        |error| Error::new(ErrorCode::InvalidRequest, format_args!("the result cannot be written as JSON: {error}"));
    to_raw_value(result).map_err(cannot_write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_json_cannot_represent_has_its_own_message() {
        let error = value(&BTreeMap::from([((1, 2), 3)])).unwrap_err();
        assert_eq!(error.message, "the result cannot be written as JSON: key must be a string");
    }
}
