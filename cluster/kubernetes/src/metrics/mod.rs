//! kube-scheduler's metrics, under its names, in Prometheus' text format.
//!
//! | module | content |
//! |---|---|
//! | [`table`] | every metric of kube-scheduler, with its implementation or the reason of its absence |
//! | [`family`] | definitions of metrics |
//! | [`values`] | counters and histograms |
//! | `hooks` | driver hooks that record metrics |
//! | `scheduling` | scheduling attempts, as the driver reports them |
//! | `extenders` | extender calls |
//! | `scheduler_counts` | counts that the scheduler reports on request |
//! | `resources` | resource requests of each pod |
//! | `rest_client` | requests to the API server |
//! | `shadow` | agreement with kube-scheduler, in shadow mode |
//! | `process` | the process, as Linux reports it |
//! | [`exposition`], [`number`] | the text format |
//!
//! No metrics library is used. The text must equal Go's down to the digits of a bucket bound, which libraries do not
//! guarantee. Most values are computed on request, so little counting would be left to a library.

pub mod exposition;
pub mod family;
pub mod number;
pub mod table;
pub mod values;

mod extenders;
mod hooks;
mod process;
mod resources;
mod rest_client;
mod scheduler_counts;
mod scheduling;
mod shadow;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use schedc_core::column::CacheSize;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

pub use hooks::MetricsHooks;
pub use rest_client::MeteredTransport;

use crate::shadow::ShadowCounts;
use exposition::Exposition;
use extenders::ExtenderMetrics;
use rest_client::RestClientMetrics;
use scheduler_counts::SchedulerCounts;
use scheduling::AttemptMetrics;
use table::Endpoint;
use values::{Histogram, MetricVec};

use crate::KUBERNETES_VERSION;
use crate::health::Health;
use crate::serving::Endpoints;

/// Maximum time that a scrape waits for the scheduler, which may be busy. After that, the last reported counts are
/// returned.
const SCRAPE_TIMEOUT: Duration = Duration::from_secs(2);

/// Settings of the metrics.
#[derive(Clone, Debug)]
pub struct MetricsSettings {
    /// Scheduler name of each profile.
    pub profiles: Vec<&'static str>,
    /// Host of the API server, with its port if it is given.
    pub host: String,
    /// Name of the lease; `None` without an election.
    pub lease: Option<String>,
    /// State of the scheduler.
    pub health: Health,
    /// `--disabled-metrics`.
    pub disabled: BTreeSet<String>,
}

/// All metrics. Clones share them.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: MetricsSettings,
    attempts: AttemptMetrics,
    extenders: ExtenderMetrics,
    requests: RestClientMetrics,
    watch_to_bind: Histogram,
    checks: Mutex<Checks>,
    /// Sizes of the caches outside of the scheduler.
    caches: Mutex<BTreeMap<&'static str, CacheSize>>,
    snapshot_requests: SnapshotRequests,
    /// Counts of the shadow mode, if it runs.
    shadow: OnceLock<ShadowCounts>,
}

/// Results of health checks: counts, and the last result of each check.
#[derive(Debug, Default)]
struct Checks {
    counts: Vec<(Check, u64)>,
    last: Vec<((&'static str, &'static str), bool)>,
}

/// Name and kind of a check, and its result.
type Check = (&'static str, &'static str, bool);

/// Requests to the driver for a snapshot of the counts.
#[derive(Debug, Default)]
struct SnapshotRequests {
    /// Whether a snapshot is requested.
    is_open: AtomicBool,
    /// Whether the snapshot must contain the resource requests of all pods.
    includes_requests: AtomicBool,
    snapshot_requested: Notify,
    snapshots: watch::Sender<Arc<SchedulerCounts>>,
}

impl Metrics {
    /// Creates metrics without values.
    pub fn new(settings: MetricsSettings) -> Self {
        Metrics(Arc::new(Inner {
            attempts: AttemptMetrics::new(&settings.profiles),
            extenders: ExtenderMetrics::default(),
            requests: RestClientMetrics::new(settings.host.as_str().into()),
            watch_to_bind: Histogram::new(&table::WATCH_TO_BIND),
            checks: Mutex::default(),
            caches: Mutex::default(),
            snapshot_requests: SnapshotRequests::default(),
            shadow: OnceLock::new(),
            settings,
        }))
    }

    /// Waits until a snapshot is requested, which [`MetricsHooks`] then takes.
    async fn snapshot_requested(&self) {
        self.0.snapshot_requests.snapshot_requested.notified().await;
    }

    fn requests(&self) -> &RestClientMetrics {
        &self.0.requests
    }

