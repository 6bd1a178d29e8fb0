//! Calls from Python: the GIL, panics and errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use serde::Serialize;

/// The value of an object; `None` after a panic. Calls of several threads wait for each other.
pub(crate) struct Guarded<T>(Mutex<Option<T>>);

impl<T: Send> Guarded<T> {
    /// Creates a value without the GIL.
    pub(crate) fn create(py: Python<'_>, make: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<Self> {
        let value = detached(py, make)?;
        Ok(Guarded(Mutex::new(Some(value))))
    }

    /// Calls a function with the value, without the GIL. After a panic, the value is gone.
    pub(crate) fn call<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> Result<R, Failure> + Send,
    ) -> PyResult<R> {
        let work = || {
            let mut guarded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(value) = guarded.as_mut() else {
                let message = "an earlier call ended with an error of schedc; create another object".to_owned();
                return Err(Failure::panicked(message));
            };
            let result = catch_unwind(AssertUnwindSafe(|| work(value)));
            result.unwrap_or_else(|panic| {
                // Dropping an inconsistent value may panic again.
                let _ = catch_unwind(AssertUnwindSafe(|| *guarded = None));
                Err(Failure::of_panic(&*panic))
            })
        };
        py.detach(work).map_err(|failure| failure.raise(py))
    }
}

/// Runs a function without the GIL, and turns a panic into an error.
pub(crate) fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> Result<R, Failure> + Send) -> PyResult<R> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    result.unwrap_or_else(|panic| Err(Failure::of_panic(&*panic))).map_err(|failure| failure.raise(py))
}

/// A result as JSON.
pub(crate) fn json(result: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(result).map_err(|error| Failure { code: "other".to_owned(), message: error.to_string() })
}

/// An error with a code and a message.
pub(crate) struct Failure {
    code: String,
    message: String,
}

impl Failure {
    fn panicked(message: String) -> Self {
        Failure { code: "panicked".to_owned(), message }
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        Failure::panicked(format!("schedc failed, please report it: {text}"))
    }

    /// Returns the exception `schedc.Error`.
    fn raise(self, py: Python<'_>) -> PyErr {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        match CLASS.import(py, "schedc._errors", "Error") {
            Ok(class) => PyErr::from_type(class.clone(), (self.code, self.message)),
            Err(error) => error,
        }
    }
}

impl From<schedc_api::Error> for Failure {
    fn from(error: schedc_api::Error) -> Self {
        // Codes have their names in JSON.
        let name = serde_json::to_value(error.code).ok();
        let code = name.as_ref().and_then(|name| name.as_str()).unwrap_or("other").to_owned();
        Failure { code, message: error.message }
    }
}
