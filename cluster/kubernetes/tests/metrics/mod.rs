//! After attempts with all outcomes, the metrics have kube-scheduler's names, types, labels and buckets.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use default_profile::Profiles;
use k8s_openapi::jiff::Timestamp;
use schedc_core::client::{ApiError, Client};
use schedc_core::column::CacheSize;
use schedc_core::erased::{AnyBundle, AnyClient, AnyScheduler};
use schedc_core::extension_points::Placement;
use schedc_core::minimal_cluster::InlineTasks;
use schedc_core::model::{Node, NonZero, Pod, PodSpec, PodUsage, Resources, Uid};
use schedc_core::scheduler::{Change, Options};
use schedc_kubernetes::driver::DriverHooks;
use schedc_kubernetes::health::Health;
use schedc_kubernetes::metrics::table::{self, Endpoint};
use schedc_kubernetes::metrics::{MeteredTransport, Metrics, MetricsHooks, MetricsSettings};
use schedc_kubernetes::transport::{
    ApiRequest, ApiResponse, RateLimitedTransport, RateLimiterConfig, RequestClass, Transport, TransportError, Verb,
};

const RECORDED: &str = include_str!("../recordings/metrics.tsv");

/// Labels of a series by name.
type Labels = BTreeMap<String, String>;

/// Metric family, read from the text format.
#[derive(Debug, Default)]
struct ParsedMetrics {
    kind: String,
    labels: BTreeSet<String>,
    bounds: Vec<String>,
    /// Values by labels, without buckets and sums.
    series: Vec<(Labels, f64)>,
}

fn read(text: &str) -> BTreeMap<String, ParsedMetrics> {
    let mut families: BTreeMap<String, ParsedMetrics> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        if line.starts_with("# HELP ") {
            continue;
        }
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (family, kind) = kind.split_once(' ').unwrap();
            name = family.to_owned();
            families.entry(name.clone()).or_default().kind = kind.to_owned();
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (of, labels) = series.split_once('{').unwrap_or((series, "}"));
        let suffix = of.strip_prefix(&name).unwrap();
        let labels = labels.strip_suffix('}').unwrap();
        let pairs = labels.strip_suffix('"').into_iter().flat_map(|pairs| pairs.split("\","));
        let mut labels: Labels = pairs
            .map(|pair| pair.split_once("=\"").unwrap())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let family = families.get_mut(&name).unwrap();
        if let Some(bound) = labels.remove("le") {
            assert_eq!(suffix, "_bucket");
            if !family.bounds.contains(&bound) {
                family.bounds.push(bound);
            }
            continue;
        }
        family.labels.extend(labels.keys().cloned());
        if suffix != "_sum" {
            family.series.push((labels, value.parse().unwrap()));
        }
    }
    families
}

fn value(read: &BTreeMap<String, ParsedMetrics>, name: &str, labels: &[(&str, &str)]) -> f64 {
    let labels: Labels = labels.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let series = &read.get(name).unwrap_or_else(|| panic!("no {name}")).series;
    let found = series.iter().find(|(known, _)| *known == labels);
    found.unwrap_or_else(|| panic!("{name} has no {labels:?} but {series:?}")).1
}

#[tokio::test]
async fn the_documentation_lists_the_caches() {
    let (main, _) = history().await;
    let caches = |name: &str| -> BTreeSet<String> {
        main[name].series.iter().map(|(labels, _)| labels["cache"].clone()).collect()
    };
    let (sizes, limits) = (caches("scheduler_internal_cache_size"), caches("scheduler_internal_cache_limit"));
    let page = include_str!("../../../../docs/metrics.md");
    let (_, page) = page.split_once("| `cache` |").unwrap();
    let documented: BTreeMap<String, bool> = page
        .lines()
        .skip(2)
        .map_while(|line| line.strip_prefix("| `")?.split_once("` | "))
        .map(|(cache, rest)| (cache.to_owned(), !rest.ends_with("| - |")))
        .collect();
    assert_eq!(sizes, documented.keys().cloned().collect());
    assert_eq!(limits, documented.into_iter().filter(|(_, has_limit)| *has_limit).map(|(cache, _)| cache).collect());
}

/// API server that responds at once.
#[derive(Clone)]
struct SuccessfulTransport;

impl Transport for SuccessfulTransport {
    async fn call(&self, _: RequestClass, call: ApiRequest) -> Result<ApiResponse, TransportError> {
        match call.path.as_str() {
            "/unreachable" => Err(TransportError::Lost("no response".into())),
            _ => Ok(ApiResponse { code: 201, retry_after: None, body: "{}".into() }),
        }
    }
    async fn sleep(&self, _: Duration) {}
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
    fn clock(&self) -> Duration {
        Duration::ZERO
    }
}

/// Cluster in which all writes succeed.
#[derive(Clone, Default)]
struct Cluster(Arc<Mutex<Vec<Uid>>>);

