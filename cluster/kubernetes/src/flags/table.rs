//! All flags of kube-scheduler 1.36.2, and their treatment.

use super::flag::FlagSupport::Supported;
use super::flag::Section::*;
use super::flag::ValueType::*;
use super::flag::{Flag, FlagSupport, UnsupportedFlag};

/// Makes a list of flags: section, name, type, default, support, and help text.
macro_rules! flags {
    ($($section:ident, $name:literal, $kind:expr, $default:expr, $support:expr => $help:expr;)*) => {
        &[$(Flag { name: $name, kind: $kind, default: $default, section: $section, help: $help, support: $support }),*]
    };
}

const fn ignored(accepted_values: &'static [&'static str], explanation: &'static str) -> FlagSupport {
    FlagSupport::Ignored(UnsupportedFlag { accepted_values, explanation })
}

const fn refused(accepted_values: &'static [&'static str], explanation: &'static str) -> FlagSupport {
    FlagSupport::Refused(UnsupportedFlag { accepted_values, explanation })
}

pub(crate) const NO_GO_PROFILES: &str = "this program has no Go runtime to profile; use perf or a similar tool";
const NO_LOG_BUFFER: &str = "log lines are written at once";
const ONE_VERSION: &str = "the behaviour of Kubernetes 1.36 is compiled in";
const FEW_LABELS: &str = "users cannot choose label values, except for the names of profiles and plugins";

