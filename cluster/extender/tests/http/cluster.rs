//! Cluster of three nodes with one pod each, and a pending pod, for calls of extenders.

use std::sync::Arc;
use std::time::Duration;

use schedc_core::cache::{Base, Cache, PodState, State};
use schedc_core::extenders::{ExtenderRejection, Extenders, Overrides, Setting};
use schedc_core::extension_points::{Candidate, Placement};
use schedc_core::model::{Node, NodeIndex, Object, Pod, PodSpec, Uid};
use schedc_core::node_mask::NodeMask;
use schedc_extender::{Extender, HttpExtenders};

/// State of a profile without columns and indexes.
#[derive(Default)]
struct EmptyProfile;

impl State for EmptyProfile {
    type Hypothetical<'a> = ();
    fn set_node(&mut self, _: &Base, _: NodeIndex, _: Option<&Node>) -> bool {
        false
    }
    fn add_pod(&mut self, _: NodeIndex, _: &Pod) {}
    fn remove_pod(&mut self, _: NodeIndex, _: &Pod) {}
    fn set_object(&mut self, _: Option<&Object>, _: Option<&Object>) {}
    fn hypothetical<'a>(&'a self, _: &'a Base, _: NodeIndex) {}
    fn hypothetical_add((): &mut (), _: &Arc<Pod>) {}
    fn hypothetical_remove((): &mut (), _: &Arc<Pod>) {}
}

/// Extender with all verbs and a short timeout, which receives only the names of nodes.
pub(crate) const EXTENDER: Extender = Extender {
    url_prefix: "http://extender",
    filter_verb: Some("filter"),
    prioritize_verb: Some("prioritize"),
    preempt_verb: Some("preempt"),
    bind_verb: Some("bind"),
    unreserve_verb: Some("unreserve"),
    weight: 2,
    enable_https: false,
    tls: None,
    http_timeout: Duration::from_millis(500),
    node_cache_capable: true,
    managed_resources: &[],
    ignorable: false,
};

/// The cluster, and its extenders.
pub(crate) struct Cluster {
    cache: Cache<EmptyProfile>,
    pub(crate) extenders: HttpExtenders,
    pub(crate) pod: Arc<Pod>,
    nodes: Vec<NodeIndex>,
}

impl Cluster {
    pub(crate) fn new(extender: Extender, url: &str) -> Cluster {
        Cluster::with(vec![(extender, url)]).expect("it works in a test")
    }

    /// Creates a cluster with several extenders. Each has a distinct URL prefix, which is overridden with its URL.
    pub(crate) fn with(extenders: Vec<(Extender, &str)>) -> Result<Cluster, String> {
        let mut overrides = Overrides::default();
        let settings: Vec<Extender> = (0..)
            .zip(extenders)
            .map(|(at, (extender, url))| {
                let url_prefix = String::leak(format!("http://extender-{at}"));
                overrides.add(Setting::UrlPrefix, format!("{url_prefix}={url}"));
                Extender { url_prefix, ..extender }
            })
            .collect();
        let extenders = HttpExtenders::with(settings.leak(), &overrides)?;
        let mut cache = Cache::<EmptyProfile>::default();
        let mut nodes = Vec::new();
        for name in ["a", "b", "c"] {
            let node = cache.base.interner.intern(name);
            cache.set_node(Node { name: node, ..Node::default() });
            cache.base.originals.set_node(node, Some(format!(r#"{{"metadata":{{"name":"{name}"}}}}"#).into()));
            let index = cache.base.node(node).expect("it works in a test");
            nodes.push(index);
            let spec = PodSpec { node_name: Some(node), ..PodSpec::default() };
            let victim = Pod { uid: Uid(format!("on-{name}").into()), spec: Arc::new(spec), ..Pod::default() };
            let original = format!(r#"{{"metadata":{{"uid":"on-{name}"}}}}"#);
            cache.base.originals.set_pod(&victim.uid, Some(original.into()));
            cache.add_pod(victim.into(), node, PodState::Bound);
        }
        let spec = Arc::new(PodSpec { priority: 10, ..PodSpec::default() });
        let pod = Pod { uid: Uid("u".into()), namespace: "n".into(), name: "web".into(), spec, ..Pod::default() };
        cache.base.originals.set_pod(&pod.uid, Some(r#"{"metadata":{"name":"web"},"spec":{}}"#.into()));
        Ok(Cluster { cache, extenders, pod: Arc::new(pod), nodes })
    }

    /// Returns the remaining nodes, and the reasons for the others.
    pub(crate) fn filter(&self) -> Result<(String, Vec<String>), String> {
        let base = &self.cache.base;
        let mut feasible: NodeMask = self.nodes.iter().copied().collect();
        let rejections = self.extenders.filter(&self.pod, base, &mut feasible)?;
        let text = |ExtenderRejection { node, code, reason }| format!("{}: {code}: {reason}", base.name(node));
        Ok((feasible.iter().map(|node| base.name(node)).collect(), rejections.into_iter().map(text).collect()))
    }

    /// Returns the amounts added to the total scores of all nodes.
    pub(crate) fn prioritize(&self) -> Vec<i64> {
        let mut totals = vec![0; self.nodes.len()];
        self.extenders.prioritize(&self.pod, &self.cache.base, &self.nodes.iter().copied().collect(), &mut totals);
        totals
    }

    /// Returns the remaining candidates as node, uids of victims and number of violations, such as `a: on-a /1`.
    pub(crate) fn preempt(&self) -> Result<Vec<String>, String> {
        let base = &self.cache.base;
        let candidates = self.nodes.iter().map(|&node| Candidate {
            node,
            victims: base.infos()[node.get()].pods.clone().into(),
            violations: 0,
            best: false,
        });
        let remaining = self.extenders.preempt(&self.pod, base, candidates.collect())?;
        let name = |candidate: Candidate| {
            let victims: Vec<&str> = candidate.victims.iter().map(|victim| &*victim.uid.0).collect();
            format!("{}: {} /{}", base.name(candidate.node), victims.join(" "), candidate.violations)
        };
        Ok(remaining.into_iter().map(name).collect())
    }

    /// Binds the pod to the first node, if an extender does that.
    pub(crate) fn bind(&self) -> Option<Result<bool, String>> {
        let binders = self.extenders.binders(&self.pod, &self.cache.base);
        (!binders.is_empty()).then(|| self.extenders.bind(&self.placement(), &binders))
    }

    /// Notifies extenders that the pod was unreserved.
    pub(crate) fn unreserve(&self) {
        let unreservers = self.extenders.unreservers(&self.pod, &self.cache.base);
        self.extenders.unreserve(&self.placement(), &unreservers);
    }

    fn placement(&self) -> Placement {
        Placement { pod: self.pod.clone(), node: self.nodes[0], node_name: "a".into() }
    }

    /// Sets the original of the pod.
    pub(crate) fn write_pod(&mut self, json: &str) {
        self.cache.base.originals.set_pod(&self.pod.uid, Some(json.into()));
    }
}
