//! Test harness that runs the command.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// The small cluster in the README.
pub(crate) const EXAMPLE: &str = "examples/cluster";

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
        serde_json::from_str(&self.ok()).expect("JSON")
    }

    /// Returns the standard error of a command, which must have failed and written nothing to standard output.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{}", self.stderr);
        self.stderr
    }
}

/// Runs `schedc` in the root of the package.
pub(crate) fn schedc(args: &[&str]) -> Run {
    run(Command::new(env!("CARGO_BIN_EXE_schedc")).args(args).current_dir(env!("CARGO_MANIFEST_DIR")), "")
}

/// Temporary folder of a test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Creates a folder with files, by paths and contents.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&root).expect("a folder for the test");
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder for the file");
            fs::write(path, text).expect("a file for the test");
        }
        Folder(root)
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// Runs a shell command in the folder, with `schedc` in the path.
    pub(crate) fn shell(&self, command: &str) -> Run {
        let programs = std::env::var_os("PATH").unwrap_or_default();
        let schedc = PathBuf::from(env!("CARGO_BIN_EXE_schedc"));
        let folders = schedc.parent().map(PathBuf::from).into_iter().chain(std::env::split_paths(&programs));
        let path = std::env::join_paths(folders).expect("folders of programs");
        run(Command::new("sh").args(["-c", command]).env("PATH", path).current_dir(&self.0), "")
    }

    /// Runs `schedc` in the folder.
    pub(crate) fn schedc(&self, args: &[&str]) -> Run {
        self.schedc_with_input(args, "")
    }

    /// Runs `schedc` in the folder, with standard input.
    pub(crate) fn schedc_with_input(&self, args: &[&str], input: &str) -> Run {
        run(Command::new(env!("CARGO_BIN_EXE_schedc")).args(args).current_dir(&self.0), input)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure only leaves files in the target folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(command: &mut Command, input: &str) -> Run {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("schedc starts");
    // The write fails if the command ends without reading its input.
    let _ = child.stdin.take().expect("standard input").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("schedc ends");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}
