//! The pods that can be evicted, and the pods that their controllers create instead.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use schedc_core::intern::Interner;
use schedc_core::model::Object;
use schedc_objects::{AnyObject, convert_object, convert_pod, is_finished};

use super::{BudgetUse, ObstacleReason};
use crate::trial::Trial;

/// Permissions for evictions that lose a pod or its data, as for `kubectl drain`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permissions {
    /// Whether pods without a controller are deleted.
    pub force: bool,
    /// Whether pods with `emptyDir` volumes are evicted.
    pub delete_empty_dir_data: bool,
}

/// Treatment of a pod on a node that is to be emptied.
pub(crate) enum Treatment {
    /// The pod is not evicted: it belongs to its node, has ended, or is being deleted.
    Stays,
    /// The pod is evicted.
    Moves,
    /// The pod cannot be evicted.
    Immovable(ObstacleReason),
}

/// Annotations with which users forbid evictions.
const FORBIDDING_ANNOTATIONS: [(&str, &str); 2] =
    [("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), ("karpenter.sh/do-not-disrupt", "true")];
/// Annotation of a static pod, which the kubelet of its node runs.
const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";

pub(crate) fn treatment(pod: &Pod, permissions: Permissions) -> Treatment {
    let owner = controller(&pod.metadata);
    let annotation = |key: &str| pod.metadata.annotations.as_ref().and_then(|all| all.get(key)).map(String::as_str);
    let is_daemon = owner.is_some_and(|owner| owner.kind == "DaemonSet");
    if is_finished(pod)
        || pod.metadata.deletion_timestamp.is_some()
        || is_daemon
        || annotation(MIRROR_ANNOTATION).is_some()
    {
        return Treatment::Stays;
    }
    if let Some((key, value)) = FORBIDDING_ANNOTATIONS.iter().find(|(key, value)| annotation(key) == Some(*value)) {
        return Treatment::Immovable(ObstacleReason::Annotation { annotation: format!("{key}: \"{value}\"") });
    }
    if owner.is_none() && !permissions.force {
        return Treatment::Immovable(ObstacleReason::NoController);
    }
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let local = volumes.into_iter().find(|volume| volume.empty_dir.is_some());
    match local.filter(|_| !permissions.delete_empty_dir_data) {
        Some(volume) => Treatment::Immovable(ObstacleReason::LocalData { volume: volume.name.clone() }),
        None => Treatment::Moves,
    }
}

fn controller(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

pub(crate) fn priority(pod: &Pod) -> i32 {
    pod.spec.as_ref().and_then(|spec| spec.priority).unwrap_or(0)
}

/// Returns the budget that an eviction counts against. Returns `None` if no budget selects the pod, or if the pod is not
/// ready and may therefore be evicted anyway.
///
/// # Errors
/// Returns the reason why an API server refuses the eviction.
pub(crate) fn budget(pod: &Pod, trial: &Trial) -> Result<Option<BudgetUse>, ObstacleReason> {
    let mut interner = Interner::default();
    let model = convert_pod(pod, &mut interner);
    let namespace = schedc_objects::namespace(&pod.metadata);
    let mut matching = Vec::new();
    for object in trial.budgets(namespace) {
        let AnyObject::PodDisruptionBudget(budget) = &**object else { continue };
        // Most budgets select other pods; their conversion would cost more than this comparison.
        let required = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref()?.match_labels.as_ref());
        let has_label =
            |(key, value): (&String, &String)| pod.metadata.labels.as_ref().and_then(|all| all.get(key)) == Some(value);
        if !required.into_iter().flatten().all(has_label) {
            continue;
        }
        let Some(Object::PodDisruptionBudget(converted)) = convert_object(object, &mut interner) else { continue };
        // For the scheduler, a budget does not count pods that are already being disrupted. For an eviction, it applies
        // to them too.
        if converted.selector.as_ref().is_some_and(|selector| selector.matches(&model.spec.labels)) {
            matching.push((format!("{namespace}/{}", object.name()), budget));
        }
    }
    let (name, budget) = match &matching[..] {
        [] => return Ok(None),
        [only] => only,
        several => {
            let budgets = several.iter().map(|(name, _)| name.clone()).collect();
            return Err(ObstacleReason::SeveralBudgets { budgets });
        }
    };
    let status = budget.status.clone().unwrap_or_default();
    // The eviction of a pod that is not ready does not reduce the number of healthy pods.
    let policy = budget.spec.as_ref().and_then(|spec| spec.unhealthy_pod_eviction_policy.as_deref());
    let is_short = status.current_healthy.unwrap_or(0) < status.desired_healthy.unwrap_or(0);
    let has_desired = status.desired_healthy.unwrap_or(0) > 0;
    if !is_ready(pod) && (policy == Some("AlwaysAllow") || (has_desired && !is_short)) {
        return Ok(None);
    }
    match status.disruptions_allowed.unwrap_or(0) {
        allowed if allowed > 0 => Ok(Some(BudgetUse { budget: name.clone(), allowed })),
        _ => Err(ObstacleReason::Budget { budget: name.clone() }),
    }
}

/// Returns whether a pod is ready. A pod without the condition `Ready` counts as ready, because no kubelet reports it
/// here.
fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().find(|condition| condition.type_ == "Ready").is_none_or(|ready| ready.status == "True")
}

/// Returns the pod that the controller creates in place of an evicted one; `None` for a pod without a controller. A
/// StatefulSet keeps the name.
pub(crate) fn replacement(pod: &Pod) -> Option<Pod> {
    let owner = controller(&pod.metadata)?;
    let keeps_name = owner.kind == "StatefulSet";
    let prefix = pod.metadata.generate_name.clone().unwrap_or_else(|| format!("{}-", owner.name));
    let metadata = ObjectMeta {
        name: pod.metadata.name.clone().filter(|_| keeps_name),
        generate_name: Some(prefix).filter(|_| !keeps_name),
        namespace: pod.metadata.namespace.clone(),
        labels: pod.metadata.labels.clone(),
        annotations: pod.metadata.annotations.clone(),
        owner_references: pod.metadata.owner_references.clone(),
        ..ObjectMeta::default()
    };
    let mut spec = pod.spec.clone().unwrap_or_default();
    spec.node_name = None;
    Some(Pod { metadata, spec: Some(spec), status: None })
}