impl Client for Cluster {
    async fn bind(&self, _: &Placement) -> Result<(), ApiError> {
        Ok(())
    }
    async fn delete_pod(&self, pod: &Arc<Pod>) -> Result<(), ApiError> {
        self.0.lock().unwrap().push(pod.uid.clone());
        Ok(())
    }
    async fn sleep(&self, _: Duration) {}
}

const SECOND: i64 = 1_000_000_000;

struct Simulation {
    scheduler: Box<dyn AnyScheduler>,
    cluster: Cluster,
    tasks: InlineTasks,
    observed: MetricsHooks,
    now: i64,
}

impl Simulation {
    fn apply(&mut self, change: Change) {
        self.observed.before_change(&change, None, &mut *self.scheduler);
        self.scheduler.on_change(change, &mut self.tasks);
        self.observed.after_change(&*self.scheduler);
    }

    fn node(&mut self, name: &str, milli_cpu: i64) {
        let name = self.scheduler.base_mut().interner.intern(name);
        let allocatable = Resources { milli_cpu, ..Resources::default() };
        self.apply(Change::Node(Node { name, allocatable, allowed_pods: 110, ..Node::default() }));
    }

    fn pod(&mut self, name: &str, milli_cpu: i64, priority: i32, gate: Option<&str>) {
        let interner = &mut self.scheduler.base_mut().interner;
        let requests = Resources { milli_cpu, ..Resources::default() };
        let spec = PodSpec {
            namespace: interner.intern("default"),
            scheduler_name: interner.intern("default-scheduler"),
            priority,
            requests: requests.clone(),
            fit_score_requests: requests.clone(),
            balance_requests: requests.clone(),
            scheduling_gates: gate.map(|gate| interner.intern(gate)).into_iter().collect(),
            containers: 1,
            ..PodSpec::default()
        };
        let usage = PodUsage { requests, non_zero: NonZero { milli_cpu, memory: 0 } };
        self.apply(Change::Pod(Pod {
            uid: Uid(name.into()),
            namespace: "default".into(),
            name: name.into(),
            spec: Arc::new(spec),
            usage: Arc::new(usage),
            ..Pod::default()
        }));
    }

    /// Advances the time and runs everything that is due.
    fn run(&mut self, seconds: i64) {
        self.now += seconds * SECOND;
        self.scheduler.tick(self.now, &mut self.tasks);
        loop {
            let deleted = std::mem::take(&mut *self.cluster.0.lock().unwrap());
            deleted.into_iter().for_each(|pod| self.apply(Change::PodDeleted(pod)));
            while let Some(done) = self.tasks.pop() {
                self.scheduler.set_now(self.now);
                self.scheduler.on_completed(done, &mut self.tasks);
            }
            for outcome in self.scheduler.take_outcomes() {
                self.observed.on_outcome(&outcome, &*self.scheduler);
            }
            if !self.scheduler.schedule_one(&mut self.tasks, &mut self.observed) {
                return;
            }
        }
    }
}

/// Returns the metrics after a history in which each kind of counted event happens.
async fn history() -> (BTreeMap<String, ParsedMetrics>, BTreeMap<String, ParsedMetrics>) {
    let metrics = Metrics::new(MetricsSettings {
        profiles: vec!["default-scheduler"],
        host: "10.0.0.1:6443".into(),
        lease: Some("kube-scheduler".into()),
        health: Health::new(None),
        disabled: BTreeSet::new(),
    });
    let cluster = Cluster::default();
    let client = AnyClient::new(cluster.clone());
    let scheduler = AnyBundle::running::<Profiles>().scheduler(client, Options::default());
    let scheduler = scheduler.map_err(|errors| panic!("{errors:?}")).unwrap();
    let observed = MetricsHooks::new(metrics.clone());
    let mut simulation = Simulation { scheduler, cluster, tasks: InlineTasks::default(), observed, now: SECOND };
    simulation.node("a", 4000);
    simulation.node("b", 2000);
    simulation.pod("fits", 500, 0, None);
    simulation.pod("gated", 500, 0, Some("later"));
    simulation.run(0);
    simulation.pod("low-a", 3500, 0, None);
    simulation.pod("low-b", 1900, 0, None);
    simulation.pod("too-large", 9000, 0, None);
    simulation.run(3);
    simulation.pod("high", 3000, 10, None);
    simulation.run(3);
    simulation.node("c", 16000);
    simulation.run(10);

    let way = RateLimitedTransport::new(
        MeteredTransport::new(SuccessfulTransport, metrics.clone()),
        Some(RateLimiterConfig { qps: 50.0, burst: 100 }),
    );
    for (verb, path) in [(Verb::Create, "/x"), (Verb::Get, "/unreachable"), (Verb::StrategicPatch, "/y")] {
        let call = ApiRequest { verb, path: path.into(), body: vec![b'x'; 300].into() };
        let _answer = way.call(RequestClass::Bind, call).await;
    }
    // The event writer, the recording and the HTTPS server report these caches.
    for (cache, limit) in [
        ("access_reviews", 512),
        ("queued_events", 16_384),
        ("recorded_events", 16_384),
        ("recording_changes", 1_016_384),
        ("token_reviews", 1024),
    ] {
        way.report_cache(CacheSize::limited(cache, 1, limit));
    }
    // The driver reports these caches.
    for cache in ["known_objects", "pod_records"] {
        way.report_cache(CacheSize::of_objects(cache, 1));
    }
    let mut pages = Vec::new();
    for endpoint in [Endpoint::Metrics, Endpoint::Resources] {
        let page = metrics.render(endpoint);
        tokio::pin!(page);
        // Like the driver, provides the snapshot of the scheduler that the page requests.
        let page = loop {
            tokio::select! {
                biased;
                page = &mut page => break page,
                () = tokio::task::yield_now() => simulation.observed.on_turn(&mut *simulation.scheduler),
            }
        };
        pages.push(read(&page));
    }
    let [main, resources] = pages.try_into().unwrap();
    (main, resources)
}

