//! The program, and the extender in Python.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// Result of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Returns the output of a successful command.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }

    /// Returns the output of a successful command as JSON.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.ok()).unwrap()
    }

    /// Returns the standard error of a command, which must have failed and written nothing to standard output.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{}", self.stderr);
        self.stderr
    }
}

/// Returns a command that runs the program, with the folder of the example as its working directory.
pub(crate) fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpu-sharing"));
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// Runs the program with empty standard input.
pub(crate) fn gpu_sharing(args: &[&str]) -> Run {
    finish(&mut program(args), "")
}

/// Runs a command with standard input.
pub(crate) fn finish(command: &mut Command, input: &str) -> Run {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read its input may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Process of extender.py. Dropping it stops the process.
pub(crate) struct Extender {
    child: Child,
    /// URL of the extender.
    pub(crate) url: String,
}

impl Extender {
    /// Starts the extender on any free port.
    pub(crate) fn start() -> Extender {
        let mut command = Command::new("python3");
        command.args(["extender.py", "0"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("this test runs extender.py with python3: {error}"));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url =
            line.trim_end().strip_prefix("listening on ").unwrap_or_else(|| panic!("extender.py printed {line:?}"));
        Extender { url: url.to_owned(), child }
    }
}

impl Drop for Extender {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
