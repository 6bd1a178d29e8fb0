//! Checks that involve several flags.

use super::Flags;
use crate::election::{LeaderElectionConfiguration, SettingNames};

/// Supported cipher suites by IANA name: those of TLS 1.3, and those of TLS 1.2 with forward secrecy and authenticated
/// encryption.
const CIPHER_SUITES: [&str; 9] = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];

pub(super) fn is_cipher_suite(name: &str) -> bool {
    CIPHER_SUITES.contains(&name)
}

/// Returns problems and warnings.
pub(super) fn check(flags: &Flags) -> (Vec<String>, Vec<String>) {
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    if flags.config.is_none() {
        let election = flags.leader_election.override_settings(LeaderElectionConfiguration::default());
        let names = SettingNames {
            lease_duration: "--leader-elect-lease-duration",
            renew_deadline: "--leader-elect-renew-deadline",
            retry_period: "--leader-elect-retry-period",
            name: "--leader-elect-resource-name",
            namespace: "--leader-elect-resource-namespace",
        };
        election.validate(&names, &mut problems);
    }
    let (known, unknown): (Vec<&str>, Vec<&str>) =
        flags.serving.cipher_suites.iter().map(String::as_str).partition(|suite| is_cipher_suite(suite));
    if !unknown.is_empty() {
        let unknown_suites = format!("--tls-cipher-suites: unsupported: {}", unknown.join(", "));
        match known.is_empty() {
            true => problems.push(format!("{unknown_suites}; supported: {}", CIPHER_SUITES.join(", "))),
            false => warnings.push(format!("{unknown_suites}; the others are offered")),
        }
    }
    if flags.connection.qps.is_some_and(|qps| !qps.is_finite()) {
        problems.push("--kube-api-qps must be a finite number".to_owned());
    }
    let has_config = flags.config.is_some();
    let connection = &flags.connection;
    let overridden = [
        ("kubeconfig", connection.kubeconfig.is_some()),
        ("kube-api-qps", connection.qps.is_some()),
        ("kube-api-burst", connection.burst.is_some()),
    ];
    for (name, _) in overridden.iter().filter(|(_, is_given)| has_config && *is_given) {
        warnings.push(format!("--{name} is ignored with --config: `clientConnection` in that file replaces it"));
    }
    (problems, warnings)
}