/// All flags, in the order of kube-scheduler's `--help`.
pub const FLAGS: &[Flag] = flags! {
    Misc, "config", Text, "", Supported =>
        "A KubeSchedulerConfiguration. Its settings apply, but the compiled-in profiles run; differences are logged";
    Misc, "master", Text, "", Supported => "Address of the API server, in place of the one in the kubeconfig";
    Misc, "unsupported-kube-api-over-localhost", Bool, "",
        refused(&["false"], "name the server in the kubeconfig, or with --master") =>
        "Connect to the API server of this host";
    Misc, "write-config-to", Text, "", Supported => "Write the effective configuration to this file, and exit";
    Serving, "bind-address", Ip, "0.0.0.0", Supported => "Address to serve on";
    Serving, "cert-dir", Text, "", Supported =>
        "Folder of kube-scheduler.crt and kube-scheduler.key, generated if missing";
    Serving, "disable-http2-serving", Bool, "", Supported => "Serve HTTP/1.1 only";
    Serving, "http2-max-streams-per-connection", Int, "", Supported =>
        "Maximum number of concurrent requests per connection";
    Serving, "permit-address-sharing", Bool, "", Supported => "Listen with SO_REUSEADDR";
    Serving, "permit-port-sharing", Bool, "", Supported => "Listen with SO_REUSEPORT";
    Serving, "secure-port", Int, "10259", Supported => "Port to serve HTTPS on; 0 serves nothing";
    Serving, "tls-cert-file", Text, "", Supported =>
        "The server's certificate; without one, a self-signed one is generated";
    Serving, "tls-cipher-suites", Texts, "", Supported => "Cipher suites, by their names at IANA";
    Serving, "tls-curve-preferences", Int32s, "[]",
        refused(&["[]"], "omit it; X25519, P-256 and P-384 are offered") =>
        "Key exchange groups, by their numbers at IANA";
    Serving, "tls-min-version", Text, "", Supported => "VersionTLS12 or VersionTLS13";
    Serving, "tls-private-key-file", Text, "", Supported => "The key of --tls-cert-file";
    Serving, "tls-sni-cert-key", NamedCertificate, "[]",
        refused(&["[]"], "use one certificate for all names, with --tls-cert-file and --tls-private-key-file") =>
        "Additional certificates, by the host name that a client requests";
    Authentication, "authentication-kubeconfig", Text, "", Supported =>
        "Kubeconfig of the API server that reviews tokens. Without one, the API server of the cluster reviews tokens \
         if the scheduler runs in a pod; elsewhere, tokens are ignored";
    Authentication, "authentication-skip-lookup", Bool, "", Supported =>
        "Do not look up certificate authorities in the cluster";
    Authentication, "authentication-token-webhook-cache-ttl", Duration, "10s", Supported =>
        "How long the result of a token review is cached";
    Authentication, "authentication-tolerate-lookup-failure", Bool, "true", Supported =>
        "Serve even if certificate authorities could not be looked up in the cluster";
    Authentication, "client-ca-file", Text, "", Supported => "Certificate authorities for client certificates";
    Authentication, "requestheader-allowed-names", Texts, "", Supported =>
        "Common names of trusted proxies; if empty, any proxy with a valid certificate";
    Authentication, "requestheader-client-ca-file", Text, "", Supported =>
        "Certificate authorities for proxies that authenticate clients";
    Authentication, "requestheader-extra-headers-prefix", Texts, "[x-remote-extra-]", Supported =>
        "Prefixes of headers with extra user attributes from a proxy";
    Authentication, "requestheader-group-headers", Texts, "[x-remote-group]", Supported =>
        "Headers in which a proxy names groups";
    Authentication, "requestheader-uid-headers", Texts, "", Supported => "Headers in which a proxy gives a uid";
    Authentication, "requestheader-username-headers", Texts, "[x-remote-user]", Supported =>
        "Headers in which a proxy names the user";
    Authorization, "authorization-always-allow-paths", Texts, "[/healthz,/readyz,/livez]", Supported =>
        "Paths that need no authorization";
    Authorization, "authorization-kubeconfig", Text, "", Supported =>
        "Kubeconfig of the API server that authorizes requests";
    Authorization, "authorization-webhook-cache-authorized-ttl", Duration, "10s", Supported =>
        "How long a positive authorization is cached";
    Authorization, "authorization-webhook-cache-unauthorized-ttl", Duration, "10s", Supported =>
        "How long a negative authorization is cached";
    Deprecated, "contention-profiling", Bool, "true", ignored(&["false"], NO_GO_PROFILES) => "Profile locks";
    Deprecated, "kube-api-burst", Int32, "100", Supported =>
        "Burst of requests to the API server, unlimited unless set; ignored with --config";
    Deprecated, "kube-api-content-type", Text, "\"application/vnd.kubernetes.protobuf\"",
        ignored(&["application/json", "application/vnd.kubernetes.protobuf"], "requests are in JSON") =>
        "Format of requests to the API server";
    Deprecated, "kube-api-qps", Float32, "50", Supported =>
        "Requests to the API server per second, unlimited unless set; ignored with --config";
    Deprecated, "kubeconfig", Text, "", Supported =>
        "Kubeconfig of the API server; without one, the service account of the pod; ignored with --config";
    Deprecated, "pod-max-in-unschedulable-pods-duration", Duration, "5m0s", Supported =>
        "Time after which an unschedulable pod is retried without an event";
    Deprecated, "profiling", Bool, "true", ignored(&["false"], NO_GO_PROFILES) => "Serve profiles of Go's runtime";
    LeaderElection, "leader-elect", Bool, "true", Supported => "Schedule only while holding the lease";
    LeaderElection, "leader-elect-lease-duration", Duration, "15s", Supported =>
        "How long candidates wait after a renewal before they take over the lease";
    LeaderElection, "leader-elect-renew-deadline", Duration, "10s", Supported =>
        "How long the holder tries to renew the lease before it gives up";
    LeaderElection, "leader-elect-resource-lock", Text, "\"leases\"",
        refused(&["leases"], "use leases, the only supported kind of lock") =>
        "Kind of the lock";
    LeaderElection, "leader-elect-resource-name", Text, "\"kube-scheduler\"", Supported => "Name of the lease";
    LeaderElection, "leader-elect-resource-namespace", Text, "\"kube-system\"", Supported => "Namespace of the lease";
    LeaderElection, "leader-elect-retry-period", Duration, "2s", Supported => "How often the lease is read or renewed";
    Features, "emulated-version", Texts, "", refused(&["1.36", "kube=1.36"], ONE_VERSION) =>
        "Behave like an older version";
    Features, "feature-gates", ComponentPairs, "",
        ignored(&[], "the features that Kubernetes 1.36 enables by default are compiled in; see docs/differences.md") =>
        "Features that are on or off";
    Features, "min-compatibility-version", Texts, "", ignored(&["1.36", "kube=1.36"], ONE_VERSION) =>
        "Oldest version to be compatible with";
    Metrics, "allow-metric-labels", Pairs, "[]", ignored(&["[]"], FEW_LABELS) =>
        "Values that labels of metrics may have";
    Metrics, "allow-metric-labels-manifest", Text, "", ignored(&[], FEW_LABELS) =>
        "Values that labels of metrics may have, in a file";
    Metrics, "disabled-metrics", Texts, "", Supported => "Metrics to leave out";
    Metrics, "show-hidden-metrics-for-version", Text, "", ignored(&[], "no metric is hidden") =>
        "Show metrics that this version hides";
    Logs, "log-flush-frequency", Duration, "5s", ignored(&["5s"], NO_LOG_BUFFER) =>
        "How often buffered logs are written";
    Logs, "log-json-info-buffer-size", Quantity, "", ignored(&["0"], NO_LOG_BUFFER) => "Buffer of JSON logs";
    Logs, "log-json-split-stream", Bool, "", Supported => "JSON: errors to standard error, all else to standard output";
    Logs, "log-text-info-buffer-size", Quantity, "", ignored(&["0"], NO_LOG_BUFFER) => "Buffer of text logs";
    Logs, "log-text-split-stream", Bool, "", Supported =>
        "Text: errors and warnings to standard error, all else to standard output";
    Logs, "logging-format", Text, "\"text\"", Supported => "`text` or `json`";
    Logs, "v", Level, "", Supported => "Log verbosity, from 0";
    Logs, "vmodule", LevelPatterns, "", ignored(&[], "use -v: there are no levels for single files") =>
        "Log verbosity of single files";
    Global, "help", Bool, "", Supported => "Print help";
    Global, "version", Version, "", Supported => "Print the version";
};

