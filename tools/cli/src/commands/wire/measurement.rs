//! The measurement: load on a fake API server, and the scheduler's reaction.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use schedc_fake_apiserver::{RecordedRequest, Server};
use serde_json::{Value, json};

use super::report::{Latency, Load, Start, WireReport};
use super::scheduler::Scheduler;
use crate::commands::failure::Failure;

/// Arrival rates, in pods per second.
const RATES: [u32; 2] = [20, 500];
/// Number of nodes at the measured start.
const START_NODES: usize = 100;
/// Number of pods at the measured start.
const START_PODS: usize = 1000;
/// Number of pods with the same template, as the pods of a Deployment have.
const PODS_OF_TEMPLATE: usize = 50;
/// Interval of the status patches of a kubelet, in seconds.
const HEARTBEAT_INTERVAL: u32 = 300;
/// Time after which the scheduler has written the events of bound pods and is idle.
const SETTLING_TIME: Duration = Duration::from_secs(2);

/// Settings of the measurement.
pub(super) struct Measurement {
    /// The measured program.
    pub(super) program: PathBuf,
    /// Scheduler name of the pods.
    pub(super) scheduler_name: &'static str,
    /// Number of nodes.
    pub(super) nodes: usize,
    /// Number of seconds of each load.
    pub(super) seconds: u32,
    /// Whether the API server uses TLS.
    pub(super) has_tls: bool,
}

impl Measurement {
    /// Measures the loads, the idle scheduler, and the start.
    pub(super) fn run(&self) -> Result<WireReport, Failure> {
        let server = self.server(self.nodes);
        let mut scheduler = Scheduler::start(&self.program, &server)?;
        scheduler.wait_until_ready()?;
        thread::sleep(SETTLING_TIME);
        let mut pods = 0;
        let loads = RATES.map(|rate| self.load(rate, &mut pods, &server, &mut scheduler));
        let loads = loads.into_iter().collect::<Result<Vec<_>, _>>()?;
        let time = Duration::from_secs(self.seconds.into());
        let idle_cpu_percent = cpu_percent(&scheduler, || thread::sleep(time));
        let heartbeat_cpu_percent = cpu_percent(&scheduler, || self.send_heartbeats(&server));
        drop(scheduler);
        let size = fs::metadata(&self.program).ok().map(|file| file.len() as f64 / 1e6);
        Ok(WireReport {
            nodes: self.nodes,
            loads,
            idle_cpu_percent,
            heartbeat_cpu_percent,
            start: self.start()?,
            program_mb: size,
        })
    }

    fn server(&self, nodes: usize) -> Server {
        let server = if self.has_tls { Server::start_tls() } else { Server::start() };
        (0..nodes).for_each(|number| drop(server.create(node(number))));
        server
    }

    /// Creates pods at a constant rate, waits until all are bound, and returns the measurements. `pods` is the number of all
    /// pods so far.
    fn load(&self, rate: u32, pods: &mut usize, server: &Server, scheduler: &mut Scheduler) -> Result<Load, Failure> {
        let count = (rate * self.seconds) as usize;
        let (before, cpu_before) = (scheduler.watch_to_bind()?, scheduler.cpu_time());
        let numbers = *pods..*pods + count;
        *pods = numbers.end;
        at_rate(numbers, f64::from(rate), |number| drop(server.create(pod(number, self.scheduler_name))));
        scheduler.wait_until("all pods are bound", |_| server.count_requests(is_binding) >= *pods)?;
        thread::sleep(SETTLING_TIME);
        let cpu = scheduler.cpu_time().zip(cpu_before).map(|(after, before)| after.saturating_sub(before));
        let observations = scheduler.watch_to_bind()?.since(&before);
        if observations.count() == 0 {
            return Err(Failure::new("the scheduler counted no binding in scheduler_watch_to_bind_duration_seconds"));
        }
        Ok(Load {
            pods_per_s: rate,
            pods: count,
            latency_us: Latency { p50: observations.quantile_us(0.5), p99: observations.quantile_us(0.99) },
            cpu_us_per_pod: cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / count as f64),
            resident_mb: scheduler.resident_mb(),
        })
    }

    /// Patches the status of nodes, as kubelets do when nothing changed.
    fn send_heartbeats(&self, server: &Server) {
        let rate = self.nodes as f64 / f64::from(HEARTBEAT_INTERVAL);
        let count = (rate * f64::from(self.seconds)).ceil() as usize;
        at_rate(0..count, rate, |number| {
            let patch = json!({"status": {"conditions": conditions(number % 60)}});
            server.merge(&format!("/api/v1/nodes/node-{}", number % self.nodes), patch);
        });
    }

    /// Measures the start of a scheduler in a cluster that already has pending pods.
    fn start(&self) -> Result<Start, Failure> {
        let server = self.server(START_NODES);
        (0..START_PODS).for_each(|number| drop(server.create(pod(number, self.scheduler_name))));
        let mut scheduler = Scheduler::start(&self.program, &server)?;
        scheduler.wait_until("all pods are bound", |_| server.count_requests(is_binding) >= START_PODS)?;
        thread::sleep(SETTLING_TIME);
        let first = server.requests().into_iter().find(is_binding).map(|binding| binding.at);
        let first = first.unwrap_or(scheduler.started).duration_since(scheduler.started);
        Ok(Start {
            nodes: START_NODES,
            pods: START_PODS,
            first_binding_ms: first.as_secs_f64() * 1e3,
            resident_mb: scheduler.resident_mb(),
        })
    }
}

/// Returns the CPU time of the scheduler during an action, in percent of a core.
fn cpu_percent(scheduler: &Scheduler, action: impl FnOnce()) -> Option<f64> {
    let (before, since) = (scheduler.cpu_time(), Instant::now());
    action();
    let (after, took) = (scheduler.cpu_time()?, since.elapsed());
    Some(after.saturating_sub(before?).as_secs_f64() / took.as_secs_f64() * 100.0)
}

/// Calls `act` for each number, `rate` times per second.
fn at_rate(numbers: std::ops::Range<usize>, rate: f64, act: impl Fn(usize)) {
    let start = Instant::now();
    for (turn, number) in numbers.enumerate() {
        act(number);
        let next = start + Duration::from_secs_f64((turn + 1) as f64 / rate);
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

fn is_binding(request: &RecordedRequest) -> bool {
    request.verb == "create" && request.path.ends_with("/binding") && request.code == 201
}

fn conditions(second: usize) -> Value {
    json!([{"type": "Ready", "status": "True", "lastHeartbeatTime": format!("2026-01-01T00:00:{second:02}Z")}])
}

fn node(number: usize) -> Value {
    let name = format!("node-{number}");
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name,
            "topology.kubernetes.io/zone": format!("zone-{}", number % 3),
        }},
        "status": {
            "allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"},
            "conditions": conditions(0),
        },
    })
}

fn pod(number: usize, scheduler_name: &str) -> Value {
    let toleration = json!({
        "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
    });
    let requests = json!({"cpu": "100m", "memory": "200Mi"});
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("web-{number}"), "namespace": "default",
            "labels": {"app": format!("web-{}", number / PODS_OF_TEMPLATE)},
        },
        "spec": {
            "schedulerName": scheduler_name,
            "tolerations": [toleration],
            "containers": [
                {"name": "web", "image": "registry.example.com/web:1", "resources": {"requests": requests}},
            ],
        },
    })
}
