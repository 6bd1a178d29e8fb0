//! The measured process: `schedc run`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use schedc_fake_apiserver::Server;
use schedc_kubernetes::connect::Target;
use schedc_kubernetes::transport::{ApiRequest, RequestClass, Transport, Verb};
use serde_json::json;
use tokio::runtime::Builder;

use crate::commands::failure::Failure;

/// Maximum time until an expected state.
const TIMEOUT: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of characters of the log in an error.
const LOG_TAIL: usize = 2000;

/// A running scheduler. It is killed when it is dropped.
pub(super) struct Scheduler {
    child: Child,
    folder: PathBuf,
    pub(super) started: Instant,
}

impl Scheduler {
    /// Starts a scheduler at a server.
    pub(super) fn start(program: &Path, server: &Server) -> Result<Scheduler, Failure> {
        let folder = std::env::temp_dir().join(format!("schedc-wire-{}", std::process::id()));
        let file_error = |error| Failure::new(format!("{}: {error}", folder.display()));
        fs::create_dir_all(&folder).map_err(file_error)?;
        fs::write(folder.join("kubeconfig"), server.kubeconfig()).map_err(file_error)?;
        let port = free_port().map_err(|error| Failure::new(format!("no port is free: {error}")))?;
        // The scheduler serves its metrics with a self-signed certificate.
        let cluster = json!({"server": format!("https://127.0.0.1:{port}"), "insecure-skip-tls-verify": true});
        let metrics = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "scheduler",
            "clusters": [{"name": "scheduler", "cluster": cluster}],
            "users": [{"name": "scheduler", "user": {}}],
            "contexts": [{"name": "scheduler", "context": {"cluster": "scheduler", "user": "scheduler"}}],
        });
        fs::write(folder.join("metrics"), metrics.to_string()).map_err(file_error)?;
        let log = || File::options().create(true).append(true).open(folder.join("log")).map_err(file_error);
        let mut command = Command::new(program);
        command.arg("run").arg("--kubeconfig").arg(folder.join("kubeconfig"));
        command.args(["--leader-elect=false", "--bind-address=127.0.0.1", &format!("--secure-port={port}")]);
        command.arg("--authorization-always-allow-paths=/metrics,/readyz");
        command.stdin(Stdio::null()).stdout(log()?).stderr(log()?);
        let started = Instant::now();
        let child =
            command.spawn().map_err(|error| Failure::new(format!("{}: cannot start: {error}", program.display())))?;
        Ok(Scheduler { child, folder, started })
    }

    /// Waits until the scheduler has received all nodes and pods.
    pub(super) fn wait_until_ready(&mut self) -> Result<(), Failure> {
        self.wait_until("the scheduler is ready", |scheduler| scheduler.get("/readyz").is_ok())
    }

    /// Waits for a condition. Returns an error with the end of the log if the scheduler ends, or after [`TIMEOUT`].
    pub(super) fn wait_until(&mut self, what: &str, condition: impl Fn(&Scheduler) -> bool) -> Result<(), Failure> {
        let end = Instant::now() + TIMEOUT;
        while !condition(self) {
            let ended = self.child.try_wait().ok().flatten();
            if let Some(status) = ended {
                return Err(Failure::new(format!("the scheduler ended with {status}:\n{}", self.log())));
            }
            if Instant::now() >= end {
                return Err(Failure::new(format!("timeout: {what}\n{}", self.log())));
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Returns the end of the log.
    fn log(&self) -> String {
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let start = log.char_indices().rev().nth(LOG_TAIL).map_or(0, |(at, _)| at);
        log[start..].to_owned()
    }

    /// Returns the body of a response of the scheduler's HTTPS server.
    fn get(&self, path: &str) -> Result<Bytes, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::new(format!("cannot start the runtime: {error}")))?;
        runtime.block_on(async {
            // The task that refreshes credentials is not needed: there are none.
            let (http, _) = Target::new(Some(&self.folder.join("metrics")), None)?.http().await?;
            let request = ApiRequest { verb: Verb::Get, path: path.to_owned(), body: Bytes::new() };
            match http.call(RequestClass::Review, request).await {
                Ok(response) if response.code == 200 => Ok(response.body),
                Ok(response) => Err(Failure::new(format!("{path}: the scheduler responded with {}", response.code))),
                Err(error) => Err(Failure::new(format!("{path}: {error:?}"))),
            }
        })
    }

    /// Reads the histogram of the times from the watch event to the binding request.
    pub(super) fn watch_to_bind(&self) -> Result<Buckets, Failure> {
        let metrics = self.get("/metrics")?;
        Ok(Buckets::read(&String::from_utf8_lossy(&metrics)))
    }

    /// Returns the CPU time of all threads, where the system is Linux.
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?;
        let of_thread = |thread: fs::DirEntry| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        };
        Some(Duration::from_nanos(threads.flatten().filter_map(of_thread).sum()))
    }

    /// Returns the resident memory in MB, where the system is Linux.
    pub(super) fn resident_mb(&self) -> Option<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kibibytes: f64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kibibytes * 1024.0 / 1e6)
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        // Errors are ignored: the process may have ended already, and remaining files do no harm.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Cumulative counts of a histogram by the upper bounds of its buckets in nanoseconds. The last bucket has `u64::MAX`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Buckets(BTreeMap<u64, u64>);

