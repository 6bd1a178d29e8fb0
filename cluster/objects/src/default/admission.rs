//! Admission of objects that are created, updated or deleted after the manifests were loaded.

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::api::storage::v1::StorageClass;
use schedc_kinds::AnyObject;

use super::names::Names;
use super::storage::DefaultClasses;
use super::{ProblemReporter, check, devices, namespaces, node, pod, priority, storage, workload};
use crate::manifests::{Problem, Sourced};
use crate::source_location::SourceLocation;

/// State of an API server, for completing objects that are added later.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    pub(super) names: Names,
    pub(super) default_classes: DefaultClasses,
    pub(super) classes: priority::Classes,
}

impl Admission {
    /// Completes and checks a created or updated object in place. Adds errors to `problems`.
    pub fn admit(&mut self, object: &mut Sourced<AnyObject>, problems: &mut Vec<Problem>) {
        self.names.admit(&mut object.object);
        if let AnyObject::StorageClass(class) = &object.object {
            self.default_classes.set(class);
        }
        self.complete(object, problems);
    }

    /// Records that an object was deleted.
    pub fn forget(&mut self, kind: &str, name: &str) {
        match kind {
            PriorityClass::KIND => self.classes.remove(name),
            StorageClass::KIND => self.default_classes.remove(name),
            _ => {}
        }
    }

    /// Completes and checks an object. Its metadata must be complete already, and the default storage classes of `self`
    /// must be up to date.
    pub(super) fn complete(&mut self, object: &mut Sourced<AnyObject>, problems: &mut Vec<Problem>) {
        let place = &object.place;
        match &mut object.object {
            AnyObject::Pod(pod) => return self.pod(pod, place, problems),
            AnyObject::Node(node) => return self.node(node, place, problems),
            AnyObject::PriorityClass(class) => return self.class(class, place, problems),
            AnyObject::Namespace(namespace) => namespaces::complete(namespace),
            AnyObject::StorageClass(class) => storage::complete_class(class),
            AnyObject::PersistentVolume(volume) => storage::complete_volume(volume),
            AnyObject::PersistentVolumeClaim(claim) => storage::complete_claim(claim, self.default_classes.name()),
            AnyObject::ResourceClaim(claim) => devices::complete_claim_spec(&mut claim.spec),
            AnyObject::ResourceClaimTemplate(template) => devices::complete_claim_spec(&mut template.spec.spec),
            AnyObject::ReplicationController(controller) => workload::complete_controller(controller),
            _ => {}
        }
        let name = check::name(object.object.kind(), object.object.metadata());
        check::other(&object.object, &mut ProblemReporter { place, object: &name, problems });
    }

    pub(super) fn node(&self, node: &mut Node, place: &SourceLocation, problems: &mut Vec<Problem>) {
        node::complete(node);
        let name = check::name(Node::KIND, &node.metadata);
        check::node(node, &mut ProblemReporter { place, object: &name, problems });
    }

    pub(super) fn pod(&self, pod: &mut Pod, place: &SourceLocation, problems: &mut Vec<Problem>) {
        pod::complete(pod);
        let name = check::name(Pod::KIND, &pod.metadata);
        let reporter = &mut ProblemReporter { place, object: &name, problems };
        self.classes.admit(pod, reporter);
        check::pod(pod, reporter);
    }

    pub(super) fn class(&mut self, class: &PriorityClass, place: &SourceLocation, problems: &mut Vec<Problem>) {
        let name = check::name(PriorityClass::KIND, &class.metadata);
        self.classes.set(class, &mut ProblemReporter { place, object: &name, problems });
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::{AnyObject, Manifests, Objects, Options, SourceLocation, Sourced};

    fn load(text: &str) -> Objects {
        let manifests = Manifests::parse("first.yaml", text).unwrap_or_else(|error| panic!("{error}"));
        Objects::new(manifests, Options::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Admits an object to a cluster. Returns it with its problems.
    fn admit(cluster: &mut Objects, json: serde_json::Value) -> (AnyObject, String) {
        let (version, kind) =
            (json["apiVersion"].as_str().unwrap().to_owned(), json["kind"].as_str().unwrap().to_owned());
        let object = AnyObject::from_json(&version, &kind, json).unwrap().unwrap();
        let mut object = Sourced { object, place: SourceLocation { file: "later.yaml".into(), line: 1, item: None } };
        let mut problems = Vec::new();
        cluster.admission.as_mut().unwrap().admit(&mut object, &mut problems);
        (object.object, problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    fn pod(metadata: serde_json::Value, class: &str) -> serde_json::Value {
        let spec = serde_json::json!({"priorityClassName": class, "containers": [{"name": "c"}]});
        serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    }

    fn class(name: &str, value: i32) -> serde_json::Value {
        serde_json::json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value,
        })
    }

    fn priority(object: &AnyObject) -> Option<i32> {
        let AnyObject::Pod(pod) = object else { panic!("{object:?}") };
        pod.spec.as_ref().and_then(|spec| spec.priority)
    }

    #[test]
    fn classes_are_added_changed_and_removed() {
        let mut cluster =
            load("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}");
        let name = serde_json::json!({"name": "p"});
        assert_eq!(priority(&admit(&mut cluster, pod(name.clone(), "high")).0), Some(9));
        admit(&mut cluster, class("high", 10));
        admit(&mut cluster, class("low", 1));
        assert_eq!(priority(&admit(&mut cluster, pod(name.clone(), "high")).0), Some(10));
        assert_eq!(priority(&admit(&mut cluster, pod(name.clone(), "low")).0), Some(1));
        cluster.admission.as_mut().unwrap().forget("PriorityClass", "low");
        expect!["later.yaml:1: Pod default/p: spec.priorityClassName: is `low`, but there is no such PriorityClass; add it, or set spec.priority"]
            .assert_eq(&admit(&mut cluster, pod(name, "low")).1);
    }

    #[test]
    fn generated_names_are_new() {
        let text = "{apiVersion: v1, kind: Pod, metadata: {generateName: web-}, spec: {containers: [{name: c}]}}";
        let mut cluster = load(text);
        admit(&mut cluster, pod(serde_json::json!({"name": "web-bbbbc"}), ""));
        let (later, _) = admit(&mut cluster, pod(serde_json::json!({"generateName": "web-"}), ""));
        expect!["web-bbbbb, then web-bbbbd"].assert_eq(&format!(
            "{}, then {}",
            cluster.pods[0].object.metadata.name.as_ref().unwrap(),
            later.name()
        ));
    }

    #[test]
    fn claims_get_the_current_default_class() {
        let mut cluster = load("");
        let claim = serde_json::json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        });
        let class = serde_json::json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "x",
            "metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        });
        let class_of_claim = |cluster: &mut Objects| match admit(cluster, claim.clone()).0 {
            AnyObject::PersistentVolumeClaim(claim) => claim.spec.unwrap().storage_class_name,
            object => panic!("{object:?}"),
        };
        assert_eq!(class_of_claim(&mut cluster), None);
        admit(&mut cluster, class);
        assert_eq!(class_of_claim(&mut cluster).as_deref(), Some("fast"));
        cluster.admission.as_mut().unwrap().forget("StorageClass", "fast");
        assert_eq!(class_of_claim(&mut cluster), None);
    }
}
