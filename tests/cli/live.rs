//! Commands that read the objects of a cluster instead of files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use expect_test::expect;
use schedc_fake_apiserver::{Fault, FaultRule, Server};
use serde_json::{Value, json};

use crate::cli::harness::{EXAMPLE, Folder, Run};

/// Paths of the example's objects at a server, in the order in which commands read them.
const PATHS: &[&str] = &[
    "/api/v1/pods",
    "/api/v1/nodes",
    "/api/v1/services",
    "/apis/apps/v1/replicasets",
    "/apis/apps/v1/statefulsets",
    "/api/v1/persistentvolumes",
    "/api/v1/persistentvolumeclaims",
    "/apis/storage.k8s.io/v1/storageclasses",
    "/apis/policy/v1/poddisruptionbudgets",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
];

/// A server with the objects of the example, and a folder with its kubeconfig.
struct Cluster {
    server: Server,
    folder: Folder,
}

impl Cluster {
    fn start() -> Cluster {
        let server = Server::start();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for file in fs::read_dir(root.join(EXAMPLE)).expect("a folder") {
            let text = fs::read_to_string(file.expect("a file").path()).expect("a text");
            for document in text.split("\n---\n") {
                let document: Value = serde_saphyr::from_str(document).expect("YAML");
                match document["kind"] == "List" {
                    true => document["items"].as_array().into_iter().flatten().for_each(|item| create(&server, item)),
                    false => create(&server, &document),
                }
            }
        }
        let folder = Folder::with(&[("config", &server.kubeconfig())]);
        Cluster { server, folder }
    }

    /// Runs a command that reads the cluster.
    fn schedc(&self, args: &[&str]) -> Run {
        self.folder.schedc(&[args, &["--kubeconfig", "config"]].concat())
    }

    /// Returns the error of a command, without the address of the server.
    fn refused(&self, args: &[&str]) -> String {
        self.schedc(args).refused().replace(&self.server.url(), "SERVER")
    }

