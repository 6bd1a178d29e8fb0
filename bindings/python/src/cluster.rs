//! Hypothetical clusters.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use schedc_api::Defaults;

use crate::answer::Answer;
use crate::guard::{Guarded, json};
use crate::profiles::Profiles;

/// A hypothetical cluster with a profile. `schedc.Cluster` describes the methods.
#[pyclass(frozen, module = "schedc._native")]
pub(crate) struct Cluster(Guarded<schedc_api::Cluster>);

impl Cluster {
    fn change(&self, py: Python<'_>, change: fn(&mut schedc_api::Cluster)) -> PyResult<()> {
        self.0.call(py, |cluster| {
            change(cluster);
            Ok(())
        })
    }
}

#[pymethods]
impl Cluster {
    #[new]
    fn new(py: Python<'_>, profiles: &Profiles, profile: &str) -> PyResult<Self> {
        Guarded::create(py, || Ok(schedc_api::Cluster::new(&profiles.0, profile)?)).map(Cluster)
    }

    fn apply(&self, py: Python<'_>, objects: &str, defaults: bool) -> PyResult<Vec<u8>> {
        self.0.call(py, |cluster| json(&cluster.apply(objects, Defaults::from(defaults))?))
    }

    fn delete(&self, py: Python<'_>, kind: &str, namespace: &str, name: &str) -> PyResult<bool> {
        self.0.call(py, |cluster| Ok(cluster.delete(kind, namespace, name)?))
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, schedc_api::Cluster::clear)
    }

    fn fork(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, schedc_api::Cluster::fork)
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, schedc_api::Cluster::commit)
    }

    fn revert(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, schedc_api::Cluster::revert)
    }

    fn forks(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.call(py, |cluster| Ok(cluster.forks()))
    }

    fn nodes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.0.call(py, |cluster| Ok(cluster.nodes()))
    }

    fn pods(&self, py: Python<'_>) -> PyResult<Vec<(String, Option<String>)>> {
        self.0.call(py, |cluster| Ok(cluster.pods().into_iter().collect()))
    }

    fn check(&self, py: Python<'_>, pod: &str, node: &str) -> PyResult<Answer> {
        self.0.call(py, |cluster| Ok(cluster.check(pod, node)?)).map(Answer::from)
    }

    fn check_nodes(&self, py: Python<'_>, pod: &str, nodes: Option<Vec<PyBackedStr>>) -> PyResult<Vec<bool>> {
        self.0.call(py, |cluster| {
            let answers = match &nodes {
                Some(nodes) => cluster.check_nodes(pod, nodes)?,
                None => cluster.check_nodes(pod, &cluster.nodes())?,
            };
            Ok(answers.iter().map(|answer| answer.code == "Success").collect())
        })
    }

    fn schedule(&self, py: Python<'_>, pod: &str, node: &str) -> PyResult<Answer> {
        self.0.call(py, |cluster| Ok(cluster.schedule(pod, node)?)).map(Answer::from)
    }

    fn schedule_on_any(&self, py: Python<'_>, pod: &str, nodes: Option<Vec<PyBackedStr>>) -> PyResult<Option<String>> {
        self.0.call(py, |cluster| Ok(cluster.schedule_on_any(pod, nodes.as_deref())?.node))
    }

    fn unschedule(&self, py: Python<'_>, pod: &str) -> PyResult<bool> {
        self.0.call(py, |cluster| Ok(cluster.unschedule(pod)?))
    }

    fn decide(&self, py: Python<'_>, pod: &str) -> PyResult<Vec<u8>> {
        self.0.call(py, |cluster| json(&cluster.decide(pod)?))
    }

    fn estimate(&self, py: Python<'_>, template: &str, pods: Vec<PyBackedStr>, max_nodes: usize) -> PyResult<Vec<u8>> {
        self.0.call(py, |cluster| json(&cluster.estimate(template, &pods, max_nodes)?))
    }

    fn requests(&self, py: Python<'_>, requests: &str) -> PyResult<Vec<u8>> {
        self.0.call(py, |cluster| Ok(cluster.requests(requests.as_bytes())))
    }
}
