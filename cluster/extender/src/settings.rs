//! What a profile says of an extender: kube-scheduler's `Extender`, checked when the profile was compiled.

use std::time::Duration;

use schedc_core::originals::RequiredOriginals;

/// An extender. A verb that is not given is not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extender {
    /// Where it is: verbs are added after a `/`. Also its name for people.
    pub url_prefix: &'static str,
    /// Takes nodes out after the Filter plugins.
    pub filter_verb: Option<&'static str>,
    /// Adds to the scores of nodes.
    pub prioritize_verb: Option<&'static str>,
    /// Has a say in which pods have to go for another.
    pub preempt_verb: Option<&'static str>,
    /// Binds pods in place of the Bind plugins.
    pub bind_verb: Option<&'static str>,
    /// Is told that a decision was undone. kube-scheduler has no such verb.
    pub unreserve_verb: Option<&'static str>,
    /// What its scores are multiplied by.
    pub weight: i64,
    /// Without a CA to check them by, its certificates are taken unseen: kube-scheduler's rule for `enableHTTPS`.
    pub enable_https: bool,
    /// How to speak TLS with it. Whether to do so is what the URL says.
    pub tls: Option<Tls>,
    /// How long it may take to answer, all told. kube-scheduler's default is 5 s.
    pub http_timeout: Duration,
    /// It knows the nodes itself, and is sent their names.
    pub node_cache_capable: bool,
    /// It is asked about pods alone that ask for one of these; about all pods if there are none.
    pub managed_resources: &'static [ManagedResource],
    /// Scheduling goes on without it when it fails.
    pub ignorable: bool,
}

/// A resource that an extender manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedResource {
    /// The resource.
    pub name: &'static str,
    /// NodeResourcesFit does not look at it.
    pub ignored_by_scheduler: bool,
}

/// How to speak TLS with an extender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// Any certificate is taken.
    pub insecure: bool,
    /// The name that its certificate has to be for. `None`: the one in the URL.
    pub server_name: Option<&'static str>,
    /// Who signs its certificate. `None`: those whom the machine trusts.
    pub ca: Option<Pem>,
    /// The certificate that we show.
    pub certificate: Option<Pem>,
    /// The key of that.
    pub key: Option<Pem>,
}

/// Certificates or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pem {
    /// In a file, which is read when the scheduler starts.
    File(&'static str),
    /// As PEM text.
    Text(&'static str),
}

/// The objects that such extenders are sent whole.
pub const fn originals(extenders: &[Extender]) -> RequiredOriginals {
    let mut all = RequiredOriginals::NONE;
    let mut at = 0;
    while at < extenders.len() {
        all = all.and(extenders[at].originals());
        at += 1;
    }
    all
}

impl Extender {
    const fn originals(&self) -> RequiredOriginals {
        let asks_of_nodes = self.filter_verb.is_some() || self.prioritize_verb.is_some();
        let preempts = self.preempt_verb.is_some();
        RequiredOriginals {
            nodes: asks_of_nodes && !self.node_cache_capable,
            // Whether a pod asks for a managed resource is looked up there, too; and so there is something wherever there are
            // extenders.
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
