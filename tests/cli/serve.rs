//! `schedc serve`

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::harness::{Folder, schedc};

const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: z}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: waiting}, spec: {containers: [{name: c, resources: {requests: {cpu: 8}}}]}}
";

/// A server for the cluster, on a free port.
struct Server {
    process: Child,
    address: String,
    _folder: Folder,
}

/// A response.
#[derive(Debug)]
struct Answer {
    status: u16,
    body: String,
}

impl Server {
    fn start(options: &[&str]) -> Self {
        Server::with_cluster(CLUSTER, options)
    }

    fn with_cluster(cluster: &str, options: &[&str]) -> Self {
        let folder = Folder::with(&[("cluster.yaml", cluster)]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedc"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(options).arg(folder.path("cluster.yaml"));
        let mut process = command.stdout(Stdio::piped()).spawn().expect("schedc starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("standard output")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on http://").expect("an address").to_owned();
        Server { process, address, _folder: folder }
    }

    /// Sends bytes and returns the response.
    fn send(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        // The server may refuse a request before the whole request is sent.
        let _refused = stream.write_all(request);
        let mut text = Vec::new();
        let _reset = stream.read_to_end(&mut text);
        let text = String::from_utf8(text).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no response: {text}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, body: body.to_owned() }
    }

    fn request(&self, method: &str, path: &str, body: &str) -> Answer {
        let host = &self.address;
        let length = body.len();
        self.send(
            format!(
                "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
                 Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            )
            .as_bytes(),
        )
    }