    fn caches(&self) -> MutexGuard<'_, BTreeMap<&'static str, CacheSize>> {
        self.0.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renders the metrics of an endpoint. Waits a limited time for a snapshot of the scheduler.
    pub async fn render(&self, endpoint: Endpoint) -> String {
        let counts = match endpoint {
            Endpoint::Slis => Arc::default(),
            Endpoint::Metrics | Endpoint::Resources => self.request_snapshot(endpoint == Endpoint::Resources).await,
        };
        self.write(endpoint, &counts)
    }

    async fn request_snapshot(&self, with_requests: bool) -> Arc<SchedulerCounts> {
        let SnapshotRequests { is_open, includes_requests, snapshot_requested, snapshots } = &self.0.snapshot_requests;
        let mut snapshot = snapshots.subscribe();
        snapshot.mark_unchanged();
        includes_requests.fetch_or(with_requests, Relaxed);
        is_open.store(true, Relaxed);
        snapshot_requested.notify_one();
        let received = async {
            while snapshot.changed().await.is_ok() {
                if !with_requests || snapshot.borrow().requests.is_some() {
                    return;
                }
            }
        };
        // After a timeout, the last snapshot is used.
        let _received = timeout(SCRAPE_TIMEOUT, received).await;
        self.0.snapshot_requests.snapshots.borrow().clone()
    }

    /// Adds the counts of the shadow mode. A second call has no effect.
    pub fn count_shadow_decisions(&self, shadow_counts: ShadowCounts) {
        let _first = self.0.shadow.set(shadow_counts);
    }

    fn write(&self, endpoint: Endpoint, counts: &SchedulerCounts) -> String {
        let Inner { settings, attempts, extenders, requests, watch_to_bind, checks, .. } = &*self.0;
        let mut exposition = Exposition::new(&settings.disabled);
        match endpoint {
            Endpoint::Metrics => {
                write_versions(&mut exposition);
                self.write_registry(&mut exposition);
                if let Some(lease) = &settings.lease {
                    let leads = f64::from(u8::from(settings.health.is_leading()));
                    exposition.number(&table::LEADER_ELECTION, &[lease], leads);
                }
                process::write(&mut exposition);
                requests.write(&mut exposition);
                attempts.write(&mut exposition);
                exposition.histogram(&table::WATCH_TO_BIND, &[], watch_to_bind);
                extenders.write(&mut exposition);
                counts.write(&mut exposition, attempts);
                scheduler_counts::write_caches(self.caches().values(), &mut exposition);
                if let Some(shadow_counts) = self.0.shadow.get() {
                    shadow::write(shadow_counts, &settings.profiles, &mut exposition);
                }
            }
            Endpoint::Resources => {
                if let Some(requests) = &counts.requests {
                    requests.write(&mut exposition);
                }
            }
            Endpoint::Slis => {
                checks.lock().unwrap_or_else(PoisonError::into_inner).write(&mut exposition);
                process::write_start(&mut exposition);
            }
        }
        exposition.text()
    }

    fn write_registry(&self, exposition: &mut Exposition<'_>) {
        let disabled = &self.0.settings.disabled;
        exposition.number(&table::DISABLED_METRICS, &[], disabled.len() as f64);
        exposition.number(&table::HIDDEN_METRICS, &[], 0.0);
        let registered = MetricVec::default();
        table::ROWS.iter().chain(table::OWN).for_each(|row| registered.increment(&row.family.stability));
        registered.each(|stability, count| {
            exposition.number(&table::REGISTERED_METRICS, &["", stability.name()], *count as f64);
        });
    }
}

impl Endpoints for Metrics {
    fn metrics(&self) -> BoxFuture<'_, String> {
        Box::pin(self.render(Endpoint::Metrics))
    }
    fn resources(&self) -> BoxFuture<'_, String> {
        Box::pin(self.render(Endpoint::Resources))
    }
    fn slis(&self) -> BoxFuture<'_, String> {
        Box::pin(self.render(Endpoint::Slis))
    }
    fn checked(&self, check: &'static str, path: &'static str, passed: bool) {
        self.0.checks.lock().unwrap_or_else(PoisonError::into_inner).add(check, path, passed);
    }
}

impl Checks {
    fn add(&mut self, name: &'static str, kind: &'static str, is_ok: bool) {
        let check = (name, kind, is_ok);
        match self.counts.iter_mut().find(|(known, _)| *known == check) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((check, 1)),
        }
        match self.last.iter_mut().find(|(known, _)| *known == (name, kind)) {
            Some((_, last)) => *last = is_ok,
            None => self.last.push(((name, kind), is_ok)),
        }
    }

    fn write(&self, exposition: &mut Exposition<'_>) {
        for ((name, kind, is_ok), count) in &self.counts {
            let status = if *is_ok { "success" } else { "error" };
            exposition.number(&table::HEALTHCHECKS, &[name, status, kind], *count as f64);
        }
        for ((name, kind), is_ok) in &self.last {
            exposition.number(&table::HEALTHCHECK, &[name, kind], f64::from(u8::from(*is_ok)));
        }
    }
}

fn write_versions(exposition: &mut Exposition<'_>) {
    let [version, major, minor] =
        [env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")];
    // Architecture names as in Go.
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let platform = format!("{}/{architecture}", std::env::consts::OS);
    let labels = ["", "rustc", "", "", &format!("v{version}"), "", major, minor, &platform];
    exposition.number(&table::BUILD_INFO, &labels, 1.0);
    exposition.number(&table::VERSION_INFO, &[version, "schedc", KUBERNETES_VERSION, KUBERNETES_VERSION], 1.0);
}

#[cfg(test)]
mod tests;
