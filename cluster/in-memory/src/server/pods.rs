//! Bindings and statuses of pods.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Pod, PodCondition};
use schedc_core::client::{ApiError, Condition, StatusPatch};
use schedc_objects::AnyObject;

use super::{ApiServer, Key, PodRef, errors, time};

impl ApiServer {
    /// Binds a pod to a node: sets its condition `PodScheduled` to true and removes its nomination.
    pub(super) fn bind(&mut self, pod: &PodRef, node: &str, now: i64) -> Result<Arc<AnyObject>, ApiError> {
        let key = pod.key();
        let old = self.pod(&key, pod)?;
        let refuse = |why: String| Err(errors::conflict("pods/binding", &pod.name, why));
        if old.metadata.deletion_timestamp.is_some() {
            return refuse(format!("pod {} is being deleted, cannot be assigned to a host", pod.name));
        }
        let spec = old.spec.as_ref();
        if let Some(other) = spec.and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty()) {
            return refuse(format!("pod {} is already assigned to node \"{other}\"", pod.name));
        }
        if spec.and_then(|spec| spec.scheduling_gates.as_ref()).is_some_and(|gates| !gates.is_empty()) {
            return refuse(format!("pod {} has non-empty .spec.schedulingGates", pod.name));
        }
        self.change_pod(&key, |bound| {
            bound.spec.get_or_insert_default().node_name = Some(node.to_owned());
            let status = bound.status.get_or_insert_default();
            status.nominated_node_name = None;
            let scheduled = PodCondition {
                type_: "PodScheduled".to_owned(),
                status: "True".to_owned(),
                observed_generation: bound.metadata.generation,
                ..PodCondition::default()
            };
            set_condition(status.conditions.get_or_insert_default(), scheduled, now);
        })
    }

    /// Applies a status patch of a scheduler. A condition keeps its last transition time if its status stays the same.
    pub(super) fn patch_pod_status(
        &mut self,
        pod: &PodRef,
        patch: &StatusPatch,
        now: i64,
    ) -> Result<Arc<AnyObject>, ApiError> {
        let key = pod.key();
        let old = self.pod(&key, pod)?;
        let (old_status, generation) = (old.status.as_ref(), old.metadata.generation);
        let mut status = old_status.cloned().unwrap_or_default();
        if let Some(Condition { kind, status: is_true, reason, message }) = &patch.condition {
            let condition = PodCondition {
                type_: (*kind).to_owned(),
                status: if *is_true { "True" } else { "False" }.to_owned(),
                reason: Some((*reason).to_owned()),
                message: Some(message.clone()),
                observed_generation: generation,
                ..PodCondition::default()
            };
            set_condition(status.conditions.get_or_insert_default(), condition, now);
        }
        if let Some(node) = &patch.nominated_node {
            status.nominated_node_name = node.as_ref().map(|node| node.to_string());
        }
        if old_status == Some(&status) {
            return self.get(&key).cloned().ok_or_else(|| errors::not_found(&key));
        }
        self.change_pod(&key, |patched| patched.status = Some(status))
    }

    fn change_pod(&mut self, key: &Key, change: impl FnOnce(&mut Pod)) -> Result<Arc<AnyObject>, ApiError> {
        let changed = self.store.modify(key, |object| {
            if let AnyObject::Pod(pod) = object {
                change(pod);
            }
        });
        changed.ok_or_else(|| errors::not_found(key))
    }

    /// Returns the pod, which must have the uid of `wanted`.
    fn pod(&self, key: &Key, wanted: &PodRef) -> Result<&Pod, ApiError> {
        let Some(AnyObject::Pod(pod)) = self.get(key).map(|object| &**object) else {
            return Err(errors::not_found(key));
        };
        let uid = pod.metadata.uid.as_deref().unwrap_or_default();
        if uid != &*wanted.uid.0 {
            return Err(errors::other_uid(key, &wanted.uid.0, uid));
        }
        Ok(pod)
    }
}

fn set_condition(conditions: &mut Vec<PodCondition>, mut new: PodCondition, now: i64) {
    match conditions.iter_mut().find(|condition| condition.type_ == new.type_) {
        Some(old) => {
            let is_unchanged = old.status == new.status;
            new.last_transition_time =
                old.last_transition_time.take().filter(|_| is_unchanged).or_else(|| Some(time(now)));
            *old = new;
        }
        None => {
            new.last_transition_time = Some(time(now));
            conditions.push(new);
        }
    }
}
