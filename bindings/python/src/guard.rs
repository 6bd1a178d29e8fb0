//! Calls from Python: the GIL and errors.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use schedc_api::guard::{self, Panicked, caught};
use serde::Serialize;

/// A value that a Python object owns. Calls from several threads run one after the other.
pub(crate) struct Guarded<T>(Mutex<guard::Guarded<T>>);

impl<T: Send> Guarded<T> {
    /// Creates a value without the GIL.
    pub(crate) fn create(py: Python<'_>, make: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<Self> {
        detached(py, make).map(|value| Guarded(Mutex::new(guard::Guarded::new(value))))
    }

    /// Calls a function with the value, without the GIL.
    pub(crate) fn call<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> Result<R, Failure> + Send,
    ) -> PyResult<R> {
        detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).call(work))
    }
}

/// Runs a function without the GIL, and turns a panic into an error.
pub(crate) fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> Result<R, Failure> + Send) -> PyResult<R> {
    py.detach(|| caught(work)).map_err(|failure| failure.raise(py))
}

/// Returns a result as JSON.
pub(crate) fn json(result: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(result).map_err(|error| Failure { code: "other".to_owned(), message: error.to_string() })
}

/// An error with a code and a message.
pub(crate) struct Failure {
    code: String,
    message: String,
}

impl Failure {
    /// Returns the exception `schedc.Error`.
    fn raise(self, py: Python<'_>) -> PyErr {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        match CLASS.import(py, "schedc._errors", "Error") {
            Ok(class) => PyErr::from_type(class.clone(), (self.code, self.message)),
            Err(error) => error,
        }
    }
}

impl From<Panicked> for Failure {
    fn from(Panicked { message }: Panicked) -> Self {
        Failure { code: "panicked".to_owned(), message }
    }
}

impl From<schedc_api::Error> for Failure {
    fn from(error: schedc_api::Error) -> Self {
        // The names of codes are those in JSON.
        let name = serde_json::to_value(error.code).ok();
        let code = name.as_ref().and_then(|name| name.as_str()).unwrap_or("other").to_owned();
        Failure { code, message: error.message }
    }
}
