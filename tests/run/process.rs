//! The process of a scheduler.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use schedc_fake_apiserver::Server;

/// Process of `schedc run`. Dropping it kills the process.
pub(crate) struct Scheduler {
    child: Child,
    folder: PathBuf,
}

impl Scheduler {
    /// Starts a scheduler for a server, with additional flags.
    pub(crate) fn start(server: &Server, flags: &[&str]) -> Scheduler {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("run-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("a folder for the test");
        let kubeconfig = folder.join("kubeconfig");
        fs::write(&kubeconfig, server.kubeconfig()).expect("a file for the test");
        let log = || File::options().create(true).append(true).open(folder.join("log")).expect("a file for the test");
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedc"));
        command.arg("run").arg("--kubeconfig").arg(kubeconfig).arg("--secure-port=0").args(flags);
        let command = command.stdin(Stdio::null()).stdout(log()).stderr(log());
        let child = command.spawn().expect("schedc starts");
        Scheduler { child, folder }
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