    fn ask(&self, path: &str, question: &Value) -> Value {
        self.request("POST", path, &question.to_string()).json(200)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

impl Answer {
    #[track_caller]
    fn json(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// Returns the code of an error.
    #[track_caller]
    fn code(&self, status: u16) -> String {
        let error = &self.json(status)["error"];
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
        error["code"].as_str().expect("a code").to_owned()
    }
}

fn pod(cpu: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
    })
}

#[test]
fn answers_are_those_of_the_commands() {
    let server = Server::start(&[]);
    let check = server.ask("/v1/check", &json!({"manifests": [pod(1)]}));
    assert_eq!(check["running"][0], json!({"pod": "default/new", "workload": "Pod default/new", "node": "n1"}));
    let capacity = server.ask("/v1/capacity", &json!({"manifests": pod(1).to_string()}));
    assert_eq!(capacity["pods"], 4);
    let explanation = server.ask("/v1/explain", &json!({"pod": "waiting"}));
    assert_eq!(explanation["remedies"]["found"][0]["changes"][0]["kind"], "LowerRequest", "{explanation}");
    assert_eq!(server.request("GET", "/healthz", "").json(200), json!({"status": "ok"}));
}

#[test]
fn the_description_lists_every_path() {
    let description = Server::start(&[]).request("GET", "/openapi.json", "").json(200);
    let paths: Vec<&String> = description["paths"].as_object().expect("paths").keys().collect();
    assert_eq!(paths, ["/healthz", "/openapi.json", "/v1/capacity", "/v1/check", "/v1/explain"]);
    assert!(description["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
}

#[test]
fn wrong_requests_are_errors_with_a_code() {
    let server = Server::start(&[]);
    let post = |path: &str, body: &str| server.request("POST", path, body);
    assert_eq!(post("/v1/unknown", "{}").code(404), "unknown_path");
    assert_eq!(server.request("GET", "/v1/check", "").code(405), "wrong_method");
    assert_eq!(server.request("POST", "/openapi.json", "").code(405), "wrong_method");
    assert_eq!(post("/v1/check", "{").code(400), "bad_json");
    assert_eq!(post("/v1/check", "{\"manifests\": [], \"sed\": 1}").code(400), "bad_json");
    assert_eq!(post("/v1/check", &json!({"manifests": "a: [b"}).to_string()).code(400), "bad_manifests");
    assert_eq!(post("/v1/check", &json!({"manifests": [{"kind": "Pod"}]}).to_string()).code(400), "bad_manifests");
    assert_eq!(post("/v1/explain", "{\"pod\": \"missing\"}").code(404), "unknown_pod");
    assert_eq!(post("/v1/explain", "{\"pod\": \"waiting\", \"against\": \"n9\"}").code(404), "unknown_pod");
    assert_eq!(post("/v1/capacity", &json!({"manifests": [pod(1)], "max": 0}).to_string()).code(400), "bad_json");
    assert_eq!(post("/v1/explain", &json!({"pod": "a", "maxRemedies": 21}).to_string()).code(400), "bad_json");
    let many = json!({"manifests": [{
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 50_000, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    }]});
    assert_eq!(post("/v1/check", &many.to_string()).code(422), "too_many_pods");
}

#[test]
fn pods_of_all_pools_together_are_limited() {
    let server = Server::start(&[]);
    let ask = |max: usize| {
        let question = json!({"manifests": [pod(1)], "poolLabel": "zone", "max": max});
        server.request("POST", "/v1/capacity", &question.to_string())
    };
    assert_eq!(ask(5_000).json(200)["pools"][0]["alone"]["pods"], 4);
    assert_eq!(ask(5_001).code(422), "too_many_pods");
    let node = |at| {
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{at}"), "labels": {"zone": format!("z{at}")}},
            "status": {"allocatable": {"cpu": 4, "pods": 10}},
        })
    };
    let nodes: Vec<String> = (0..40).map(|at| node(at).to_string()).collect();
    let server = Server::with_cluster(&nodes.join("\n---\n"), &[]);
    let question = json!({"manifests": [pod(1)], "poolLabel": "zone"}).to_string();
    assert_eq!(server.request("POST", "/v1/capacity", &question).code(422), "too_many_pools");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_server_while_all_connections_are_in_use() {
    let mut server = Server::start(&[]);
    // More connections than the server accepts at once; the others wait in the queue of the operating system.
    let connections: Vec<TcpStream> =
        (0..70).map(|_| TcpStream::connect(&server.address).expect("a connection")).collect();
    let id = server.process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().is_ok_and(|status| status.success()));
    assert_eq!(server.process.wait().expect("the end of the process").code(), Some(0));
    drop(connections);
}

#[test]
fn other_content_types_and_hosts_are_refused() {
    let server = Server::start(&[]);
    let text = "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(server.send(text.as_bytes()).code(415), "wrong_type");
    let rebound = "GET /openapi.json HTTP/1.1\r\nHost: example.com\r\n\r\n";
    assert_eq!(server.send(rebound.as_bytes()).code(403), "wrong_host");
}

#[test]
fn deep_nesting_is_an_error() {
    let server = Server::start(&[]);
    let nested = format!("{{\"manifests\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(server.request("POST", "/v1/check", &nested).code(400), "bad_json");
    let yaml = format!("apiVersion: v1\nkind: Pod\nmetadata: {}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(server.request("POST", "/v1/check", &json!({"manifests": yaml}).to_string()).code(400), "bad_manifests");
}

/// Extreme numbers must not cause an overflow. In this build, an overflow panics, and the server answers `failed`.
#[test]
fn extreme_numbers_are_answered_or_refused() {
    let (most, least) = ("9223372036854775807", "1n");
    // Only the first four quantities are valid requests, so only these are in the cluster.
    let valid = 4;
    let quantities = ["9E", "8Ei", "1e18", most, "-9223372036854775808", least, "1e-30"];
    let pods = |spec: &str| {
        let pod = |at: usize, amount: &str| {
            format!(
                "{{apiVersion: v1, kind: Pod, metadata: {{name: p{at}, labels: {{app: web}}}}, spec: {{{spec} containers: [\
                 {{name: a, image: i, resources: {{requests: {{cpu: '{amount}', memory: '{amount}', example.com/gpu: '{amount}'}}}}}}, \
                 {{name: b, image: i, resources: {{requests: {{cpu: '{amount}', memory: '{amount}'}}}}}}]}}}}"
            )
        };
        quantities.iter().enumerate().map(|(at, amount)| pod(at, amount)).collect::<Vec<String>>()
    };
    let node = |at: usize, amount: &str| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: n{at}, labels: {{zone: z{at}}}}}, status: {{allocatable: \
             {{cpu: '{amount}', memory: '{amount}', pods: '{amount}', example.com/gpu: '{amount}'}}}}}}"
        )
    };
    let mut cluster: Vec<String> = [most, "8Ei", "0", "4"].iter().enumerate().map(|(at, n)| node(at, n)).collect();
    cluster.extend(pods("nodeName: n1, ").iter().take(valid).map(|pod| pod.replace("name: p", "name: q")));
    cluster.extend(pods("priority: -2147483648, ").into_iter().take(valid));
    let server = Server::with_cluster(&cluster.join("\n---\n"), &[]);
    let spread = "topologySpreadConstraints: [{topologyKey: zone, maxSkew: 2147483647, minDomains: 2147483647, \
                  whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}], ";
    let mut manifests: Vec<String> =
        ["", spread, "priority: 1000000000, "].iter().flat_map(|spec| pods(spec)).collect();
    let set = |number: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: s}}, spec: {{serviceName: s, {number}, selector: \
             {{matchLabels: {{app: s}}}}, template: {{metadata: {{labels: {{app: s}}}}, spec: {{containers: [{{name: c, image: i}}]}}}}}}}}"
        )
    };
    manifests.extend(["replicas: 2147483647", "replicas: -1", "replicas: 2, ordinals: {start: 2147483647}"].map(set));
    let check = |path: &str, question: &Value| {
        let Answer { status, body } = server.request("POST", path, &question.to_string());
        assert!(matches!(status, 200 | 400 | 422), "{question}: {status} {body}");
    };
    for manifest in &manifests {
        check("/v1/check", &json!({"manifests": manifest}));
        check("/v1/capacity", &json!({"manifests": manifest, "max": 3, "ratio": [65535], "poolLabel": "zone"}));
    }
    for at in 0..valid {
        for pod in ["p", "q"] {
            let question = json!({"pod": format!("{pod}{at}"), "after": true, "seed": u64::MAX, "maxRemedies": 20, "against": "n0"});
            check("/v1/explain", &question);
        }
    }
}