impl Flag {
    /// Returns the flag with this name.
    pub fn named(name: &str) -> Option<&'static Flag> {
        FLAGS.iter().find(|flag| flag.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::ValueType;

    /// Returns the name of a type in kube-scheduler's `--help`.
    fn recorded(kind: ValueType) -> &'static str {
        match kind {
            Text => "string",
            Texts => "strings",
            Bool => "bool",
            Int => "int",
            Int32 => "int32",
            Int32s => "int32Slice",
            Float32 => "float32",
            Duration => "duration",
            Ip => "ip",
            Quantity => "quantity",
            Level => "Level",
            Pairs => "stringToString",
            ComponentPairs => "colonSeparatedMultimapStringString",
            NamedCertificate => "namedCertKey",
            LevelPatterns => "pattern=N,...",
            Version => "version[=true]",
        }
    }

    #[test]
    fn the_table_has_every_flag_of_kube_scheduler() {
        let table: Vec<_> =
            FLAGS.iter().map(|f| format!("--{}\t{}\t{}", f.name, recorded(f.kind), f.default)).collect();
        let recording = include_str!("../../tests/recordings/flags.tsv");
        let recorded: Vec<_> = recording.lines().skip(1).collect();
        assert_eq!(table, recorded);
    }

    #[test]
    fn unsupported_flags_have_an_explanation() {
        for flag in FLAGS {
            if let FlagSupport::Ignored(unsupported) | FlagSupport::Refused(unsupported) = flag.support {
                assert!(!unsupported.explanation.is_empty(), "{}", flag.name);
            }
            assert!(!flag.help.ends_with('.'), "{}", flag.name);
        }
    }
}
