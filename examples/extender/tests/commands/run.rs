//! `run` with the extender's address in a flag.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use schedc_fake_apiserver::Server;
use serde_json::json;

use crate::process::{Extender, program};

/// Timeout of a test, for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Process of the program. Dropping it kills the process.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_pod_is_bound_to_the_node_preferred_by_the_extender() {
    let (server, extender) = (Server::start(), Extender::start());
    for (name, memory) in [("large", "80"), ("small", "8"), ("middle", "16")] {
        drop(server.create(json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "annotations": {"example.com/gpu-memory": memory}},
            "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}},
        })));
    }
    drop(server.create(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "draws", "namespace": "default", "annotations": {"example.com/gpu-memory": "12"}},
        "spec": {"containers": [{"name": "c", "image": "c"}]},
    })));
    let kubeconfig = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kubeconfig-{}", std::process::id()));
    std::fs::write(&kubeconfig, server.kubeconfig()).unwrap();
    let kubeconfig_flag = format!("--kubeconfig={}", kubeconfig.display());
    let flags =
        ["run", "--leader-elect=false", "--secure-port=0", "--extender-url-prefix", &extender.url, &kubeconfig_flag];
    let running = Running(program(&flags).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let is_bound = server.wait(TIMEOUT, |server| {
        server.get("/api/v1/namespaces/default/pods/draws").is_some_and(|pod| pod["spec"]["nodeName"] == "middle")
    });
    drop(running);
    std::fs::remove_file(kubeconfig).unwrap();
    assert!(is_bound, "{:?}", server.get("/api/v1/namespaces/default/pods/draws"));
}