impl Buckets {
    /// Reads the buckets from metrics in the text format.
    fn read(metrics: &str) -> Buckets {
        let bucket = |line: &str| {
            let rest = line.strip_prefix("scheduler_watch_to_bind_duration_seconds_bucket{le=\"")?;
            let (bound, count) = rest.split_once("\"} ")?;
            let bound = match bound {
                "+Inf" => u64::MAX,
                bound => (bound.parse::<f64>().ok()? * 1e9).round() as u64,
            };
            Some((bound, count.parse().ok()?))
        };
        Buckets(metrics.lines().filter_map(bucket).collect())
    }

    /// Returns the number of observations.
    pub(super) fn count(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(_, count)| *count)
    }

    /// Returns the observations since an earlier state.
    pub(super) fn since(&self, earlier: &Buckets) -> Buckets {
        let before = |bound| earlier.0.get(bound).copied().unwrap_or_default();
        Buckets(self.0.iter().map(|(bound, count)| (*bound, count.saturating_sub(before(bound)))).collect())
    }

    /// Returns the smallest bound, in microseconds, that at least this share of the observations does not exceed. Returns
    /// `None` if only the last bucket, which has no bound, contains the share, or if there are no observations.
    pub(super) fn quantile_us(&self, share: f64) -> Option<f64> {
        let all = self.count();
        let (&bound, _) = self.0.iter().find(|(_, count)| **count as f64 >= share * all as f64)?;
        (bound != u64::MAX && all > 0).then_some(bound as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(counts: [u64; 3]) -> Buckets {
        let [first, second, all] = counts;
        let name = "scheduler_watch_to_bind_duration_seconds_bucket";
        Buckets::read(&format!(
            "# TYPE x histogram\n{name}{{le=\"0.00015\"}} {first}\n{name}{{le=\"0.001\"}} {second}\n{name}{{le=\"+Inf\"}} {all}\nother 7\n"
        ))
    }

    #[test]
    fn quantiles_are_bounds_of_the_new_observations() {
        let new_observations = read([50, 99, 100]).since(&read([0, 9, 10]));
        assert_eq!(
            (new_observations.count(), new_observations.quantile_us(0.5), new_observations.quantile_us(0.99)),
            (90, Some(150.0), Some(1000.0))
        );
        assert_eq!(read([0, 0, 5]).quantile_us(0.5), None);
        assert_eq!(Buckets::default().quantile_us(0.5), None);
    }
}
