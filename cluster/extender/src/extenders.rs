//! All extenders of a profile, in the order of their calls.

use std::sync::{Arc, OnceLock};
use std::thread;

use schedc_core::cache::Base;
use schedc_core::extenders::{ExtenderCall, ExtenderRejection, Extenders, Overrides};
use schedc_core::extension_points::{Candidate, Placement};
use schedc_core::model::Pod;
use schedc_core::node_mask::NodeMask;
use schedc_core::profile::ProfileInfo;
use tracing::{info, warn};

use crate::calls::Calls;
use crate::extender::ExtenderClient;
use crate::overrides;
use crate::settings::Extender;

/// Extenders of a profile, called over HTTP.
#[derive(Debug)]
pub struct HttpExtenders {
    settings: &'static [Extender],
    clients: OnceLock<Result<Vec<ExtenderClient>, String>>,
    calls: Arc<Calls>,
}

impl HttpExtenders {
    /// Creates extenders with the settings of their profile, overridden by the environment and by
    /// [`Extenders::set_up`]. `set_up` reads certificate files; without it, the first call does so.
    pub fn new(settings: &'static [Extender]) -> Self {
        HttpExtenders { settings, clients: OnceLock::new(), calls: Arc::default() }
    }

    /// Creates extenders with the settings of their profile and these overrides.
    ///
    /// # Errors
    /// A URL or a TLS setting is invalid, or a certificate or key cannot be read.
    pub fn with(settings: &'static [Extender], overrides: &Overrides) -> Result<Self, String> {
        let extenders = HttpExtenders::new(settings);
        extenders
            .clients
            .get_or_init(|| make(settings, overrides, &extenders.calls))
            .as_ref()
            .map_err(String::clone)?;
        Ok(extenders)
    }

    fn all(&self) -> Result<&[ExtenderClient], String> {
        let clients = self.clients.get_or_init(|| make(self.settings, &overrides::from_environment(), &self.calls));
        clients.as_deref().map_err(String::clone)
    }

    /// Returns the extenders that have a verb and handle a pod.
    fn interested<'a>(
        &'a self,
        pod: &Pod,
        base: &Base,
        verb: fn(&Extender) -> Option<&'static str>,
    ) -> Result<impl Iterator<Item = (&'a ExtenderClient, &'static str)>, String> {
        let with_verb = self.all()?.iter().filter_map(move |client| Some((client, verb(client.settings)?)));
        Ok(with_verb.filter(move |(client, _)| client.is_interested(pod, base)))
    }

    /// Returns the indices of the extenders that have a verb and handle a pod; none if the clients cannot be created.
    fn indices(&self, pod: &Pod, base: &Base, verb: fn(&Extender) -> Option<&'static str>) -> Vec<usize> {
        let all = self.all().unwrap_or_default().iter().enumerate();
        let matching = all.filter(|(_, client)| verb(client.settings).is_some() && client.is_interested(pod, base));
        matching.map(|(at, _)| at).collect()
    }
}

impl Extenders for HttpExtenders {
    /// Creates the clients with these overrides, which take precedence over the environment. Existing clients remain.
    fn set_up(&self, overrides: &Overrides, profiles: &[ProfileInfo]) -> Result<(), String> {
        self.clients.get_or_init(|| {
            let mut all = overrides::from_environment();
            all.extend(overrides);
            let own: Vec<&str> = self.settings.iter().map(|extender| extender.url_prefix).collect();
            overrides::check(&all, &own, profiles)?;
            make(self.settings, &all, &self.calls)
        });
        for client in self.all()?.iter().filter(|client| *client.url != *client.settings.url_prefix) {
            info!(extender = client.settings.url_prefix, url = %client.url, "The URL of an extender is overridden");
        }
        Ok(())
    }

