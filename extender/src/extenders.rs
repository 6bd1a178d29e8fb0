//! All extenders of a profile, in the order in which they are asked.

use std::sync::{Arc, OnceLock};
use std::thread;

use schedc_core::cache::Base;
use schedc_core::extenders::{ExtenderCall, ExtenderRejection, Extenders, Overrides};
use schedc_core::extension_points::{Candidate, Placement};
use schedc_core::node_mask::NodeMask;
use schedc_core::model::Pod;
use schedc_core::profile::ProfileInfo;
use tracing::{info, warn};

use crate::calls::Calls;
use crate::extender::Asked;
use crate::overrides;
use crate::settings::Extender;

/// The extenders of a profile, asked by HTTP.
#[derive(Debug)]
pub struct HttpExtenders {
    settings: &'static [Extender],
    asked: OnceLock<Result<Vec<Asked>, String>>,
    calls: Calls,
}

impl HttpExtenders {
    /// Extenders as their profile describes them, but for what the environment says, and what [`Extenders::set_up`] is told.
    /// Nothing is read or connected to before that, or before something is asked.
    pub fn new(settings: &'static [Extender]) -> Self {
        HttpExtenders { settings, asked: OnceLock::new(), calls: Calls::default() }
    }

    /// Extenders as their profile describes them, but for this.
    ///
    /// # Errors
    /// A URL is none, or certificates cannot be read.
    pub fn with(settings: &'static [Extender], overrides: &Overrides) -> Result<Self, String> {
        let extenders = HttpExtenders::new(settings);
        extenders.asked.get_or_init(|| make(settings, overrides)).as_ref().map_err(String::clone)?;
        Ok(extenders)
    }

    fn all(&self) -> Result<&[Asked], String> {
        let asked = self.asked.get_or_init(|| make(self.settings, &overrides::of_environment()));
        asked.as_deref().map_err(String::clone)
    }

    /// Those that do something, and want to be asked about a pod.
    fn interested<'a>(
        &'a self,
        pod: &Pod,
        base: &Base,
        verb: fn(&Extender) -> Option<&'static str>,
    ) -> Result<impl Iterator<Item = (&'a Asked, &'static str)>, String> {
        let with_verb = self.all()?.iter().filter_map(move |asked| Some((asked, verb(asked.settings)?)));
        Ok(with_verb.filter(move |(asked, _)| asked.is_interested(pod, base)))
    }

    /// The places of those that do something for a pod.
    fn places(&self, pod: &Pod, base: &Base, verb: fn(&Extender) -> Option<&'static str>) -> Vec<usize> {
        let all = self.all().unwrap_or_default().iter().enumerate();
        let does = all.filter(|(_, asked)| verb(asked.settings).is_some() && asked.is_interested(pod, base));
        does.map(|(at, _)| at).collect()
    }
}

impl Extenders for HttpExtenders {
    /// What is told goes before what the environment says.
    fn set_up(&self, here: &Overrides, profiles: &[ProfileInfo]) -> Result<(), String> {
        self.asked.get_or_init(|| {
            let mut all = overrides::of_environment();
            all.extend(here);
            let own: Vec<&str> = self.settings.iter().map(|extender| extender.url_prefix).collect();
            overrides::check(&all, &own, profiles)?;
            make(self.settings, &all)
        });
        for asked in self.all()?.iter().filter(|asked| *asked.url != *asked.settings.url_prefix) {
            info!(extender = asked.settings.url_prefix, url = %asked.url, "Extender is asked somewhere else");
        }
        Ok(())
    }

    fn filter(&self, pod: &Arc<Pod>, base: &Base, feasible: &mut NodeMask) -> Result<Vec<ExtenderRejection>, String> {
        let mut rejections = Vec::new();
        for (asked, verb) in self.interested(pod, base, |extender| extender.filter_verb)? {
            if feasible.is_empty() {
                break;
            }
            match asked.filter(verb, pod, base, feasible, &self.calls) {
                Ok((left, more)) => {
                    *feasible = left;
                    rejections.extend(more);
                }
                Err(error) if asked.settings.ignorable => skip(asked, &error),
                Err(error) => return Err(error),
            }
        }
        Ok(rejections)
    }

    /// All at the same time, as kube-scheduler does.
    fn prioritize(&self, pod: &Arc<Pod>, base: &Base, feasible: &NodeMask, totals: &mut [i64]) {
        let interested: Vec<_> = match self.interested(pod, base, |extender| extender.prioritize_verb) {
            Ok(interested) => interested.collect(),
            Err(error) => return warn!(err = error, "No score given by extenders"),
        };
        let ask = |(asked, verb): (&Asked, &str)| {
            let scores = asked.prioritize(verb, pod, base, feasible, &self.calls);
            scores.unwrap_or_else(|error| {
                let pod = pod.namespaced_name();
                warn!(extender = %asked.url, pod = %pod, err = error, "No score given by this extender");
                Vec::new()
            })
        };
        let all = match interested[..] {
            [only] => vec![ask(only)],
            _ => thread::scope(|scope| {
                let threads: Vec<_> = interested.into_iter().map(|asked| scope.spawn(move || ask(asked))).collect();
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
        for (asked, verb) in self.interested(pod, base, |extender| extender.preempt_verb)? {
            if candidates.is_empty() {
                break;
            }
            match asked.preempt(verb, pod, base, &candidates, &self.calls) {
                Ok(left) => candidates = left,
                Err(error) if asked.settings.ignorable => skip(asked, &error),
                Err(error) => return Err(error),
            }
        }
        Ok(candidates)
    }

    fn binders(&self, pod: &Pod, base: &Base) -> Vec<usize> {
        self.places(pod, base, |extender| extender.bind_verb)
    }

    fn bind(&self, placement: &Placement, binders: &[usize]) -> Result<bool, String> {
        let all = self.all()?;
        for asked in binders.iter().filter_map(|&at| all.get(at)) {
            let Some(verb) = asked.settings.bind_verb else { continue };
            match asked.bind(verb, placement, &self.calls) {
                Ok(()) => return Ok(true),
                Err(error) if asked.settings.ignorable => skip(asked, &error),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn unreservers(&self, pod: &Pod, base: &Base) -> Vec<usize> {
        self.places(pod, base, |extender| extender.unreserve_verb)
    }

    fn unreserve(&self, placement: &Placement, unreservers: &[usize]) {
        let all = self.all().unwrap_or_default();
        for asked in unreservers.iter().filter_map(|&at| all.get(at)) {
            let Some(verb) = asked.settings.unreserve_verb else { continue };
            if let Err(error) = asked.unreserve(verb, placement, &self.calls) {
                let pod = placement.pod.namespaced_name();
                warn!(extender = %asked.url, pod = %pod, err = error, "An extender did not hear that a decision was undone");
            }
        }
    }

    fn take_calls(&self) -> Vec<ExtenderCall> {
        self.calls.take()
    }
}

fn make(settings: &'static [Extender], overrides: &Overrides) -> Result<Vec<Asked>, String> {
    settings.iter().map(|extender| Asked::new(extender, overrides, settings.len() == 1)).collect()
}

fn skip(asked: &Asked, error: &str) {
    info!(extender = %asked.url, err = error, "Skipping extender as it returned error and has ignorable flag set");
}
