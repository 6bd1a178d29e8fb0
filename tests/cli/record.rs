//! `schedc record` and `schedc replay`.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use expect_test::expect;
use schedc_fake_apiserver::Server;
use serde_json::{Value, json};

use crate::cli::harness::Folder;

/// Timeout of a test, for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn node(name: &str, cpu: &str) -> Value {
    let status = json!({"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
}

fn pod(name: &str, cpu: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{
            "name": "c", "image": "i", "env": [{"name": "TOKEN", "value": "s3cret"}],
            "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}},
        }]},
    })
}

fn bind(server: &Server, pod: &str, node: &str) {
    server.merge(&format!("/api/v1/namespaces/default/pods/{pod}"), json!({"spec": {"nodeName": node}}));
}

fn reject(server: &Server, pod: &str, message: &str) {
    let condition = json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message});
    let status = json!({"status": {"conditions": [condition]}});
    server.merge(&format!("/api/v1/namespaces/default/pods/{pod}"), status);
}

/// A server, and a folder for its kubeconfig and a recording.
struct Cluster {
    server: Server,
    folder: Folder,
}

/// A running recorder. Dropping it kills the process.
struct RecorderProcess(Child);

impl Drop for RecorderProcess {
    fn drop(&mut self) {
        // The process may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl RecorderProcess {
    /// Sends SIGTERM, and waits for the end.
    fn stop(mut self) {
        let status = Command::new("kill").arg(self.0.id().to_string()).status();
        assert!(status.is_ok_and(|status| status.success()));
        assert_eq!(self.0.wait().expect("schedc ends").code(), Some(0));
    }
}

impl Cluster {
    fn start() -> Cluster {
        let server = Server::start();
        server.create(node("large", "8"));
        server.create(node("small", "2"));
        server.create(node("cordoned", "64"));
        server.merge("/api/v1/nodes/cordoned", json!({"spec": {"unschedulable": true}}));
        let folder = Folder::with(&[("config", &server.kubeconfig())]);
        Cluster { server, folder }
    }

    fn recorder(&self) -> RecorderProcess {
        self.recorder_with(&["recording"])
    }

    fn recorder_with(&self, args: &[&str]) -> RecorderProcess {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedc"));
        command.arg("record").args(args).args(["--kubeconfig", "config"]).current_dir(self.folder.path("."));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        RecorderProcess(child.expect("schedc starts"))
    }

    fn files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.folder.path("recording")).into_iter().flatten();
        let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
        files.sort();
        files
    }

    /// Replays the recording. Returns the output as JSON.
    fn replay(&self) -> Value {
        self.folder.schedc(&["replay", "recording", "-o", "json"]).json()
    }

    /// Waits until the recording satisfies a condition.
    #[track_caller]
    fn wait(&self, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
        self.wait_for("recording", what, condition)
    }

    #[track_caller]
    fn wait_for(&self, recording: &str, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let replay = || self.folder.schedc(&["replay", recording, "-o", "json"]);
        let found = self.server.wait(TIMEOUT, |_| report(&replay().stdout).is_some_and(|report| condition(&report)));
        let run = replay();
        assert!(found, "timeout: {what}: {}{}", run.stdout, run.stderr);
        report(&run.stdout).expect("a report")
    }
}