#[test]
fn large_bodies_are_refused_with_and_without_their_length() {
    let server = Server::start(&["--max-body", "1000"]);
    let body = format!("{{\"manifests\": \"{}\"}}", "x".repeat(100_000));
    assert_eq!(server.request("POST", "/v1/check", &body).code(413), "too_large");
    let head = "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n", 2000, "x".repeat(2000));
    assert_eq!(server.send(chunked.as_bytes()).code(413), "too_large");
    let claimed = format!("{head}Content-Length: 99999999999\r\n\r\n");
    assert_eq!(server.send(claimed.as_bytes()).code(413), "too_large");
    server.ask("/v1/check", &json!({"manifests": [pod(1)]}));
}

#[test]
fn a_slow_body_ends_with_an_error_and_does_not_block_others() {
    let server = Server::start(&["--timeout", "1"]);
    let mut slow = TcpStream::connect(&server.address).expect("a connection");
    let head =
        "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
    slow.write_all(head.as_bytes()).expect("a request");
    assert_eq!(server.request("GET", "/healthz", "").status, 200);
    let mut text = String::new();
    slow.read_to_string(&mut text).expect("a response");
    assert!(text.starts_with("HTTP/1.1 408") && text.contains("slow_request"), "{text}");
}

#[test]
fn remote_addresses_and_standard_input_are_refused() {
    let error = schedc(&["serve", "--listen", "0.0.0.0:0", "examples/cluster"]).refused();
    assert!(error.contains("can be reached from other machines") && error.contains("--allow-remote"), "{error}");
    let error = schedc(&["serve", "-"]).refused();
    assert!(error.contains("standard input cannot be read again"), "{error}");
}
