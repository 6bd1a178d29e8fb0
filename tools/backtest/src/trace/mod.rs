//! Workloads of traces. A trace consists of tables in CSV or JSON lines. A mapping assigns their columns to fields of
//! nodes and pods.
//!
//! docs/backtest.md has the format of mappings.
//!
//! | module | content |
//! |---|---|
//! | `mapping` | the file with the mapping |
//! | `text` | texts with values of columns |
//! | `rows` | rows of files |
//! | `objects` | nodes and pods |
//! | `times` | times of pods |

mod mapping;
mod objects;
mod rows;
mod text;
mod times;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schedc_bounds::files::read_text;
use schedc_bounds::text::shortened;

use crate::workload::{Change, Event, Facts, Lifetime, Workload, WorkloadPod};
use mapping::{Mapping, NodeMapping, PodMapping};
use objects::ObjectBuilder;
use rows::Rows;

/// An error in a mapping or in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The file.
    pub file: Arc<str>,
    /// Number of the line, from 1; 0 for the whole file.
    pub line: u64,
    /// The error, and how to fix it.
    pub message: String,
}

impl TraceError {
    fn new(file: &Arc<str>, line: u64, message: impl fmt::Display) -> TraceError {
        TraceError { file: file.clone(), line, message: shortened(&message.to_string(), 1000).into_owned() }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}: {}", self.file, self.message),
        }
    }
}

impl std::error::Error for TraceError {}

/// Maximum number of nodes or pods that a section of a mapping adds without a file.
const MAX_COUNT: u64 = 1_000_000;

/// Reads the workload of a trace. `folders` are searched for the files that the mapping names.
///
/// # Errors
/// Returns an error with its file and line.
pub fn read(mapping: &Path, folders: &[PathBuf]) -> Result<Workload, TraceError> {
    let name: Arc<str> = mapping.display().to_string().into();
    let text = read_text(mapping).map_err(|error| TraceError::new(&name, 0, error))?;
    let mapping = Mapping::parse(&name, &text)?;
    let mut trace = Trace { folders, name, mapping: &mapping, builder: ObjectBuilder::default(), pods: Vec::new() };
    mapping.nodes.iter().try_for_each(|nodes| trace.add_nodes(nodes))?;
    mapping.pods.iter().try_for_each(|pods| trace.add_pods(pods))?;
    trace.finish()
}

/// A trace that is being read.
struct Trace<'a> {
    folders: &'a [PathBuf],
    name: Arc<str>,
    mapping: &'a Mapping,
    builder: ObjectBuilder,
    /// The pods, each with its end in the trace.
    pods: Vec<(WorkloadPod, Option<i64>)>,
}

impl Trace<'_> {
    fn add_nodes(&mut self, nodes: &NodeMapping) -> Result<(), TraceError> {
        let mut rows = self.rows(nodes.file.as_deref(), nodes.count, "nodes")?;
        while let Some(row) = rows.next(&self.mapping.maps)? {
            if row.is_selected(&nodes.only)? {
                self.builder.node(nodes, &row)?;
            }
        }
        rows.finish()
    }

    fn add_pods(&mut self, pods: &PodMapping) -> Result<(), TraceError> {
        let mut rows = self.rows(pods.file.as_deref(), pods.count, "pods")?;
        while let Some(row) = rows.next(&self.mapping.maps)? {
            if !row.is_selected(&pods.only)? {
                continue;
            }
            let (name, template) = self.builder.pod(pods, &row)?;
            let times = pods.time_unit.times(pods, &row)?;
            let pod = WorkloadPod {
                template,
                uid: name.clone(),
                name,
                created: times.created,
                node: None,
                recorded_node: None,
                lifetime: times.runs.map_or(Lifetime::Unlimited, Lifetime::Runs),
                is_served: true,
            };
            self.pods.push((pod, times.ended));
        }
        rows.finish()
    }

    /// Returns the rows of a section: those of its file, or `count` rows without columns.
    fn rows(&self, file: Option<&str>, count: Option<u64>, section: &str) -> Result<Rows, TraceError> {
        let mapping_error = |message: String| TraceError::new(&self.name, 0, message);
        match (file, count) {
            (Some(file), None) => Rows::open(&self.find(file)?),
            (None, Some(count)) if count <= MAX_COUNT => Ok(Rows::count(self.name.clone(), count)),
            (None, Some(_)) => Err(mapping_error(format!("[[{section}]]: `count` is at most {MAX_COUNT}"))),
            _ => Err(mapping_error(format!("[[{section}]]: set either `file` or `count`"))),
        }
    }

    /// Returns the path of a file that the mapping names: the first match in the folders. An entry of the folders may
    /// also be the file itself.
    fn find(&self, file: &str) -> Result<PathBuf, TraceError> {
        for folder in self.folders {
            let is_named = folder.is_file() && folder.file_name().is_some_and(|name| name == file);
            let path = if is_named { folder.clone() } else { folder.join(file) };
            if path.is_file() {
                return Ok(path);
            }
        }
        let folders: Vec<String> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
        let message = format!("there is no file `{file}` in {}; name its folder with --on", folders.join(", "));
        Err(TraceError::new(&self.name, 0, message))
    }

    fn finish(self) -> Result<Workload, TraceError> {
        let Trace { name, mapping, builder, mut pods, .. } = self;
        let Some(start) = pods.iter().map(|(pod, _)| pod.created).min() else {
            return Err(TraceError::new(&name, 0, "no row of the trace is a pod"));
        };
        if !builder.has_nodes() {
            return Err(TraceError::new(&name, 0, "no row of the trace is a node"));
        }
        let last = pods.iter().flat_map(|(pod, ended)| [Some(pod.created), *ended]).flatten().max().unwrap_or(start);
        // Times without a date are relative to the first pod.
        let has_dates = mapping.pods.iter().any(|pods| pods.time_unit.has_dates());
        let offset = if has_dates { 0 } else { start };
        pods.sort_by_key(|(pod, _)| pod.created);
        let mut workload = builder.finish();
        workload.facts = Facts { is_trace: true, ..Facts::default() };
        workload.start = start - offset;
        workload.end = last - offset;
        for (mut pod, _) in pods {
            pod.created -= offset;
            let at = pod.created;
            let id = workload.add_pod(pod);
            workload.events.push(Event { at, change: Change::Arrive(id) });
        }
        workload.finish();
        Ok(workload)
    }
}

#[cfg(test)]
mod tests;
