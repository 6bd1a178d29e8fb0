//! Answers about a pod and a node.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// Whether a pod may run on a node. As a condition, the answer is true if the pod may run there.
#[pyclass(frozen, eq, get_all, module = "schedc")]
#[derive(PartialEq)]
pub(crate) struct Answer {
    /// The status code of kube-scheduler.
    code: String,
    /// The plugin that rejects the pod; empty for success.
    plugin: Cow<'static, str>,
    /// The reasons of the rejection.
    reasons: Vec<String>,
}

impl From<schedc_api::Answer> for Answer {
    fn from(answer: schedc_api::Answer) -> Self {
        Answer { code: answer.code, plugin: Cow::Borrowed(answer.plugin), reasons: answer.reasons }
    }
}

#[pymethods]
impl Answer {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH_ARGS: (&'static str, &'static str, &'static str) = ("code", "plugin", "reasons");

    #[new]
    #[pyo3(signature = (code = "Success".to_owned(), plugin = String::new(), reasons = Vec::new()))]
    fn new(code: String, plugin: String, reasons: Vec<String>) -> Self {
        Answer { code, plugin: Cow::Owned(plugin), reasons }
    }

    /// Returns the arguments of a copy, for `pickle`.
    fn __getnewargs__(&self) -> (&str, &str, &[String]) {
        (&self.code, &self.plugin, &self.reasons)
    }

    fn __bool__(&self) -> bool {
        self.code == "Success"
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let [code, plugin] = [&*self.code, &*self.plugin].map(|text| PyString::new(py, text).repr());
        let reasons = PyList::new(py, &self.reasons)?.repr()?;
        Ok(format!("Answer(code={}, plugin={}, reasons={reasons})", code?, plugin?))
    }
}
