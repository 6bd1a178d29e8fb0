//! Selectors of the workloads that pods belong to.

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::{Map, Set};
use schedc_core::model::{ControllerRef, LabelSelector, LabelsExt, Object, PodSpec, WorkloadKind};

/// The selectors of Services, ReplicationControllers, ReplicaSets and StatefulSets.
#[derive(Clone, Debug, Default)]
pub struct WorkloadSelectors {
    namespaces: Map<Symbol, Workloads>,
    /// The namespaces and controllers of the pods that were registered since `epoch` last changed.
    registered: Map<Symbol, Set<ControllerRef>>,
    epoch: u64,
}

impl PartialEq for WorkloadSelectors {
    fn eq(&self, other: &Self) -> bool {
        self.namespaces == other.namespaces
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Workloads {
    /// By name, without empty selectors.
    services: Map<Symbol, LabelSelector>,
    controllers: Map<ControllerRef, LabelSelector>,
}

impl WorkloadSelectors {
    /// Returns kube-scheduler's `DefaultSelector`: the selectors of all Services that match a pod, combined with the
    /// selector of the pod's controller. The result is empty if none of these selectors exists.
    ///
    /// The result depends on the pod's namespace, labels and controller, and on the workloads of the namespace.
    pub fn default_selector(&self, pod: &PodSpec) -> LabelSelector {
        let Some(workloads) = self.namespaces.get(&pod.namespace) else { return LabelSelector::default() };
        // Matching selectors have the pod's values, so their keys determine the combined selector.
        let matching = workloads.services.values().filter(|selector| selector.matches(&pod.labels));
        let mut keys: Vec<Symbol> = matching.flat_map(|s| s.requirements.iter().map(|r| r.key)).collect();
        let controller =
            pod.controller.and_then(|controller| Some((controller, workloads.controllers.get(&controller)?)));
        if let Some((ControllerRef { kind: WorkloadKind::ReplicationController, .. }, selector)) = controller {
            keys.retain(|key| selector.requirements.iter().all(|requirement| requirement.key != *key));
        }
        keys.sort_unstable();
        keys.dedup();
        let labels: Vec<_> = keys.into_iter().filter_map(|key| Some((key, pod.labels.value(key)?))).collect();
        let selector = LabelSelector::from_labels(&labels);
        match controller {
            Some((_, of_controller)) => selector.and(of_controller),
            None => selector,
        }
    }
}

impl WorkloadSelectors {
    /// Returns the default selector to a caller that keeps it until [`WorkloadSelectors::epoch`] changes.
    pub fn register(&mut self, pod: &PodSpec) -> LabelSelector {
        self.registered.entry(pod.namespace).or_default().extend(pod.controller);
        self.default_selector(pod)
    }

    /// Returns a number that grows when a selector changes that can affect a pod for which
    /// [`WorkloadSelectors::register`] was called.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns whether a workload's selector can affect a registered pod. Services can affect any pod of their
    /// namespace; controllers affect only their own pods.
    fn affects_registered_pod(&self, namespace: Symbol, workload: ControllerRef) -> bool {
        let registered = self.registered.get(&namespace);
        registered.is_some_and(|registered| workload.kind == WorkloadKind::Service || registered.contains(&workload))
    }
}

impl Index for WorkloadSelectors {
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let Some(Object::Workload(workload)) = new.or(old) else { return };
        let selector = new.and(workload.selector.clone()).filter(|selector| !selector.is_empty());
        let (kind, name) = (workload.kind, workload.name);
        let workloads = self.namespaces.entry(workload.namespace).or_default();
        let new = selector.clone();
        let old = match (kind, selector) {
            (WorkloadKind::Service, Some(selector)) => workloads.services.insert(name, selector),
            (WorkloadKind::Service, None) => workloads.services.remove(&name),
            (kind, Some(selector)) => workloads.controllers.insert(ControllerRef { kind, name }, selector),
            (kind, None) => workloads.controllers.remove(&ControllerRef { kind, name }),
        };
        if workloads.services.is_empty() && workloads.controllers.is_empty() {
            self.namespaces.remove(&workload.namespace);
        }
        if old != new && self.affects_registered_pod(workload.namespace, ControllerRef { kind, name }) {
            self.epoch += 1;
            self.registered.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use schedc_core::intern::Interner;
    use schedc_core::model::Workload;
    use schedc_objects::testing::pod;

    use super::*;

    fn selector(labels: &str, interner: &mut Interner) -> LabelSelector {
        let labels = labels.split_whitespace().filter_map(|label| label.split_once('='));
        let labels: Vec<_> = labels.map(|(key, value)| (interner.intern(key), interner.intern(value))).collect();
        LabelSelector::from_labels(&labels)
    }

    fn workload(kind: WorkloadKind, name: &str, labels: Option<&str>, interner: &mut Interner) -> Object {
        let selector = labels.map(|labels| selector(labels, interner));
        let (namespace, name) = (interner.intern("default"), interner.intern(name));
        Object::Workload(Arc::new(Workload { kind, namespace, name, selector }))
    }

    #[test]
    fn selectors_of_services_and_controllers_are_combined() {
        use WorkloadKind::{ReplicaSet, ReplicationController, Service, StatefulSet};
        let mut interner = Interner::default();
        let mut check = |workloads: &[(WorkloadKind, &str, Option<&str>)], owner: &str, expected: &str| {
            let mut index = WorkloadSelectors::default();
            for (kind, name, labels) in workloads {
                index.set_object(None, Some(&workload(*kind, name, *labels, &mut interner)));
            }
            let owners = format!("[{{apiVersion: {owner}, name: own, uid: u, controller: true}}]");
            let owners = if owner.is_empty() { "[]" } else { &owners };
            let meta = format!("name: a, labels: {{app: web, tier: front}}, ownerReferences: {owners}");
            let pod = pod(&format!("metadata: {{{meta}}}"), &mut interner);
            let requirements = index.default_selector(&pod.spec).requirements;
            let text = |requirement: &schedc_core::model::Requirement| {
                format!("{}={}", interner.resolve(requirement.key), interner.resolve(requirement.values[0]))
            };
            let mut found: Vec<_> = requirements.iter().map(text).collect();
            found.sort_unstable();
            assert_eq!(found.join(" "), expected, "{workloads:?} {owner}");
        };
        check(&[], "", "");
        check(&[(Service, "a", Some("app=web"))], "", "app=web");
        check(&[(Service, "a", Some("app=web")), (Service, "b", Some("app=web tier=front"))], "", "app=web tier=front");
        check(&[(Service, "a", Some("app=db")), (Service, "b", None), (Service, "c", Some(""))], "", "");
        let set = "apps/v1, kind: ReplicaSet";
        check(&[(ReplicaSet, "own", Some("hash=1")), (ReplicaSet, "other", Some("hash=2"))], set, "hash=1");
        check(&[(Service, "a", Some("app=web")), (ReplicaSet, "own", Some("app=db"))], set, "app=db app=web");
        check(&[(ReplicaSet, "own", None)], set, "");
        check(&[(ReplicaSet, "own", Some("hash=1"))], "apps/v1, kind: StatefulSet", "");
        check(&[(StatefulSet, "own", Some("hash=1"))], "apps/v1, kind: StatefulSet", "hash=1");
        let controller = "v1, kind: ReplicationController";
        let service = (Service, "a", Some("app=web tier=front"));
        check(&[service, (ReplicationController, "own", Some("app=db"))], controller, "app=db tier=front");
        check(&[service], controller, "app=web tier=front");
    }

    #[test]
    fn the_epoch_changes_with_the_workloads_of_registered_pods() {
        use WorkloadKind::{ReplicaSet, Service};
        let mut interner = Interner::default();
        let mut index = WorkloadSelectors::default();
        let owner = "[{apiVersion: apps/v1, kind: ReplicaSet, name: own, uid: u, controller: true}]";
        let pod = pod(&format!("metadata: {{name: a, labels: {{app: web}}, ownerReferences: {owner}}}"), &mut interner);
        let mut set = |index: &mut WorkloadSelectors, kind, name, old: Option<&str>, new: Option<&str>| {
            let epoch = index.epoch();
            let [old, new] =
                [old, new].map(|labels| labels.map(|labels| workload(kind, name, Some(labels), &mut interner)));
            index.set_object(old.as_ref(), new.as_ref());
            index.epoch() != epoch
        };
        assert!(!set(&mut index, Service, "web", None, Some("app=web")), "not registered");
        assert_eq!(index.register(&pod.spec), index.default_selector(&pod.spec));
        assert!(!set(&mut index, Service, "web", Some("app=web"), Some("app=web")), "unchanged");
        assert!(!set(&mut index, Service, "empty", None, Some("")));
        assert!(!set(&mut index, ReplicaSet, "other", None, Some("app=web")));
        assert!(set(&mut index, ReplicaSet, "own", None, Some("app=web")));
        assert!(!set(&mut index, ReplicaSet, "own", Some("app=web"), Some("app=db")), "not registered again");
        index.register(&pod.spec);
        assert!(set(&mut index, Service, "db", None, Some("app=db")), "a Service can affect any pod");
        index.register(&pod.spec);
        assert!(set(&mut index, ReplicaSet, "own", Some("app=db"), None));
    }

    proptest! {
        #[test]
        fn removed_workloads_leave_no_trace(
            history in prop::collection::vec(
                (0..2usize, 0..3usize, prop::option::of(prop::sample::select(vec!["", "a=1", "b=2"]))),
                0..20,
            ),
        ) {
            let mut interner = Interner::default();
            let mut updated = WorkloadSelectors::default();
            let mut objects: Vec<Option<Object>> = vec![None; 6];
            for (kind, name, labels) in history {
                let kinds = [WorkloadKind::Service, WorkloadKind::ReplicaSet];
                let new = labels.map(|labels| {
                    workload(kinds[kind], &format!("w{name}"), Some(labels), &mut interner)
                });
                let slot = &mut objects[kind * 3 + name];
                let old = std::mem::replace(slot, new);
                updated.set_object(old.as_ref(), slot.as_ref());
            }
            let mut rebuilt = WorkloadSelectors::default();
            objects.iter().flatten().for_each(|object| rebuilt.set_object(None, Some(object)));
            prop_assert_eq!(updated, rebuilt);
        }
    }
}
