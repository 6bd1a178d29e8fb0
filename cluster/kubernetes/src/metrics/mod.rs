//! kube-scheduler's metrics, under its names, in the text that Prometheus reads.
//!
//! | module | idea |
//! |---|---|
//! | [`table`] | every metric of kube-scheduler: what is ours for it, or why there is none |
//! | [`family`] | what a metric is |
//! | [`values`] | what is counted |
//! | `scheduling` | attempts, as the scheduler's driver tells of them |
//! | `extenders` | calls of extenders |
//! | `scheduler_counts` | what is counted when somebody asks |
//! | `resources` | what each pod asks for |
//! | `rest_client` | requests to the API server |
//! | `process` | what the system says of the process |
//! | [`exposition`], [`number`] | the text |
//!
//! A registry of our own, since all that libraries would do is to count: what is written has to be Go's to the letter of a
//! bound, which theirs is not, and most of it is looked up when it is asked for.

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

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
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
use values::MetricVec;

use crate::KUBERNETES_VERSION;
use crate::health::Health;
use crate::serving::Endpoints;

/// How long who reads metrics waits for the scheduler, which may be busy: then what it said last has to do.
const SCRAPE_TIMEOUT: Duration = Duration::from_secs(2);

/// What is to be known beforehand.
#[derive(Clone, Debug)]
pub struct MetricsSettings {
    /// The scheduler name of each profile.
    pub profiles: Vec<&'static str>,
    /// The API server's host, and its port if it is given.
    pub host: String,
    /// The name of the lease. `None`: there is no election.
    pub lease: Option<String>,
    /// Whether we lead.
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
    checks: Mutex<Checks>,
    snapshot_requests: SnapshotRequests,
    /// Who judges kube-scheduler, if anybody does.
    shadow: OnceLock<ShadowCounts>,
}

/// Checks of health: how often each was asked for with which answer, and the last one.
#[derive(Debug, Default)]
struct Checks {
    counts: Vec<(Check, u64)>,
    last: Vec<((&'static str, &'static str), bool)>,
}

/// A check, its kind, and its answer.
type Check = (&'static str, &'static str, bool);

/// What is asked of who drives the scheduler.
#[derive(Debug, Default)]
struct SnapshotRequests {
    /// Somebody wants to know, and how many pods there are is enough.
    is_open: AtomicBool,
    /// Somebody wants to know of every pod.
    wants_requests: AtomicBool,
    snapshot_requested: Notify,
    answers: watch::Sender<Arc<SchedulerCounts>>,
}

impl Metrics {
    /// Nothing happened yet.
    pub fn new(settings: MetricsSettings) -> Self {
        Metrics(Arc::new(Inner {
            attempts: AttemptMetrics::new(&settings.profiles),
            extenders: ExtenderMetrics::default(),
            requests: RestClientMetrics::new(settings.host.as_str().into()),
            checks: Mutex::default(),
            snapshot_requests: SnapshotRequests::default(),
            shadow: OnceLock::new(),
            settings,
        }))
    }

    /// Somebody asks for what only the scheduler knows: [`MetricsHooks`] is to be shown it.
    async fn snapshot_requested(&self) {
        self.0.snapshot_requests.snapshot_requested.notified().await;
    }

    fn requests(&self) -> &RestClientMetrics {
        &self.0.requests
    }

    /// The text for who reads an endpoint. The scheduler is asked, and waited for if it is busy, but not for long.
    pub async fn render(&self, endpoint: Endpoint) -> String {
        let census = match endpoint {
            Endpoint::Slis => Arc::default(),
            Endpoint::Metrics | Endpoint::Resources => self.request_snapshot(endpoint == Endpoint::Resources).await,
        };
        self.write(endpoint, &census)
    }

    async fn request_snapshot(&self, requests: bool) -> Arc<SchedulerCounts> {
        let SnapshotRequests { is_open, wants_requests, snapshot_requested, answers } = &self.0.snapshot_requests;
        let mut answer = answers.subscribe();
        answer.mark_unchanged();
        wants_requests.fetch_or(requests, Relaxed);
        is_open.store(true, Relaxed);
        snapshot_requested.notify_one();
        let answered = async {
            while answer.changed().await.is_ok() {
                if !requests || answer.borrow().requests.is_some() {
                    return;
                }
            }
        };
        // Of a scheduler that does not answer, what it said last.
        let _answered = timeout(SCRAPE_TIMEOUT, answered).await;
        self.0.snapshot_requests.answers.borrow().clone()
    }

    /// Whatever is judged of kube-scheduler is counted here.
    pub fn count_shadow_decisions(&self, shadow_counts: ShadowCounts) {
        let _first = self.0.shadow.set(shadow_counts);
    }

    fn write(&self, endpoint: Endpoint, census: &SchedulerCounts) -> String {
        let Inner { settings, attempts, extenders, requests, checks, .. } = &*self.0;
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
                extenders.write(&mut exposition);
                census.write(&mut exposition, attempts);
                if let Some(shadow_counts) = self.0.shadow.get() {
                    shadow_counts.write(&settings.profiles, &mut exposition);
                }
            }
            Endpoint::Resources => {
                if let Some(requests) = &census.requests {
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
    // As Go calls it.
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
