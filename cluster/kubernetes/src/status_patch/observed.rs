//! Fields of a pod's status that patches depend on.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;
use k8s_openapi::api::core::v1 as api;

/// Fields of a pod's status that patches depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedStatus {
    /// `metadata.generation`; 0 if there is none.
    pub generation: i64,
    /// Types of all conditions, in order. Pods with the same types share one value.
    pub order: Arc<[Box<str>]>,
    /// Conditions that a scheduler writes. Pods with equal ones share one value, for example most bound pods, or pods
    /// that are unschedulable for the same reason.
    pub scheduler_conditions: Arc<[ObservedCondition]>,
    /// `status.nominatedNodeName`
    pub nominated_node: Option<Arc<str>>,
}

/// Observed condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ObservedCondition {
    /// Condition type.
    pub kind: &'static str,
    /// `True`, `False` or `Unknown`.
    pub status: Box<str>,
    /// Reason.
    pub reason: Box<str>,
    /// Message.
    pub message: Box<str>,
    /// Whether the condition has a `lastProbeTime`, which schedulers never set.
    pub was_probed: bool,
    /// Observed generation; 0 if there is none.
    pub observed_generation: i64,
}

/// Types of the conditions that a scheduler writes.
const SCHEDULER_CONDITIONS: [&str; 2] = ["PodScheduled", "DisruptionTarget"];

impl ObservedStatus {
    /// Reads the status of a pod.
    pub fn new(pod: &api::Pod, shared: &mut SharedConditions) -> ObservedStatus {
        let status = pod.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        let nominated_node = status.and_then(|status| status.nominated_node_name.as_deref());
        ObservedStatus {
            generation: pod.metadata.generation.unwrap_or(0),
            order: shared.order(conditions),
            scheduler_conditions: shared.scheduler_conditions(conditions),
            nominated_node: nominated_node.filter(|name| !name.is_empty()).map(Arc::from),
        }
    }
}

impl ObservedCondition {
    /// Reads a condition if a scheduler writes its type.
    fn new(condition: &api::PodCondition) -> Option<ObservedCondition> {
        let kind = SCHEDULER_CONDITIONS.into_iter().find(|kind| *kind == condition.type_)?;
        let text = |text: &Option<String>| text.as_deref().unwrap_or_default().into();
        Some(ObservedCondition {
            kind,
            status: condition.status.as_str().into(),
            reason: text(&condition.reason),
            message: text(&condition.message),
            was_probed: condition.last_probe_time.is_some(),
            observed_generation: condition.observed_generation.unwrap_or(0),
        })
    }
}

/// Distinct orders of condition types and distinct conditions in the cluster, each stored once.
#[derive(Debug, Default)]
pub struct SharedConditions {
    orders: SharedSlices<Box<str>>,
    scheduler_conditions: SharedSlices<ObservedCondition>,
}

impl SharedConditions {
    fn order(&mut self, conditions: &[api::PodCondition]) -> Arc<[Box<str>]> {
        let types = || conditions.iter().map(|condition| condition.type_.as_str());
        let is_it = |order: &[Box<str>]| order.iter().map(|kind| &**kind).eq(types());
        self.orders.share(hash(types()), is_it, || types().map(Box::from).collect())
    }

    fn scheduler_conditions(&mut self, conditions: &[api::PodCondition]) -> Arc<[ObservedCondition]> {
        let observed: Vec<_> = conditions.iter().filter_map(ObservedCondition::new).collect();
        self.scheduler_conditions.share(
            hash(observed.iter()),
            |known| *known == *observed,
            || observed.as_slice().into(),
        )
    }
}

/// Distinct slices, each stored once, with its hash.
#[derive(Debug)]
struct SharedSlices<T> {
    slices: HashTable<(u64, Arc<[T]>)>,
    /// Number of slices at which unused ones are removed.
    limit: usize,
}

impl<T> Default for SharedSlices<T> {
    fn default() -> Self {
        SharedSlices { slices: HashTable::default(), limit: MIN_SHARED }
    }
}

