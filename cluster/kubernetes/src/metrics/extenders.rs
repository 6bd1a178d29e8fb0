//! Extender calls, as the driver reports them.

use std::sync::Arc;

use schedc_core::extenders::{ExtenderCall, Verb};

use super::exposition::Exposition;
use super::family::{Buckets, Family, Stability};
use super::values::{Histogram, MetricVec};

/// Duration of extender calls. kube-scheduler has no such metric.
pub(super) static CALL_DURATION: Family = Family::histogram(
    "scheduler_extender_call_duration_seconds",
    &["extender", "result", "verb"],
    Buckets::Exponential { start: 0.001, factor: 2.0, count: 15 },
    Stability::None,
    "Duration of extender calls, by URL prefix, verb and whether the response was usable.",
);

/// Durations of all calls.
#[derive(Debug, Default)]
pub(super) struct ExtenderMetrics(MetricVec<(Arc<str>, Verb, bool), Histogram>);

impl ExtenderMetrics {
    pub(super) fn count(&self, call: &ExtenderCall) {
        let key = (call.extender.clone(), call.verb, call.succeeded);
        self.0.with(&key, || Histogram::new(&CALL_DURATION), |histogram| histogram.observe_duration(call.duration));
    }

    pub(super) fn write(&self, exposition: &mut Exposition<'_>) {
        self.0.each(|(extender, verb, succeeded), histogram| {
            let result = if *succeeded { "success" } else { "error" };
            exposition.histogram(&CALL_DURATION, &[extender, result, &verb.to_string()], histogram);
        });
    }
}
