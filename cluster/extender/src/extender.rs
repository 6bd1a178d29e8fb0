//! Client of one extender: requests, and validation of responses.

use std::sync::Arc;
use std::time::Instant;

use schedc_core::cache::Base;
use schedc_core::extenders::{ExtenderCall, ExtenderRejection, Overrides, Setting, Verb};
use schedc_core::extension_points::{Candidate, Placement};
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::NodeMask;
use schedc_core::status::Code;
use serde::de::DeserializeOwned;

use crate::answer::{self, Bound, Filtered, HostPriority, Preempted, Reasons};
use crate::calls::Calls;
use crate::http::{CallError, Client};
use crate::settings::{Extender, Pem};
use crate::{overrides, preemption, request, resources};

/// Valid scores of an extender.
const SCORES: std::ops::RangeInclusive<i64> = 0..=10;
/// Factor from scores of extenders to scores of plugins.
const SCALE: i64 = schedc_core::extension_points::MAX_NODE_SCORE / *SCORES.end();

#[derive(Debug)]
pub(crate) struct ExtenderClient {
    pub(crate) settings: &'static Extender,
    /// URL, which names the extender in messages.
    pub(crate) url: Arc<str>,
    client: Client,
    /// Calls of all extenders of the profile.
    calls: Arc<Calls>,
}

impl ExtenderClient {
    /// Creates a client with the settings of its profile and the overrides. `is_only`: the profile has no other
    /// extender.
    pub(crate) fn new(
        settings: &'static Extender,
        overrides: &Overrides,
        is_only: bool,
        calls: Arc<Calls>,
    ) -> Result<ExtenderClient, String> {
        let overrides = |setting| overrides::value(overrides, setting, settings.url_prefix, is_only);
        let url = overrides(Setting::UrlPrefix).unwrap_or(settings.url_prefix);
        // The file name is leaked, because settings are `'static`.
        let file = |setting| overrides(setting).map(|file| Pem::File(String::leak(file.to_owned())));
        let mut tls = settings.tls.unwrap_or_default();
        tls.ca = file(Setting::CaFile).or(tls.ca);
        tls.certificate = file(Setting::CertFile).or(tls.certificate);
        tls.key = file(Setting::KeyFile).or(tls.key);
        let client = Client::new(url, tls, settings.enable_https, settings.http_timeout)
            .map_err(|why| format!("extender {url}: {why}"))?;
        Ok(ExtenderClient { settings, url: url.into(), client, calls })
    }

    /// Returns whether the extender handles a pod: `IsInterested`.
    pub(crate) fn is_interested(&self, pod: &Pod, base: &Base) -> bool {
        let managed = self.settings.managed_resources;
        managed.is_empty() || resources::requests_any(pod, base, managed)
    }

    /// Returns the nodes that the extender leaves, and the rejections that its response lists.
    pub(crate) fn filter(
        &self,
        verb: &str,
        pod: &Pod,
        base: &Base,
        nodes: &NodeMask,
    ) -> Result<(NodeMask, Vec<ExtenderRejection>), String> {
        let by_name = self.settings.node_cache_capable;
        let body = request::extender_args(pod, base, nodes, by_name)?;
        self.call(Verb::Filter, verb, &body, |mut answer: Filtered| {
            if let Some(error) = answer.error.take().filter(|error| !error.is_empty()) {
                return Err(error);
            }
            let mut remaining = NodeMask::default();
            remaining.resize(base.infos().len());
            for name in answer.remaining(by_name) {
                let node = node(base, &name).filter(|&node| nodes.contains(node));
                let unknown =
                    || format!("extender {:?} returned node {name:?}, which was not in the request", self.url);
                remaining.insert(node.ok_or_else(unknown)?);
            }
            // The last rejection of a node counts, so UnschedulableAndUnresolvable wins for a node in both lists.
            let mut rejections = Vec::new();
            self.add_rejections(&mut rejections, base, answer.failed, Code::Unschedulable);
            self.add_rejections(&mut rejections, base, answer.failed_unresolvable, Code::UnschedulableAndUnresolvable);
            Ok((remaining, rejections))
        })
    }

