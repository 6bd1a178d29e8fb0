//! Parsed KubeSchedulerConfiguration of `kubescheduler.config.k8s.io/v1`. Profiles are not read here, since they are
//! compiled in.

use std::path::PathBuf;
use std::time::Duration;

use schedc_core::args::parse_duration;
use schedc_import::yaml::first_document;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::BURST;
use crate::election::LeaderElectionConfiguration;
use crate::flags::NO_GO_PROFILES;
use crate::transport::RateLimiterConfig;

const KIND: &str = "KubeSchedulerConfiguration";
pub(super) const VERSION: &str = "kubescheduler.config.k8s.io/v1";

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct File {
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    #[serde(rename = "apiVersion")]
    _api_version: IgnoredAny,
    parallelism: Option<i32>,
    leader_election: Option<Election>,
    client_connection: Option<Connection>,
    enable_profiling: Option<bool>,
    enable_contention_profiling: Option<bool>,
    pub(super) delay_cache_until_active: Option<bool>,
    percentage_of_nodes_to_score: Option<i32>,
    pub(super) pod_initial_backoff_seconds: Option<i64>,
    pub(super) pod_max_backoff_seconds: Option<i64>,
    #[serde(rename = "profiles")]
    _profiles: Option<IgnoredAny>,
    /// Not read here, since extenders are compiled in like profiles. The `run` command compares the compiled-in
    /// profiles and extenders with the file.
    #[serde(rename = "extenders")]
    _extenders: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Election {
    leader_elect: Option<bool>,
    lease_duration: Option<String>,
    renew_deadline: Option<String>,
    retry_period: Option<String>,
    resource_lock: Option<String>,
    resource_name: Option<String>,
    resource_namespace: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Connection {
    kubeconfig: Option<PathBuf>,
    accept_content_types: Option<String>,
    content_type: Option<String>,
    qps: Option<f32>,
    burst: Option<i32>,
}

/// `kind` and `apiVersion` of a Kubernetes object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    kind: Option<String>,
    api_version: Option<String>,
}

/// Parses a file. Callers put the file's path before an error, which begins with `:line:column:`, or with `:` if the
/// position is unknown.
pub(super) fn read(text: &str) -> Result<File, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let header: Header = parse(text)?;
    let (kind, version) =
        (header.kind.as_deref().unwrap_or_default(), header.api_version.as_deref().unwrap_or_default());
    match (kind, version) {
        (KIND, VERSION) => parse(text),
        ("", "") => Err(format!(
            ": this is not a {KIND}: it has neither `kind` nor `apiVersion`; add `kind: {KIND}` and `apiVersion: {VERSION}`"
        )),
        ("", _) => Err(format!(": `kind` is missing; add `kind: {KIND}`")),
        (KIND, "") => Err(format!(": `apiVersion` is missing; add `apiVersion: {VERSION}`")),
        (KIND, version) if version.starts_with("kubescheduler.config.k8s.io/") => Err(format!(
            ": this is a {KIND} of {version}, and only {VERSION} is read, as by kube-scheduler 1.36; kube-scheduler 1.25 to \
             1.28 can convert it with --config and --write-config-to"
        )),
        (kind, version) => Err(format!(": this is a {kind} of {version}, not a {KIND} of {VERSION}")),
    }
}

/// Parses the first document. The content of later ones is ignored, as in kube-scheduler.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    match first_document(text) {
        Ok(Some(document)) => Ok(document),
        Ok(None) => Err(format!(": there is no {KIND}: the file is empty")),
        Err(error) => {
            let place = error.line_and_column().map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
            Err(format!("{place}: {}", error.message()))
        }
    }
}