#[tokio::test]
async fn metrics_have_the_types_labels_and_buckets_of_kube_scheduler() {
    let (main, resources) = history().await;
    for line in RECORDED.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let [_, name, kind, labels, bounds] = fields[..] else { panic!("{line}") };
        let Some(row) = table::row_of(name) else {
            assert!(!main.contains_key(name) && !resources.contains_key(name), "{name} is listed as absent");
            continue;
        };
        let page = if row.endpoints.contains(&Endpoint::Resources) { &resources } else { &main };
        let read = page.get(name).unwrap_or_else(|| panic!("{name} is not there"));
        assert_eq!(read.kind, kind, "{name}");
        assert_eq!(read.labels.iter().map(String::as_str).collect::<Vec<_>>().join(","), labels, "{name}");
        assert_eq!(read.bounds.join(","), bounds, "{name}");
    }
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let (main, resources) = history().await;
    let is = |name: &str, labels: &[(&str, &str)], expected: f64| {
        assert_eq!(value(&main, name, labels), expected, "{name} {labels:?}");
    };
    let profile = ("profile", "default-scheduler");
    // Bound pods: fits, low-a, low-b, high in the place of low-a, and too-large once node c exists.
    is("scheduler_schedule_attempts_total", &[profile, ("result", "scheduled")], 5.0);
    is("scheduler_scheduling_attempt_duration_seconds", &[profile, ("result", "scheduled")], 5.0);
    is("scheduler_pod_scheduling_attempts", &[], 5.0);
    is("scheduler_pod_scheduling_sli_duration_seconds", &[("attempts", "1")], 3.0);
    is("scheduler_pending_pods", &[("queue", "gated")], 1.0);
    is("scheduler_pending_pods", &[("queue", "active")], 0.0);
    is("scheduler_unschedulable_pods", &[("plugin", "SchedulingGates"), profile], 1.0);
    is("scheduler_queue_incoming_pods_total", &[("event", "UnschedulablePodAdd"), ("queue", "active")], 5.0);
    is("scheduler_queue_incoming_pods_total", &[("event", "UnschedulablePodAdd"), ("queue", "unschedulable")], 1.0);
    is("scheduler_preemption_victims", &[], 1.0);
    is("scheduler_preemption_goroutines_execution_total", &[("result", "success")], 1.0);
    is("scheduler_cache_size", &[("type", "nodes")], 3.0);
    is("scheduler_cache_size", &[("type", "pods")], 4.0);
    is("scheduler_cache_size", &[("type", "assumed_pods")], 4.0);
    // Each of the six pods has a separate template.
    is("scheduler_internal_cache_size", &[("cache", "templates")], 6.0);
    is("scheduler_internal_cache_limit", &[("cache", "templates")], 8192.0);
    is("scheduler_internal_cache_size", &[("cache", "recorded_events")], 1.0);
    is("scheduler_inflight_events", &[("event", "PodPopped")], 0.0);
    is("scheduler_event_handling_duration_seconds", &[("event", "NodeAdd")], 3.0);
    let bind = [("extension_point", "Bind"), profile, ("status", "Success")];
    is("scheduler_framework_extension_point_duration_seconds", &bind, 5.0);

    let (host, unanswered) = (("host", "10.0.0.1:6443"), ("code", "<error>"));
    is("rest_client_requests_total", &[("code", "201"), host, ("method", "POST")], 1.0);
    is("rest_client_requests_total", &[unanswered, host, ("method", "GET")], 1.0);
    is("rest_client_rate_limiter_duration_seconds", &[host, ("verb", "PATCH")], 1.0);

    let cores = &resources["kube_pod_resource_request"].series;
    let high = cores.iter().find(|(labels, _)| labels["pod"] == "high").unwrap();
    let text = |name: &str| high.0[name].as_str();
    assert_eq!((text("node"), text("priority"), text("unit"), high.1), ("a", "10", "cores", 3.0));
    assert_eq!(cores.iter().filter(|(labels, _)| labels["node"].is_empty()).count(), 1, "the gated pod");
}
