//! Time that an extender on loopback adds to a decision. Pods are scheduled in an in-memory cluster three times:
//! without an extender, with an extender that caches nodes, and with an extender that receives full nodes. The extender
//! is a separate process that accepts all nodes. Its responses have the fields of an extender in Go, but it does not
//! parse requests. The reported time is the median of all pods.
//!
//! `cargo run --release -p schedc-extender --example added_time [NODES [PODS]]`

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use schedc_core::extenders::{Overrides, Setting};
use schedc_core::profile::Bundle;
use schedc_core::scheduler;
use schedc_in_memory::simulator::{Options, Simulator};
use schedc_objects::AnyObject;
use serde_json::{Value, json};

mod without {
    schedc_macros::profile!("examples/profiles/without.toml");
}
mod names {
    schedc_macros::profile!("examples/profiles/names.toml");
}
mod nodes {
    schedc_macros::profile!("examples/profiles/nodes.toml");
}

/// Argument that makes the program the extender.
const EXTENDER: &str = "extender";

/// Returns a node with realistic labels, annotations, conditions and images.
fn node(at: usize) -> Value {
    let name = format!("node-{at:05}");
    let text = |n: usize| "x".repeat(n);
    let labels: serde_json::Map<String, Value> =
        (0..20).map(|n| (format!("example.com/{n}"), json!(text(20)))).collect();
    let conditions: Vec<Value> = ["MemoryPressure", "DiskPressure", "PIDPressure"]
        .map(|kind| json!({"type": kind, "status": "False", "reason": "KubeletHas", "message": text(40)}))
        .into();
    let images: Vec<Value> = (0..20)
        .map(|n| json!({"names": [format!("registry.example.com/{}:{n}", text(40))], "sizeBytes": 1000}))
        .collect();
    let amounts = json!({"cpu": "64", "memory": "256Gi", "pods": "110"});
    json!({
        "metadata": {"name": name, "uid": name, "labels": labels, "annotations": {"example.com/note": text(200)}},
        "spec": {"providerID": text(40)},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": conditions, "images": images},
    })
}

fn pod(at: usize) -> AnyObject {
    let name = format!("pod-{at:05}");
    let containers = json!([{"name": "c", "image": "c", "resources": {"requests": {"cpu": "100m"}}}]);
    let pod =
        json!({"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": {"containers": containers}});
    AnyObject::Pod(Box::new(serde_json::from_value(pod).expect("a pod")))
}

/// Prints its URL, then accepts all nodes in each response, until standard input ends.
fn serve(nodes: &[Value]) {
    let names: Vec<&Value> = nodes.iter().map(|node| &node["metadata"]["name"]).collect();
    let scores: Vec<Value> = names.iter().map(|name| json!({"Host": name, "Score": 5})).collect();
    let by_name = Arc::new(json!({"NodeNames": names}).to_string());
    let full_nodes = Arc::new(json!({"Nodes": {"items": nodes}}).to_string());
    let scores = Arc::new(json!(scores).to_string());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    println!("http://{}", listener.local_addr().expect("it has an address"));
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let (by_name, full_nodes, scores) = (by_name.clone(), full_nodes.clone(), scores.clone());
            thread::spawn(move || answer(socket, &by_name, &full_nodes, &scores));
        }
    });
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
}

/// Starts an extender process for this number of nodes, and returns it with its URL. The process ends together with
/// this program, because its standard input is then closed.
fn extender(count: usize) -> (Child, String) {
    let mut command = Command::new(env::current_exe().expect("it has a name"));
    command.args([EXTENDER, &count.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts again");
    let mut url = String::new();
    BufReader::new(child.stdout.take().expect("standard output is piped"))
        .read_line(&mut url)
        .expect("it prints its URL");
    (child, url.trim_end().to_owned())
}

fn answer(socket: TcpStream, by_name: &str, full_nodes: &str, scores: &str) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut socket = BufReader::with_capacity(1 << 16, socket);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        socket.read_line(&mut line).ok()?;
        loop {
            let mut header = String::new();
            socket.read_line(&mut header).ok()?;
            match header.trim_end().to_ascii_lowercase().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().ok()?,
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        socket.read_exact(&mut body).ok()?;
        let answer = match line.starts_with("POST /prioritize") {
            true => scores,
            false if body.ends_with(b"\"NodeNames\":null}") => full_nodes,
            false => by_name,
        };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", answer.len());
        socket.get_mut().write_all((head + answer).as_bytes()).ok()?;
    }
}

/// Returns the median scheduling time of a pod.
fn measure<B: Bundle>(nodes: &[Value], pods: usize, extenders: &'static Overrides) -> Duration {
    let scheduler = scheduler::Options { extenders, ..scheduler::Options::default() };
    let mut simulator = Simulator::of::<B>(Options { scheduler, ..Options::default() }).expect("it starts");
    for node in nodes {
        let node = serde_json::from_value(node.clone()).expect("a node");
        simulator.add(AnyObject::Node(Box::new(node))).expect("it has a name");
    }
    simulator.run();
    let mut times: Vec<Duration> = (0..pods)
        .map(|at| {
            let before = Instant::now();
            simulator.add(pod(at)).expect("it has a name");
            simulator.run();
            before.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[pods / 2]
}

fn main() {
    let mut numbers = env::args().skip(1).filter_map(|text| text.parse().ok());
    let (count, pods): (usize, usize) = (numbers.next().unwrap_or(1000), numbers.next().unwrap_or(200).max(1));
    let all: Vec<Value> = (0..count).map(node).collect();
    let bytes = all[0].to_string().len();
    if env::args().nth(1).as_deref() == Some(EXTENDER) {
        return serve(&all);
    }
    let (_extender, url) = extender(count);
    let mut overrides = Overrides::default();
    overrides.add(Setting::UrlPrefix, url);
    let overrides: &'static Overrides = Box::leak(Box::new(overrides));
    println!("{count} nodes of {bytes} bytes, {pods} pods, a filter and a prioritize call for each");
    let without = measure::<without::Profiles>(&all, pods, Overrides::NONE);
    println!("without an extender       {without:>10.1?} a pod");
    for (name, took) in [
        ("node-cache-capable       ", measure::<names::Profiles>(&all, pods, overrides)),
        ("sent whole nodes         ", measure::<nodes::Profiles>(&all, pods, overrides)),
    ] {
        let rate = 1.0 / took.as_secs_f64();
        println!(
            "{name} {took:>10.1?} a pod, {:.1?} of them for the extender; {rate:.0} pods/s",
            took.saturating_sub(without)
        );
    }
}