impl File {
    /// Returns the leader election settings, with defaults for missing fields.
    pub(super) fn leader_election(&self, problems: &mut Vec<String>) -> LeaderElectionConfiguration {
        let default = LeaderElectionConfiguration::default();
        let Some(election) = &self.leader_election else { return default };
        // 0 means the default, as in kube-scheduler.
        let mut time = |name: &str, written: &Option<String>, default: Duration| {
            let Some(text) = written else { return default };
            match parse_duration(text).map(u64::try_from) {
                Some(Ok(0)) => default,
                Some(Ok(nanoseconds)) => Duration::from_nanos(nanoseconds),
                _ => {
                    problems
                        .push(format!("leaderElection.{name}: `{text}` is not a duration such as `15s` or `1m30s`"));
                    default
                }
            }
        };
        let text = |written: &Option<String>, default: String| {
            written.clone().filter(|text| !text.is_empty()).unwrap_or(default)
        };
        LeaderElectionConfiguration {
            leader_elect: election.leader_elect.unwrap_or(default.leader_elect),
            lease_duration: time("leaseDuration", &election.lease_duration, default.lease_duration),
            renew_deadline: time("renewDeadline", &election.renew_deadline, default.renew_deadline),
            retry_period: time("retryPeriod", &election.retry_period, default.retry_period),
            name: text(&election.resource_name, default.name),
            namespace: text(&election.resource_namespace, default.namespace),
        }
    }

    /// Adds the problems that kube-scheduler would report, and unsupported values.
    pub(super) fn check(&self, problems: &mut Vec<String>) {
        let lock = self.leader_election.as_ref().and_then(|election| election.resource_lock.as_deref());
        if let Some(lock) = lock.filter(|lock| !matches!(*lock, "" | "leases")) {
            problems.push(format!(
                "leaderElection.resourceLock: `{lock}` is not supported: use `leases`, the only supported kind of lock"
            ));
        }
        let connection = self.client_connection.as_ref();
        if connection.and_then(|connection| connection.burst).is_some_and(|burst| burst < 0) {
            problems.push("clientConnection.burst must not be negative".to_owned());
        }
        if connection.and_then(|connection| connection.qps).is_some_and(|qps| !qps.is_finite()) {
            problems.push("clientConnection.qps must be a finite number".to_owned());
        }
        if self.parallelism.is_some_and(|parallelism| parallelism <= 0) {
            problems.push("parallelism must be greater than 0".to_owned());
        }
        if self.percentage_of_nodes_to_score.is_some_and(|percentage| !(0..=100).contains(&percentage)) {
            problems.push("percentageOfNodesToScore must be 0 to 100".to_owned());
        }
        let (initial, max) =
            (self.pod_initial_backoff_seconds.unwrap_or(1), self.pod_max_backoff_seconds.unwrap_or(10));
        if initial <= 0 {
            problems.push("podInitialBackoffSeconds must be greater than 0".to_owned());
        }
        if max < initial {
            problems.push(
                "podMaxBackoffSeconds (default 10) must be at least podInitialBackoffSeconds (default 1)".to_owned(),
            );
        }
    }

    /// Returns warnings about fields that have no effect.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(connection) = &self.client_connection {
            let types =
                [("acceptContentTypes", &connection.accept_content_types), ("contentType", &connection.content_type)];
            for (name, value) in types {
                let is_supported = |value: &&String| {
                    matches!(value.as_str(), "" | "application/json" | "application/vnd.kubernetes.protobuf")
                };
                if let Some(value) = value.as_ref().filter(|value| !is_supported(value)) {
                    warnings.push(format!("clientConnection.{name}={value} is ignored: requests are in JSON"));
                }
            }
        }
        let profiling = [
            ("enableProfiling", self.enable_profiling),
            ("enableContentionProfiling", self.enable_contention_profiling),
        ];
        for (name, _) in profiling.iter().filter(|(_, value)| *value == Some(true)) {
            warnings.push(format!("{name}=true is ignored: {NO_GO_PROFILES}"));
        }
        // kube-scheduler's default causes no warning.
        if let Some(parallelism) = self.parallelism.filter(|parallelism| !matches!(parallelism, 1 | 16)) {
            warnings.push(format!("parallelism={parallelism} is ignored: one thread evaluates nodes"));
        }
        warnings
    }

    pub(super) fn kubeconfig(&self) -> Option<PathBuf> {
        let path = self.client_connection.as_ref()?.kubeconfig.clone()?;
        Some(path).filter(|path| !path.as_os_str().is_empty())
    }

    /// Returns the client rate limit, if `qps` is positive.
    pub(super) fn rate_limit(&self) -> Option<RateLimiterConfig> {
        let connection = self.client_connection.as_ref()?;
        let qps = connection.qps.filter(|qps| *qps > 0.0)?;
        let burst = connection.burst.and_then(|burst| u32::try_from(burst).ok()).filter(|burst| *burst > 0);
        Some(RateLimiterConfig { qps, burst: burst.unwrap_or(BURST) })
    }
}
