//! Settings of an extender in a profile: kube-scheduler's `Extender`, validated when the profile was compiled.

use std::time::Duration;

use schedc_core::originals::RequiredOriginals;

/// Settings of an extender. Absent verbs are not called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extender {
    /// URL to which verbs are appended after a `/`. It also names the extender in messages.
    pub url_prefix: &'static str,
    /// Removes nodes after the Filter plugins.
    pub filter_verb: Option<&'static str>,
    /// Adds to the scores of nodes.
    pub prioritize_verb: Option<&'static str>,
    /// Changes the candidates and victims of preemption.
    pub preempt_verb: Option<&'static str>,
    /// Binds pods instead of the Bind plugins.
    pub bind_verb: Option<&'static str>,
    /// Receives a notification of unreserve. kube-scheduler has no such verb.
    pub unreserve_verb: Option<&'static str>,
    /// Factor of the extender's scores.
    pub weight: i64,
    /// Whether the extender's certificate is accepted without verification if there is no CA: kube-scheduler's rule for
    /// `enableHTTPS`.
    pub enable_https: bool,
    /// TLS settings. The scheme of the URL decides whether TLS is used.
    pub tls: Option<Tls>,
    /// Timeout of a whole call. kube-scheduler's default is 5 s.
    pub http_timeout: Duration,
    /// Whether the extender caches nodes, and therefore receives only their names.
    pub node_cache_capable: bool,
    /// The extender is called only for pods that request one of these resources; empty: for all pods.
    pub managed_resources: &'static [ManagedResource],
    /// Whether scheduling continues without the extender if the extender fails.
    pub ignorable: bool,
}

/// A resource that an extender manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedResource {
    /// Name of the resource.
    pub name: &'static str,
    /// Whether NodeResourcesFit ignores the resource.
    pub ignored_by_scheduler: bool,
}

/// TLS settings of an extender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// Name in the server's certificate. `None`: the host of the URL.
    pub server_name: Option<&'static str>,
    /// Authority of the server's certificate. `None`: the trusted authorities of this machine.
    pub ca: Option<Pem>,
    /// Client certificate.
    pub certificate: Option<Pem>,
    /// Key of the client certificate.
    pub key: Option<Pem>,
}

/// Certificates or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pem {
    /// File, which is read once, when the client is created.
    File(&'static str),
    /// PEM text.
    Text(&'static str),
}

/// Returns the objects whose originals these extenders require.
pub const fn originals(extenders: &[Extender]) -> RequiredOriginals {
    let mut all = RequiredOriginals::NONE;
    let mut at = 0;
    while at < extenders.len() {
        all = all.or(extenders[at].originals());
        at += 1;
    }
    all
}

impl Extender {
    const fn originals(&self) -> RequiredOriginals {
        let sends_nodes = self.filter_verb.is_some() || self.prioritize_verb.is_some();
        let preempts = self.preempt_verb.is_some();
        RequiredOriginals {
            nodes: sends_nodes && !self.node_cache_capable,
            // Required even without verbs that send the pod: managed resources are looked up in its original, and
            // `RequiredOriginals::any` identifies profiles with extenders.
            waiting_pods: true,
            placed_pods: preempts && !self.node_cache_capable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Extender = Extender {
        url_prefix: "http://localhost",
        filter_verb: Some("filter"),
        prioritize_verb: Some("prioritize"),
        preempt_verb: Some("preempt"),
        bind_verb: None,
        unreserve_verb: None,
        weight: 1,
        enable_https: false,
        tls: None,
        http_timeout: Duration::from_secs(5),
        node_cache_capable: true,
        managed_resources: &[],
        ignorable: false,
    };

    #[test]
    fn originals_are_kept_only_if_an_extender_needs_them() {
        let pods = RequiredOriginals { waiting_pods: true, ..RequiredOriginals::NONE };
        let verbless = Extender { filter_verb: None, prioritize_verb: None, preempt_verb: None, ..NAMES };
        let nodes = Extender { node_cache_capable: false, preempt_verb: None, ..NAMES };
        let victims = Extender { preempt_verb: NAMES.preempt_verb, node_cache_capable: false, ..verbless };
        for (extenders, kept) in [
            (&[][..], RequiredOriginals::NONE),
            (&[verbless], pods),
            (&[NAMES], pods),
            (&[NAMES, nodes], RequiredOriginals { nodes: true, ..pods }),
            (&[victims], RequiredOriginals { placed_pods: true, ..pods }),
            (&[victims, nodes], RequiredOriginals { nodes: true, waiting_pods: true, placed_pods: true }),
        ] {
            assert_eq!(originals(extenders), kept);
        }
    }
}
