//! Files in the format of Kubernetes' scheduler_perf.
//!
//! | module | content |
//! |---|---|
//! | `fields` | fields of the operations |
//! | `op` | the operations, their validation and parameters |
//! | `duration` | durations in Go's notation |
//! | `params` | the parameters of a workload |
//! | `labels` | selection of workloads by labels |
//! | `yaml` | reading of YAML |

mod duration;
mod fields;
mod labels;
mod op;
mod params;
pub(crate) mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

pub use fields::{
    AllocResourceClaims, Barrier, Churn, ChurnMode, CreateAny, CreateNamespaces, CreateNodes, CreatePodSets,
    CreatePods, CreateResourceDriver, CsiNodeAllocatable, DeletePods, LabelNodes, NodeAllocatable, Sleep, Stage,
    StartCollecting, UniqueLabel, UpdateAny,
};
pub use labels::Labels;
pub use op::{Op, Operation};

use crate::Error;
use params::Params;

/// The test cases of a file.
#[derive(Clone, Debug)]
pub struct Config {
    /// Path of the file, as given.
    pub path: PathBuf,
    /// Test cases, in order.
    pub cases: Vec<TestCase>,
}

/// Workloads that differ only in their parameters.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// Name.
    pub name: String,
    /// Labels; workloads may add more.
    pub labels: Vec<String>,
    /// Operations of the workloads.
    pub operations: Vec<Operation>,
    /// Workloads, in order.
    pub workloads: Vec<Workload>,
    /// Feature gates of kube-scheduler; ignored.
    pub feature_gates: BTreeMap<String, bool>,
    /// Configuration of kube-scheduler; ignored: the caller chooses the profile.
    pub scheduler_config_path: Option<String>,
    /// Template of pods for operations that name no template.
    pub default_pod_template_path: Option<String>,
}

/// A workload: the operations of its test case with its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Workload {
    /// Name, unique in the test case.
    pub name: String,
    /// Labels, in addition to those of the test case.
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(default)]
    params: Map<String, Value>,
    /// Feature gates of kube-scheduler; ignored.
    #[serde(default)]
    pub feature_gates: BTreeMap<String, bool>,
    /// Threshold for comparisons over time; ignored.
    #[serde(rename = "threshold", default)]
    _threshold: Value,
    #[serde(rename = "thresholdMetricSelector", default)]
    _threshold_metric_selector: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawCase {
    name: String,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    workload_template: Vec<Map<String, Value>>,
    #[serde(default)]
    workloads: Vec<Map<String, Value>>,
    #[serde(default)]
    feature_gates: BTreeMap<String, bool>,
    scheduler_config_path: Option<String>,
    default_pod_template_path: Option<String>,
    #[serde(rename = "metricsCollectorConfig", default)]
    _metrics_collector_config: Value,
    #[serde(rename = "defaultThresholdMetricSelector", default)]
    _default_threshold_metric_selector: Value,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has another format.
    pub fn read(path: &Path) -> Result<Config, Error> {
        let text = yaml::text(path)?;
        let cases: Vec<Value> = yaml::document(&path.display().to_string(), &text)?;
        Config::of(path, cases).map_err(|error| error.at(path.display()))
    }

    fn of(path: &Path, cases: Vec<Value>) -> Result<Config, Error> {
        if cases.is_empty() {
            return Err(Error::new(
                "has no test cases; a file is a list of them, each with name, workloadTemplate and workloads",
            ));
        }
        let cases =
            cases.into_iter().enumerate().map(|(at, case)| TestCase::of(at, case)).collect::<Result<Vec<_>, _>>()?;
        let mut names = BTreeSet::new();
        match cases.iter().find(|case| !names.insert(&case.name)) {
            Some(case) => Err(Error::new(format!("duplicate test case `{}`; rename one of the two", case.name))),
            None => Ok(Config { path: path.to_owned(), cases }),
        }
    }

    /// Returns all workloads, in order.
    pub fn workloads(&self) -> impl Iterator<Item = SelectedWorkload<'_>> {
        self.cases.iter().flat_map(move |case| {
            case.workloads.iter().map(move |workload| SelectedWorkload { config: self, case, workload })
        })
    }

    /// Returns the workloads with these names and labels; workloads of any name if `names` is empty.
    ///
    /// # Errors
    /// Returns an error if a name has no workload, or if no workload has the labels.
    pub fn choose(&self, names: &[String], labels: &Labels) -> Result<Vec<SelectedWorkload<'_>>, Error> {
        for name in names {
            if !self.workloads().any(|workload| workload.name() == *name) {
                let known: Vec<_> = self.workloads().map(|workload| format!("  {}", workload.name())).collect();
                let message = format!("no workload `{name}`; choose one of:\n{}", known.join("\n"));
                return Err(Error::new(message).at(self.path.display()));
            }
        }
        let is_named = |workload: &SelectedWorkload<'_>| names.is_empty() || names.contains(&workload.name());
        let chosen: Vec<_> =
            self.workloads().filter(|workload| is_named(workload) && labels.admit(workload.labels())).collect();
        if chosen.is_empty() {
            let known: BTreeSet<_> =
                self.workloads().flat_map(|workload| workload.labels().collect::<Vec<_>>()).collect();
            let known = match known.is_empty() {
                true => "no workload has labels".to_owned(),
                false => format!("labels in use: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
            };
            return Err(Error::new(format!("no workload has the labels `{labels}`; {known}")).at(self.path.display()));
        }
        Ok(chosen)
    }
}

