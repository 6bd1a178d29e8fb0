//! Fingerprints, by which `schedc backtest merge` recognises shards of different back-tests.

use std::hash::Hasher;

use schedc_core::profile::{Budget, ProfileInfo};
use serde::Serialize;
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::simulation::Options;
use crate::workload::{Change, Event, Lifetime, Workload};

/// A hash of values. It is equal on all machines, and does not depend on the version of the compiler.
#[derive(Default)]
pub(crate) struct Fingerprint(SipHasher13);

impl Fingerprint {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: &impl Serialize) {
        // All values have a form in JSON, because the keys of their maps are strings.
        self.0.write(&serde_json::to_vec(value).unwrap_or_default());
        // Separates values: JSON on one line contains no line end.
        self.0.write(b"\n");
    }

    pub(crate) fn finish(self) -> String {
        format!("{:032x}", self.0.finish128().as_u128())
    }
}

/// Returns the fingerprint of a profile: its plugins, weights, arguments and settings, and the version of schedc. The
/// profile's names and its `[budget]` do not count, because they change no decision of a back-test.
pub fn of_profile(profile: &ProfileInfo) -> String {
    let content = ProfileInfo { name: "", source: "", scheduler_name: "", budget: Budget::NONE, ..*profile };
    let mut fingerprint = Fingerprint::default();
    fingerprint.add(&env!("CARGO_PKG_VERSION"));
    fingerprint.add(&format!("{content:?}"));
    fingerprint.finish()
}

impl Workload {
    /// Returns the fingerprint of the workload and of the options that change the meaning of results.
    pub fn fingerprint(&self, options: &Options) -> String {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add(&(options.samples, options.explained, &options.price_label));
        fingerprint.add(&(self.start, self.end, self.objects.len(), self.events.len(), &self.resources));
        for template in &self.templates {
            fingerprint.add(&template.pod);
        }
        for pod in &self.pods {
            let lifetime = match pod.lifetime {
                Lifetime::Unlimited => (0, 0),
                Lifetime::Runs(time) => (1, time),
                Lifetime::Until(time) => (2, time),
            };
            let texts = (&*pod.name, &*pod.uid, pod.node.as_deref(), pod.recorded_node.as_deref());
            fingerprint.add(&(pod.template.0, texts, pod.created, lifetime, pod.is_served));
        }
        for Event { at, change } in &self.events {
            match change {
                Change::Arrive(pod) => fingerprint.add(&(at, "arrive", pod.0)),
                Change::Update(pod, template) => fingerprint.add(&(at, "update", pod.0, template.0)),
                Change::Set(object) => fingerprint.add(&(at, "set", object.to_json().ok())),
                Change::Delete(key) => fingerprint.add(&(at, "delete", key.kind, &*key.namespace, &*key.name)),
            }
        }
        for object in &self.objects {
            fingerprint.add(&object.to_json().ok());
        }
        fingerprint.finish()
    }
}
