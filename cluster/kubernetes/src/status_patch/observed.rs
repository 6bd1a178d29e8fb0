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
    /// Conditions that a scheduler writes.
    pub scheduler_conditions: Box<[ObservedCondition]>,
    /// `status.nominatedNodeName`
    pub nominated_node: Option<Arc<str>>,
}

/// Observed condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedCondition {
    /// Condition type.
    pub kind: &'static str,
    /// `True`, `False` or `Unknown`.
    pub status: Box<str>,
    /// Reason.
    pub reason: Box<str>,
    /// Message.
    pub message: Box<str>,
    /// Whether it has a `lastProbeTime`, which schedulers never set.
    pub was_probed: bool,
    /// Observed generation; 0 if there is none.
    pub observed_generation: i64,
}

/// Types of the conditions that a scheduler writes.
const OWN: [&str; 2] = ["PodScheduled", "DisruptionTarget"];

impl ObservedStatus {
    /// Reads the status of a pod.
    pub fn new(pod: &api::Pod, orders: &mut ConditionOrders) -> ObservedStatus {
        let status = pod.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        let nominated_node = status.and_then(|status| status.nominated_node_name.as_deref());
        ObservedStatus {
            generation: pod.metadata.generation.unwrap_or(0),
            order: orders.share(conditions),
            scheduler_conditions: conditions.iter().filter_map(ObservedCondition::new).collect(),
            nominated_node: nominated_node.filter(|name| !name.is_empty()).map(Arc::from),
        }
    }
}

impl ObservedCondition {
    /// Reads a condition if a scheduler writes its type.
    fn new(condition: &api::PodCondition) -> Option<ObservedCondition> {
        let kind = OWN.into_iter().find(|scheduler_conditions| *scheduler_conditions == condition.type_)?;
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

/// Distinct orders of condition types in the cluster, each stored once.
#[derive(Debug, Default)]
pub struct ConditionOrders {
    orders: HashTable<Arc<[Box<str>]>>,
    /// Number of orders at which unused ones are removed.
    limit: usize,
}

impl ConditionOrders {
    fn share(&mut self, conditions: &[api::PodCondition]) -> Arc<[Box<str>]> {
        let types = || conditions.iter().map(|condition| condition.type_.as_str());
        let known = self.orders.find(hash(types()), |order| order.iter().map(|kind| &**kind).eq(types()));
        if let Some(known) = known {
            return known.clone();
        }
        let order: Arc<[Box<str>]> = types().map(Box::from).collect();
        if self.orders.len() >= self.limit {
            self.orders.retain(|order| Arc::strong_count(order) > 1);
            self.limit = 64.max(self.orders.len() * 2);
        }
        self.orders.insert_unique(hash(types()), order.clone(), |order| hash(order.iter().map(|kind| &**kind)));
        order
    }
}

fn hash<'a>(types: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    types.for_each(|kind| kind.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::api_pod;

    use super::*;

    #[test]
    fn pods_with_the_same_condition_types_share_their_order() {
        let mut orders = ConditionOrders::default();
        let mut order = |types: &str| {
            let conditions: Vec<_> =
                types.split_whitespace().map(|kind| format!("{{type: {kind}, status: 'True'}}")).collect();
            let pod =
                api_pod(&format!("{{metadata: {{name: a}}, status: {{conditions: [{}]}}}}", conditions.join(", ")));
            ObservedStatus::new(&pod, &mut orders).order
        };
        let (first, second, other) =
            (order("PodScheduled Ready"), order("PodScheduled Ready"), order("Ready PodScheduled"));
        assert!(Arc::ptr_eq(&first, &second));
        assert_ne!(first, other);
        drop((first, second, other));
        for number in 0..1000 {
            order(&format!("Gate{number}"));
        }
        assert!(orders.orders.len() <= 64, "{}", orders.orders.len());
    }

    #[test]
    fn other_conditions_keep_only_their_type() {
        let pod = api_pod(
            "{metadata: {name: a, generation: 3}, status: {nominatedNodeName: '', conditions: [{type: Ready, status: 'True', \
             message: long}, {type: PodScheduled, status: 'False', reason: r, observedGeneration: 2, lastProbeTime: \
             '2026-01-01T00:00:00Z'}]}}",
        );
        let observed = ObservedStatus::new(&pod, &mut ConditionOrders::default());
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