impl TestCase {
    fn of(at: usize, case: Value) -> Result<TestCase, Error> {
        let name = case.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let Some(place) = name.map(|name| format!("test case `{name}`")) else {
            return Err(Error::new(format!("the test case at {at} (from 0) has no name")));
        };
        let raw: RawCase = serde_json::from_value(case).map_err(|error| Error::new(error).at(&place))?;
        let operations = raw.workload_template.into_iter().enumerate();
        let operations = operations.map(|(at, op)| Operation::of(at, op)).collect::<Result<Vec<_>, _>>();
        let operations = operations.map_err(|error| error.at(&place))?;
        if operations.is_empty() {
            return Err(Error::new("has no operations; list them under workloadTemplate").at(&place));
        }
        if !operations.iter().any(|operation| operation.op.collects_metrics()) {
            let advice = "let a createPods have `collectMetrics: true`, or put startCollectingMetrics and stopCollectingMetrics around some operations";
            return Err(Error::new(format!("no operation collects metrics, so there is nothing to report; {advice}"))
                .at(&place));
        }
        let mut workloads = Vec::new();
        let mut names = BTreeSet::new();
        for (at, workload) in raw.workloads.into_iter().enumerate() {
            let named = workload.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let place = if named.is_empty() {
                format!("{place}: workload at {at} (from 0)")
            } else {
                format!("{place}: workload `{named}`")
            };
            let workload: Workload =
                serde_json::from_value(Value::Object(workload)).map_err(|error| Error::new(error).at(&place))?;
            if !names.insert(named) {
                return Err(Error::new("duplicate name; rename one of the two").at(&place));
            }
            workloads.push(workload);
        }
        if workloads.is_empty() {
            return Err(Error::new("has no workloads").at(&place));
        }
        Ok(TestCase {
            name: raw.name,
            labels: raw.labels,
            operations,
            workloads,
            feature_gates: raw.feature_gates,
            scheduler_config_path: raw.scheduler_config_path,
            default_pod_template_path: raw.default_pod_template_path,
        })
    }
}

/// A workload with its test case and file.
#[derive(Clone, Copy, Debug)]
pub struct SelectedWorkload<'a> {
    /// File.
    pub config: &'a Config,
    /// Test case.
    pub case: &'a TestCase,
    /// Workload.
    pub workload: &'a Workload,
}

impl<'a> SelectedWorkload<'a> {
    /// Returns the name in the form `TEST/WORKLOAD`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.case.name, self.workload.name)
    }

    /// Returns the labels of the workload and of its test case.
    pub fn labels(&self) -> impl Iterator<Item = &'a str> + Clone {
        self.case.labels.iter().chain(&self.workload.labels).map(String::as_str)
    }

    /// Returns the settings for kube-scheduler that are ignored here.
    pub fn ignored(&self) -> BTreeSet<String> {
        let gates = self.case.feature_gates.keys().chain(self.workload.feature_gates.keys());
        let mut ignored: BTreeSet<String> = gates.map(|gate| format!("feature gate {gate}")).collect();
        ignored.extend(self.case.scheduler_config_path.iter().map(|path| format!("schedulerConfigPath {path}")));
        ignored
    }

    /// Returns the operations, with resolved parameters and pod sets.
    ///
    /// # Errors
    /// Returns an error for parameters that are missing, unused or of a wrong type, and for operations that are
    /// not supported.
    pub fn operations(&self) -> Result<Vec<Operation>, Error> {
        let at = |error: Error| error.at(format_args!("{}: workload `{}`", self.config.path.display(), self.name()));
        let mut params = Params::new(&self.workload.params);
        let mut operations = Vec::new();
        for operation in &self.case.operations {
            let resolved = operation.op.clone().resolve(&mut params).map_err(|error| at(error.at(operation)))?;
            operations.extend(resolved.into_iter().map(|op| Operation { op, ..operation.clone() }));
        }
        match params.unused() {
            unused if unused.is_empty() => Ok(operations),
            unused => {
                let unused = unused.join(", ");
                Err(at(Error::new(format!(
                    "no operation uses the parameters {unused}; check the spelling of the names"
                ))))
            }
        }
    }

    /// Resolves a path relative to the folder of the file.
    pub fn path(&self, path: &str) -> PathBuf {
        self.config.path.parent().unwrap_or(Path::new("")).join(path)
    }
}