/// Parses the output of a replay; `None` if it failed, because the recording has no line yet.
fn report(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Returns the number of compared decisions.
fn compared(report: &Value) -> u64 {
    let counts = &report["agreement"][0];
    let kinds = ["sameBest", "lowerScore", "infeasible", "sameMessage", "otherMessage", "fits"];
    kinds.iter().filter_map(|kind| counts[kind].as_u64()).sum()
}

#[test]
fn recorded_decisions_are_compared_and_explained() {
    let cluster = Cluster::start();
    ["best", "worse", "impossible", "rejected"].iter().for_each(|name| drop(cluster.server.create(pod(name, "1"))));
    let recorder = cluster.recorder();
    cluster.wait("the snapshot", |report| report["objects"] == 7);
    bind(&cluster.server, "best", "large");
    bind(&cluster.server, "worse", "small");
    bind(&cluster.server, "impossible", "cordoned");
    reject(&cluster.server, "rejected", "0/2 nodes are available");
    cluster.wait("four decisions", |report| compared(report) >= 4);
    recorder.stop();
    let report = cluster.replay();
    let counts = &report["agreement"][0];
    let count = |name: &str| counts[name].as_u64();
    assert_eq!(
        (count("sameBest"), count("lowerScore"), count("infeasible")),
        (Some(1), Some(1), Some(1)),
        "{report:#}"
    );
    assert_eq!(count("fits"), Some(1));
    let difference_of = |pod: &str| {
        let all = report["disagreements"].as_array().into_iter().flatten();
        all.clone().find(|difference| difference["pod"] == pod).cloned().unwrap_or_default()
    };
    assert_eq!(difference_of("default/worse")["best"], json!(["large"]));
    assert!(difference_of("default/worse")["scores"].as_array().is_some_and(|scores| !scores.is_empty()));
    assert_eq!(difference_of("default/impossible")["reason"], "NodeUnschedulable: node(s) were unschedulable");
    let bytes = || cluster.folder.schedc(&["replay", "recording"]).ok();
    assert_eq!(bytes(), bytes(), "two replays print identical bytes");
    let run = cluster.folder.schedc(&["replay", "recording", "--report", "replay.html"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let page = fs::read_to_string(cluster.folder.path("replay.html")).expect("the report");
    assert!(["Agreement", "Disagreements", "best here", "default/worse"].iter().all(|text| page.contains(text)));
    assert_eq!(cluster.server.writes().len(), 0);
    assert_eq!(report["cut"], Value::Null);
}

#[test]
fn a_killed_recorder_continues_with_a_new_file() {
    let cluster = Cluster::start();
    cluster.server.create(pod("a", "1"));
    cluster.server.create(pod("b", "1"));
    let recorder = cluster.recorder();
    cluster.wait("the snapshot", |report| report["objects"] == 5);
    drop(recorder);
    bind(&cluster.server, "a", "large");
    let recorder = cluster.recorder();
    cluster.wait("the second snapshot", |report| report["files"] == 2 && report["objects"] == 5);
    bind(&cluster.server, "b", "large");
    cluster.wait("a decision", |report| compared(report) == 1);
    recorder.stop();
    let report = cluster.replay();
    assert_eq!((&report["restarts"], compared(&report)), (&json!(1), 1), "the decision in between is lost");
    assert_eq!(report["cut"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_expired_watch_is_a_repaired_gap() {
    let mut cluster = Cluster::start();
    cluster.server.create(pod("a", "1"));
    let recorder = cluster.recorder();
    cluster.wait("the snapshot", |report| report["objects"] == 4);
    // While the API server cannot be reached, an object changes, and the server discards the history of changes.
    cluster.server.stop();
    cluster.server.merge("/api/v1/nodes/small", json!({"metadata": {"labels": {"a": "b"}}}));
    cluster.server.compact();
    cluster.server.resume();
    let is_repaired = |report: &Value| report["gaps"].as_u64() > Some(0) && report["gaps"] == report["repaired"];
    cluster.wait("a repaired gap", is_repaired);
    bind(&cluster.server, "a", "large");
    let report = cluster.wait("a decision", |report| compared(report) == 1);
    assert_eq!(report["agreement"][0]["sameBest"], 1, "{report:#}");
    recorder.stop();
}

#[test]
fn once_records_the_present_objects_without_secrets() {
    let cluster = Cluster::start();
    cluster.server.create(pod("a", "1"));
    assert_eq!(cluster.folder.schedc(&["record", "recording", "--once", "--kubeconfig", "config"]).ok(), "");
    let [file] = &cluster.files()[..] else { panic!("one file") };
    let frames = fs::File::open(file).expect("a file");
    let text = zstd::decode_all(frames).expect("zstd");
    let text = String::from_utf8(text).expect("text");
    assert!(text.contains("\"name\":\"a\"") && text.contains("\"name\":\"large\""), "{text}");
    assert!(!text.contains("s3cret"), "{text}");
    let run = cluster.folder.schedc(&["replay", "recording"]);
    expect![[r#"
        kube-scheduler has made no decision

        0 ties; 1 files with 0 restarts and 0 gaps, 0 events of schedulers
    "#]]
    .assert_eq(&run.ok());
}

#[test]
fn invalid_recordings_are_errors_with_a_place() {
    let header = r#"{"at":0,"recording":{"version":1,"begin":"start","schedc":"0.1.0"}}"#;
    let folder = Folder::with(&[
        ("text", "nodes:\n"),
        ("object", &format!("{header}\n{{\"at\":1,\"set\":{{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"spec\":7}}}}\n")),
        ("empty/x", ""),
    ]);
    let refused = |name: &str| folder.schedc(&["replay", name]).refused();
    expect![[r#"
        error: text:1: this is not a line of a recording: expected ident at line 1 column 2
    "#]]
    .assert_eq(&refused("text"));
    let object = refused("object");
    assert!(object.starts_with("error: object:2: "), "{object}");
    expect![[r#"
        error: empty: is a folder without a recording
    "#]]
    .assert_eq(&refused("empty"));
    expect![[r#"
        error: absent: cannot be read: No such file or directory (os error 2)
    "#]]
    .assert_eq(&refused("absent"));
}

#[test]
fn an_anonymised_recording_has_the_same_decisions() {
    let cluster = Cluster::start();
    let zones = [("large", "zone-a"), ("small", "zone-b"), ("cordoned", "zone-a")];
    for (node, zone) in zones {
        let labels = json!({"topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": node, "disk": "fast-disk"});
        cluster.server.merge(&format!("/api/v1/nodes/{node}"), json!({"metadata": {"labels": labels}}));
    }
    let spread = json!([{
        "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["shop-web"]}]},
    }]);
    let selector = json!({"disk": "fast-disk"});
    for number in 0..6 {
        let mut pod = pod(&format!("shop-{number}"), "500m");
        pod["metadata"]["labels"] = json!({"app": "shop-web"});
        pod["spec"]["topologySpreadConstraints"] = spread.clone();
        pod["spec"]["nodeSelector"] = selector.clone();
        cluster.server.create(pod);
    }
    let recorders = [cluster.recorder(), cluster.recorder_with(&["other", "--anonymise"])];
    for recording in ["recording", "other"] {
        cluster.wait_for(recording, "the snapshot", |report| report["objects"] == 9);
    }
    for (number, node) in [(0, "large"), (1, "large"), (2, "small"), (3, "cordoned"), (4, "small")] {
        bind(&cluster.server, &format!("shop-{number}"), node);
    }
    reject(&cluster.server, "shop-5", "0/3 nodes are available: 3 no.");
    let [plain, other] = ["recording", "other"]
        .map(|recording| cluster.wait_for(recording, "six decisions", |report| compared(report) == 6));
    assert_eq!(plain["agreement"], other["agreement"]);
    let reasons = |report: &Value| {
        let all = report["disagreements"].as_array().into_iter().flatten();
        all.map(|difference| (difference["result"].clone(), difference["reason"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&plain), reasons(&other));
    assert!(reasons(&plain).len() > 2, "{plain:#}");
    let text = other.to_string();
    for name in ["shop-", "\"large\"", "\"small\"", "cordoned", "zone-a", "fast-disk"] {
        assert!(!text.contains(name), "{name}: {text}");
    }
    recorders.into_iter().for_each(RecorderProcess::stop);
}