    fn filter(&self, pod: &Arc<Pod>, base: &Base, feasible: &mut NodeMask) -> Result<Vec<ExtenderRejection>, String> {
        let mut rejections = Vec::new();
        for (client, verb) in self.interested(pod, base, |extender| extender.filter_verb)? {
            if feasible.is_empty() {
                break;
            }
            match client.filter(verb, pod, base, feasible) {
                Ok((remaining, new)) => {
                    *feasible = remaining;
                    rejections.extend(new);
                }
                Err(error) if client.settings.ignorable => skip(client, &error),
                Err(error) => return Err(error),
            }
        }
        Ok(rejections)
    }

    /// Calls the extenders that handle the pod concurrently, as kube-scheduler does.
    fn prioritize(&self, pod: &Arc<Pod>, base: &Base, feasible: &NodeMask, totals: &mut [i64]) {
        let interested: Vec<_> = match self.interested(pod, base, |extender| extender.prioritize_verb) {
            Ok(interested) => interested.collect(),
            Err(error) => return warn!(err = error, "No score given by extenders"),
        };
        let scores_of = |(client, verb): (&ExtenderClient, &str)| {
            let scores = client.prioritize(verb, pod, base, feasible);
            scores.unwrap_or_else(|error| {
                let pod = pod.namespaced_name();
                warn!(extender = %client.url, pod = %pod, err = error, "No score given by this extender");
                Vec::new()
            })
        };
        let all = match interested[..] {
            [only] => vec![scores_of(only)],
            _ => thread::scope(|scope| {
                let threads: Vec<_> =
                    interested.into_iter().map(|client| scope.spawn(move || scores_of(client))).collect();
                threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
            }),
        };
        for (node, score) in all.into_iter().flatten() {
            if let Some(total) = totals.get_mut(node.get()) {
                *total = total.saturating_add(score);
            }
        }
    }

    fn preempt(&self, pod: &Arc<Pod>, base: &Base, mut candidates: Vec<Candidate>) -> Result<Vec<Candidate>, String> {
        for (client, verb) in self.interested(pod, base, |extender| extender.preempt_verb)? {
            if candidates.is_empty() {
                break;
            }
            match client.preempt(verb, pod, base, &candidates) {
                Ok(remaining) => candidates = remaining,
                Err(error) if client.settings.ignorable => skip(client, &error),
                Err(error) => return Err(error),
            }
        }
        Ok(candidates)
    }

    fn binders(&self, pod: &Pod, base: &Base) -> Vec<usize> {
        self.indices(pod, base, |extender| extender.bind_verb)
    }

    fn bind(&self, placement: &Placement, binders: &[usize]) -> Result<bool, String> {
        let all = self.all()?;
        for client in binders.iter().filter_map(|&at| all.get(at)) {
            let Some(verb) = client.settings.bind_verb else { continue };
            match client.bind(verb, placement) {
                Ok(()) => return Ok(true),
                Err(error) if client.settings.ignorable => skip(client, &error),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn unreservers(&self, pod: &Pod, base: &Base) -> Vec<usize> {
        self.indices(pod, base, |extender| extender.unreserve_verb)
    }

    fn unreserve(&self, placement: &Placement, unreservers: &[usize]) {
        let all = self.all().unwrap_or_default();
        for client in unreservers.iter().filter_map(|&at| all.get(at)) {
            let Some(verb) = client.settings.unreserve_verb else { continue };
            if let Err(error) = client.unreserve(verb, placement) {
                let pod = placement.pod.namespaced_name();
                warn!(extender = %client.url, pod = %pod, err = error, "Unable to notify an extender of unreserve");
            }
        }
    }

    fn take_calls(&self) -> Vec<ExtenderCall> {
        self.calls.take()
    }
}

fn make(
    settings: &'static [Extender],
    overrides: &Overrides,
    calls: &Arc<Calls>,
) -> Result<Vec<ExtenderClient>, String> {
    let is_only = settings.len() == 1;
    settings.iter().map(|extender| ExtenderClient::new(extender, overrides, is_only, calls.clone())).collect()
}

fn skip(client: &ExtenderClient, error: &str) {
    info!(extender = %client.url, err = error, "Skipping extender as it returned error and has ignorable flag set");
}