    fn add_rejections(
        &self,
        rejections: &mut Vec<ExtenderRejection>,
        base: &Base,
        reasons: Option<Reasons>,
        code: Code,
    ) {
        for (name, reason) in reasons.into_iter().flatten() {
            match node(base, &name) {
                Some(node) => rejections.push(ExtenderRejection { node, code, reason: reason.unwrap_or_default() }),
                None => {
                    tracing::debug!(extender = %self.url, node = name, "Extender rejected an unknown node")
                }
            }
        }
    }

    /// Returns the amounts to add to the total scores of nodes, or an error if a score is out of range.
    pub(crate) fn prioritize(
        &self,
        verb: &str,
        pod: &Pod,
        base: &Base,
        nodes: &NodeMask,
    ) -> Result<Vec<(NodeIndex, i64)>, String> {
        let body = request::extender_args(pod, base, nodes, self.settings.node_cache_capable)?;
        self.call(Verb::Prioritize, verb, &body, |answer: Vec<Option<HostPriority>>| {
            let mut scores = Vec::new();
            for HostPriority { host, score } in answer.into_iter().map(Option::unwrap_or_default) {
                let (host, score) = (host.unwrap_or_default(), score.unwrap_or_default());
                if !SCORES.contains(&score) {
                    let (least, most) = (SCORES.start(), SCORES.end());
                    return Err(format!("its score of node {host:?} is {score}, and not in {least} to {most}"));
                }
                match node(base, &host).filter(|&node| nodes.contains(node)) {
                    Some(node) => scores.push((node, score.saturating_mul(self.settings.weight).saturating_mul(SCALE))),
                    None => tracing::debug!(extender = %self.url, node = host, "Extender scored a node that was not in the request"),
                }
            }
            Ok(scores)
        })
    }

    /// Returns the candidates for preemption that the extender leaves, with the victims that it names.
    pub(crate) fn preempt(
        &self,
        verb: &str,
        pod: &Pod,
        base: &Base,
        candidates: &[Candidate],
    ) -> Result<Vec<Candidate>, String> {
        let body = request::preemption_args(pod, base, candidates, self.settings.node_cache_capable)?;
        self.call(Verb::Preempt, verb, &body, |answer: Preempted| {
            preemption::validate_victims(answer, pod, base, candidates, self.settings.ignorable)
        })
    }

    /// Binds a pod.
    pub(crate) fn bind(&self, verb: &str, placement: &Placement) -> Result<(), String> {
        let body = request::binding_args(placement)?;
        self.call(Verb::Bind, verb, &body, |answer: Bound| match answer.error {
            Some(error) if !error.is_empty() => Err(error),
            _ => Ok(()),
        })
    }

    /// Notifies the extender that a pod was unreserved.
    pub(crate) fn unreserve(&self, verb: &str, placement: &Placement) -> Result<(), String> {
        let body = request::binding_args(placement)?;
        self.timed(Verb::Unreserve, || self.post(verb, &body).map(drop))
    }

    /// Sends a request and converts the response.
    fn call<A: DeserializeOwned + Default, T>(
        &self,
        verb_kind: Verb,
        verb: &str,
        body: &[u8],
        take: impl FnOnce(A) -> Result<T, String>,
    ) -> Result<T, String> {
        self.timed(verb_kind, || {
            let answer = self.post(verb, body)?;
            let answer = answer::read(&answer).map_err(|why| self.error_message(verb, &why))?;
            take(answer)
        })
    }

    fn timed<T>(&self, verb: Verb, call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let start = Instant::now();
        let result = call();
        let (duration, succeeded) = (start.elapsed(), result.is_ok());
        tracing::debug!(v = 5, extender = %self.url, verb = %verb, succeeded, took = ?duration, "Called extender");
        self.calls.add(ExtenderCall { extender: self.url.clone(), verb, succeeded, duration });
        result
    }

    fn post(&self, verb: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let url = format!("{}/{verb}", self.url.trim_end_matches('/'));
        self.client.post(&url, body).map_err(|failure| match failure {
            CallError::Status(code) => format!("failed {verb} with extender at URL {url}, code {code}"),
            CallError::Other(why) => self.error_message(verb, &why),
        })
    }

    fn error_message(&self, verb: &str, why: &str) -> String {
        format!("extender {}: {verb}: {why}", self.url)
    }
}

fn node(base: &Base, name: &str) -> Option<NodeIndex> {
    base.interner.get(name).and_then(|name| base.node(name))
}