    /// Writes the objects, without finished pods, to a file, as kubectl prints them.
    fn dump(&self) -> &'static str {
        let is_finished = |item: &Value| matches!(item["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        let items = PATHS.iter().flat_map(|path| self.server.list(path)).filter(|item| !is_finished(item));
        let items: Vec<Value> = items.collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        fs::write(self.folder.path("dump.json"), list.to_string()).expect("a file");
        "dump.json"
    }
}

fn create(server: &Server, object: &Value) {
    let mut object = object.clone();
    // A real API server sets the priority and the preemption policy from the priority class.
    let (priority, policy) = match object["spec"]["priorityClassName"].as_str() {
        Some("background") => (-10, "Never"),
        Some("deadline") => (1000, "PreemptLowerPriority"),
        Some(_) => (100_000, "PreemptLowerPriority"),
        None => (0, "PreemptLowerPriority"),
    };
    if object["kind"] == "Pod" {
        object["spec"]["priority"] = priority.into();
        object["spec"]["preemptionPolicy"] = policy.into();
    }
    server.create(object);
}

#[test]
fn the_answers_for_a_cluster_are_those_for_its_objects_in_a_file() {
    let cluster = Cluster::start();
    let file = cluster.dump();
    for args in [
        &["simulate"][..],
        &["simulate", "--interpret", "default"],
        &["explain", "shop/web-1", "-o", "json"],
        &["explain", "-l", "app=web", "--after"],
    ] {
        let of_file = cluster.folder.schedc(&[args, &[file]].concat()).ok();
        let of_cluster = cluster.schedc(args).ok();
        let without_times =
            |text: &str| text.lines().filter(|line| !line.contains(" s to read, ")).collect::<Vec<_>>().join("\n");
        assert_eq!(without_times(&of_cluster), without_times(&of_file), "{args:?}");
    }
    let of_file = cluster.folder.schedc(&["diff", "default", "binpack", "--cluster", file]);
    let of_cluster = cluster.schedc(&["diff", "default", "binpack"]);
    assert_eq!((of_cluster.code, of_cluster.stdout), (of_file.code, of_file.stdout));
    assert_eq!(cluster.server.writes().len(), 0);
    assert_eq!(cluster.server.count_requests(|request| request.verb != "list"), 0);
}

#[test]
fn questions_about_a_cluster_have_the_answers_for_its_objects_in_a_file() {
    let cluster = Cluster::start();
    let file = cluster.dump();
    let new = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/workloads/storefront.yaml");
    let shape = "{apiVersion: v1, kind: Node, metadata: {name: large, annotations: {schedc/price: '10'}}, \
                 status: {allocatable: {cpu: 64, memory: 256Gi, pods: 110}}}";
    fs::write(cluster.folder.path("shapes.yaml"), shape).expect("a file");
    for args in [
        &["explain", "research/simulation", "-o", "json"][..],
        &["explain", "shop/web-1", "--against", "south-2"],
        &["check", "-f", new],
        &["capacity", "-f", new, "--pool-label", "topology.kubernetes.io/zone"],
        &["provision", "-f", new, "--shapes", "shapes.yaml"],
        &["drain", "north-1"],
        &["defragment"],
        &["defragment", "--for", new],
    ] {
        let of_file = cluster.folder.schedc(&[args, &[file]].concat());
        let of_cluster = cluster.schedc(args);
        assert!(!of_file.stdout.is_empty(), "{args:?}: {}", of_file.stderr);
        assert_eq!((of_cluster.code, of_cluster.stdout), (of_file.code, of_file.stdout), "{args:?}");
    }
    assert_eq!(cluster.server.writes().len(), 0);
}

#[test]
fn pending_pods_of_a_cluster_are_evaluated_by_priority() {
    let cluster = Cluster::start();
    cluster.server.merge("/api/v1/namespaces/shop/pods/web-3", json!({"spec": {"priority": 200_000}}));
    let result = cluster.schedc(&["evaluate"]).json();
    assert_eq!(result["id"], "default");
    let results = result["results"].as_array().expect("results");
    assert_eq!(results[0]["pod"], "shop/web-3");
    assert!(results.iter().all(|result| result["pod"] != "shop/web-0"), "it has a node");
    let only = cluster.schedc(&["evaluate", "--profile", "edge"]).json();
    assert_eq!(only["profile"], "edge");
}

#[test]
fn a_kubectl_plugin_explains_a_pod_of_the_current_cluster() {
    let cluster = Cluster::start();
    symlink(env!("CARGO_BIN_EXE_schedc"), cluster.folder.path("kubectl-schedc")).expect("a link");
    let plugin = |args: &str| cluster.folder.shell(&format!("KUBECONFIG=config ./kubectl-schedc explain {args}")).ok();
    assert_eq!(plugin("shop/web-1"), cluster.schedc(&["explain", "shop/web-1"]).ok());
    assert_eq!(plugin("-n shop -l app=web"), cluster.schedc(&["explain", "-n", "shop", "-l", "app=web"]).ok());
}

#[test]
fn large_lists_are_read_in_pages() {
    let server = Server::start();
    for number in 0..501 {
        server.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{number}")}}));
    }
    let folder = Folder::with(&[("config", &server.kubeconfig())]);
    let report = folder.schedc(&["simulate", "-o", "json", "--kubeconfig", "config"]).json();
    assert_eq!(report["summary"]["nodes"], 501);
    assert_eq!(server.count_requests(|request| request.path.starts_with("/api/v1/nodes?")), 2);
}

#[test]
fn kinds_that_a_server_lacks_have_no_objects() {
    let cluster = Cluster::start();
    cluster.server.rule(FaultRule::new(Fault::Respond(404, None)).path("/apis/resource.k8s.io/*"));
    cluster.server.rule(FaultRule::new(Fault::Respond(403, None)).path("/apis/scheduling.k8s.io/*"));
    let run = cluster.schedc(&["explain", "research/training-1"]);
    expect![[r#"
        note: priority classes are not read, because the user may not list them
    "#]]
    .assert_eq(&run.stderr);
    assert_eq!(run.code, Some(0));
}

#[test]
fn an_incomplete_cluster_is_an_error() {
    let cluster = Cluster::start();
    cluster.server.rule(FaultRule::new(Fault::Respond(403, None)).path("/api/v1/services"));
    expect![[r#"
        error: SERVER/api/v1/services: an injected fault
    "#]]
    .assert_eq(&cluster.refused(&["simulate"]));
    cluster.server.clear_rules();
    cluster.server.rule(FaultRule::new(Fault::Respond(404, None)).path("/api/v1/nodes"));
    expect![[r#"
        error: SERVER/api/v1/nodes: the server does not have this kind
    "#]]
    .assert_eq(&cluster.refused(&["explain", "shop/web-1"]));
}

#[test]
fn objects_come_from_only_one_source() {
    let folder = Folder::with(&[("config", "{}")]);
    let refused = |args: &[&str]| folder.schedc(args).refused();
    expect![[r#"
        error: nodes.yaml: objects come either from files or, with --live, --kubeconfig or --context, from a cluster
    "#]]
    .assert_eq(&refused(&["simulate", "--live", "nodes.yaml"]));
    expect![[r#"
        error: web-1: objects come either from files or, with --live, --kubeconfig or --context, from a cluster
    "#]]
    .assert_eq(&refused(&["explain", "-l", "app=web", "web-1", "--context", "c"]));
    expect![[r#"
        error: kubeconfig absent: the file cannot be read: No such file or directory (os error 2); name another with --kubeconfig, or with `clientConnection.kubeconfig` in the file of --config
    "#]]
    .assert_eq(&refused(&["simulate", "--kubeconfig", "absent"]));
    expect![[r#"
        error: no kubeconfig: neither --kubeconfig nor KUBECONFIG names one, and ~/.kube/config does not exist
    "#]]
    .assert_eq(&folder.shell("env -u KUBECONFIG -u KUBERNETES_SERVICE_HOST HOME=. schedc simulate --live").refused());
}
