//! Profiles.

use pyo3::prelude::*;

use crate::guard::detached;

/// Valid profiles, which any number of threads can use.
#[pyclass(frozen, module = "schedc._native")]
pub(crate) struct Profiles(pub(crate) schedc_api::Profiles);

#[pymethods]
impl Profiles {
    /// Reads profiles: names of files, and their texts in TOML.
    #[new]
    fn new(py: Python<'_>, sources: Vec<(String, String)>) -> PyResult<Self> {
        let parse = || {
            let sources: Vec<(&str, &str)> = sources.iter().map(|(name, text)| (&**name, &**text)).collect();
            Ok(schedc_api::Profiles::parse(&sources)?)
        };
        detached(py, parse).map(Profiles)
    }
}