/// Minimum number of slices at which unused ones are removed.
const MIN_SHARED: usize = 64;

impl<T> SharedSlices<T> {
    /// Returns the stored slice with this hash that `is_it` accepts. If there is none, stores the slice that `make`
    /// returns.
    fn share(&mut self, hash: u64, is_it: impl Fn(&[T]) -> bool, make: impl FnOnce() -> Arc<[T]>) -> Arc<[T]> {
        if let Some((_, known)) = self.slices.find(hash, |(other, known)| *other == hash && is_it(known)) {
            return known.clone();
        }
        let slice = make();
        if self.slices.len() >= self.limit {
            self.slices.retain(|(_, slice)| Arc::strong_count(slice) > 1);
            self.limit = MIN_SHARED.max(self.slices.len() * 2);
            self.slices.shrink_to(self.limit, |(hash, _)| *hash);
        }
        self.slices.insert_unique(hash, (hash, slice.clone()), |(hash, _)| *hash);
        slice
    }
}

fn hash<T: Hash>(values: impl Iterator<Item = T>) -> u64 {
    let mut hasher = DefaultHasher::new();
    values.for_each(|value| value.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::api_pod;

    use super::*;

    #[test]
    fn pods_with_the_same_condition_types_share_their_order() {
        let mut shared = SharedConditions::default();
        let mut order = |types: &str| {
            let conditions: Vec<_> =
                types.split_whitespace().map(|kind| format!("{{type: {kind}, status: 'True'}}")).collect();
            let pod =
                api_pod(&format!("{{metadata: {{name: a}}, status: {{conditions: [{}]}}}}", conditions.join(", ")));
            ObservedStatus::new(&pod, &mut shared).order
        };
        let (first, second, other) =
            (order("PodScheduled Ready"), order("PodScheduled Ready"), order("Ready PodScheduled"));
        assert!(Arc::ptr_eq(&first, &second));
        assert_ne!(first, other);
        drop((first, second, other));
        for number in 0..1000 {
            order(&format!("Gate{number}"));
        }
        assert!(shared.orders.slices.len() <= 64, "{}", shared.orders.slices.len());
    }

    #[test]
    fn pods_with_the_same_scheduler_conditions_share_them() {
        let mut shared = SharedConditions::default();
        let mut conditions = |other: &str, reason: &str| {
            let scheduled = format!("{{type: PodScheduled, status: 'False', reason: {reason}}}");
            let pod = format!(
                "{{metadata: {{name: a}}, status: {{conditions: [{{type: {other}, status: x}}, {scheduled}]}}}}"
            );
            ObservedStatus::new(&api_pod(&pod), &mut shared).scheduler_conditions
        };
        let [first, second, third] = [("Ready", "a"), ("Gate", "a"), ("Ready", "b")].map(|(x, y)| conditions(x, y));
        assert!(Arc::ptr_eq(&first, &second));
        assert_ne!(first, third);
    }

    #[test]
    fn other_conditions_keep_only_their_type() {
        let pod = api_pod(
            "{metadata: {name: a, generation: 3}, status: {nominatedNodeName: '', conditions: [{type: Ready, status: 'True', \
             message: long}, {type: PodScheduled, status: 'False', reason: r, observedGeneration: 2, lastProbeTime: \
             '2026-01-01T00:00:00Z'}]}}",
        );
        let observed = ObservedStatus::new(&pod, &mut SharedConditions::default());
        assert_eq!((observed.generation, observed.order.len(), observed.nominated_node), (3, 2, None));
        let [scheduler_conditions] = &*observed.scheduler_conditions else {
            panic!("{:?}", observed.scheduler_conditions)
        };
        assert_eq!(
            (scheduler_conditions.kind, &*scheduler_conditions.reason, &*scheduler_conditions.message),
            ("PodScheduled", "r", "")
        );
        assert!(scheduler_conditions.was_probed && scheduler_conditions.observed_generation == 2);
    }
}
