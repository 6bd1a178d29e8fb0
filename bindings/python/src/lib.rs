//! The native module `schedc._native` of the Python package, over [`schedc_api`], with the command line of [`schedc`].
//!
//! - Functions release the GIL while they work.
//! - No panic leaves a function: it becomes an error with the code `panicked`, and the object refuses all later calls.
//! - Single values are returned as objects of Python, other results as JSON, which the Python code of the package reads.

mod answer;
mod cluster;
mod command_line;
mod evaluator;
mod guard;
mod profiles;

use pyo3::pymodule;

/// Native functions of the package `schedc`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::answer::Answer;
    #[pymodule_export]
    use crate::cluster::Cluster;
    #[pymodule_export]
    use crate::command_line::main;
    #[pymodule_export]
    use crate::evaluator::Evaluator;
    #[pymodule_export]
    use crate::profiles::Profiles;

    /// Returns the version of schedc.
    #[pyo3::pyfunction]
    fn version() -> &'static str {
        schedc_api::version()
    }
}
