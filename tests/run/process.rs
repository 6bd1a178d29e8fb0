//! The process of a scheduler.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{io, thread};

use schedc_fake_apiserver::Server;

/// Process of `schedc run`. Dropping it kills the process.
pub(crate) struct Scheduler {
    child: Child,
    folder: PathBuf,
}

impl Scheduler {
    /// Starts a scheduler for a server, with additional flags.
    pub(crate) fn start(server: &Server, flags: &[&str]) -> Scheduler {
        let folder = folder();
        let log = || File::options().create(true).append(true).open(folder.join("log")).expect("a file for the test");
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedc"));
        arguments(&mut command, server, &folder).args(flags).stdout(log()).stderr(log());
        Scheduler { child: command.spawn().expect("schedc starts"), folder }
    }

    /// Starts a scheduler that records, with additional flags. `blocks` is the maximum size of its files, in blocks of
    /// `ulimit -f`.
    pub(crate) fn start_recording(server: &Server, blocks: Option<u32>, flags: &[&str]) -> Scheduler {
        let folder = folder();
        let limit = blocks.map_or_else(|| "unlimited".to_owned(), |blocks| blocks.to_string());
        // With the signal ignored, a write above the limit fails, as on a full disk.
        let script = format!("ulimit -f {limit}; trap '' XFSZ; exec \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_schedc")]);
        arguments(&mut command, server, &folder)
            .arg("--leader-elect=false")
            .arg("--record")
            .arg(folder.join("recording"))
            .args(flags);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("schedc starts");
        // The log passes through a pipe, to which the limit does not apply.
        let mut log = File::create(folder.join("log")).expect("a file for the test");
        let mut output = child.stderr.take().expect("a pipe");
        thread::spawn(move || io::copy(&mut output, &mut log));
        Scheduler { child, folder }
    }

    /// Returns the folder of the recording.
    pub(crate) fn recording(&self) -> PathBuf {
        self.file("recording")
    }

    /// Returns the path of a file in the scheduler's folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// Sends SIGTERM, and returns the exit code.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        let status = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(status.is_ok_and(|status| status.success()), "it has ended already:\n{}", self.output());
        self.join()
    }

    /// Waits for the end of the process, and returns its exit code.
    pub(crate) fn join(&mut self) -> Option<i32> {
        self.child.wait().expect("schedc ends").code()
    }

    /// Returns the output so far.
    pub(crate) fn output(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    fn end(&mut self) {
        // The process may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.end();
        // A failure only leaves files in the target folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Creates a folder for a scheduler.
fn folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("run-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Adds the arguments of a scheduler for a server.
fn arguments<'a>(command: &'a mut Command, server: &Server, folder: &Path) -> &'a mut Command {
    let kubeconfig = folder.join("kubeconfig");
    fs::write(&kubeconfig, server.kubeconfig()).expect("a file for the test");
    command.arg("run").arg("--kubeconfig").arg(kubeconfig).arg("--secure-port=0").stdin(Stdio::null())
}
