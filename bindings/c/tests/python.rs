//! The Python package, with the shared library.

use std::io::Write;
use std::process::Command;
use std::{env, io};

use crate::c_program::{example, libraries, root, run};
use crate::corpora::corpora;

/// Returns a command of Python with the package. `None` without Python.
fn python(test: &str) -> Option<Command> {
    let program = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let is_new_enough = "import sys; sys.exit(sys.version_info < (3, 9))";
    if !Command::new(&program).args(["-c", is_new_enough]).status().is_ok_and(|status| status.success()) {
        // The test passes even if this write fails.
        let _ = writeln!(
            io::stderr().lock(),
            "skipped {test}: {} is not Python 3.9 or newer; install it, or set PYTHON",
            program.display()
        );
        return None;
    }
    let library = libraries().join(if cfg!(target_os = "macos") { "libschedc_c.dylib" } else { "libschedc_c.so" });
    let mut command = Command::new(program);
    command.arg("-B").env("PYTHONPATH", root().join("bindings/python")).env("SCHEDC_LIBRARY", library);
    Some(command)
}

#[test]
fn the_tests_of_the_python_package_pass_with_the_bytes_of_evaluate() {
    let Some(mut python) = python("the tests of the Python package") else { return };
    let corpora = corpora();
    run(python
        .args(["-m", "unittest", "discover", "--start-directory", "tests"])
        .current_dir(root().join("bindings/python"))
        .env("SCHEDC_CORPUS", &corpora.compressed)
        .env("SCHEDC_EXPECTED", &corpora.expected));
}

#[test]
fn the_python_code_of_the_documentation_prints_what_it_shows() {
    let Some(mut python) = python("the Python code of the documentation") else { return };
    let (code, output) = example("python");
    assert_eq!(run(python.args(["-c", &code])), output);
}
