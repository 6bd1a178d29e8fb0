//! Pseudonyms for the names in a recording.
//!
//! A text has the same pseudonym wherever it occurs, in names, references, label values and selectors. Therefore
//! selectors match the same objects, and topology domains have the same nodes. Texts whose content affects decisions
//! are kept: quantities, label keys, numbers (which `Gt` and `Lt` compare), types, drivers, attributes of devices and
//! CEL expressions. All others are replaced, so a field that this module does not know is never kept by mistake.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Map, Value, json};

use crate::entry::{Bind, Entry, Line, Reference, Reject, SchedulerEvent};

/// Fields that are kept.
const KEPT: &[&str] = &[
    "accessModes",
    "action",
    "allocationMode",
    "apiVersion",
    "attacher",
    "bindingConditions",
    "bindingFailureConditions",
    "creationTimestamp",
    "declaredFeatures",
    "deletionTimestamp",
    "distinctAttribute",
    "driver",
    "effect",
    "expression",
    "extendedResourceName",
    "hostIP",
    "key",
    "kind",
    "matchAttribute",
    "matchLabelKeys",
    "maxUnavailable",
    "minAvailable",
    "mismatchLabelKeys",
    "nodeAffinityPolicy",
    "nodeTaintsPolicy",
    "operator",
    "phase",
    "preemptionPolicy",
    "protocol",
    "provisioner",
    "reason",
    "resourceName",
    "restartPolicy",
    "schedulerName",
    "startTime",
    "status",
    "topologyKey",
    "type",
    "unhealthyPodEvictionPolicy",
    "volumeBindingMode",
    "volumeMode",
    "whenUnsatisfiable",
];

/// Fields whose objects are kept as a whole. They have quantities by resource, or attributes of devices.
const KEPT_OBJECTS: &[&str] = &[
    "allocatable",
    "allocatedResources",
    "attributes",
    "capacity",
    "consumedCapacity",
    "counters",
    "limits",
    "overhead",
    "requests",
];

/// Fields whose texts are kept, because they are quantities.
const QUANTITIES: &[&str] = &["maximumVolumeSize", "capacity"];

/// Fields whose objects are maps with label keys or similar keys. The keys are kept, and the values are replaced.
const LABELS: &[&str] = &["annotations", "labels", "matchLabels", "nodeSelector", "selector"];

/// Replaces names by pseudonyms.
#[derive(Clone, Debug, Default)]
pub struct Anonymiser {
    /// Random keys of the hash function. Without them, the pseudonym of a known name could be computed.
    keys: RandomState,
}

impl Anonymiser {
    /// Returns the line with pseudonyms.
    pub fn line(&self, line: Line) -> Line {
        let entry = match line.entry {
            Entry::Set(mut object) => {
                self.object(&mut object);
                Entry::Set(object)
            }
            Entry::Delete(Reference { kind, namespace, name }) => {
                let name = if kind == "CSIDriver" { name } else { self.pseudonym(&name) };
                Entry::Delete(Reference { kind, namespace: self.pseudonym(&namespace), name })
            }
            Entry::Bind(Bind { namespace, name, scheduler, node }) => {
                let (namespace, name, node) =
                    (self.pseudonym(&namespace), self.pseudonym(&name), self.pseudonym(&node));
                Entry::Bind(Bind { namespace, name, scheduler, node })
            }
            Entry::Reject(Reject { namespace, name, scheduler, message }) => {
                let (namespace, name) = (self.pseudonym(&namespace), self.pseudonym(&name));
                Entry::Reject(Reject { namespace, name, scheduler, message: self.message(&message) })
            }
            // The note of an event contains names without quotes, which cannot be found. Therefore, the note is
            // removed.
            Entry::Event(SchedulerEvent { namespace, name, reason, scheduler, .. }) => {
                let (namespace, name) = (self.pseudonym(&namespace), self.pseudonym(&name));
                Entry::Event(SchedulerEvent { namespace, name, reason, scheduler, note: String::new() })
            }
            entry @ (Entry::Recording(_) | Entry::Synced(_) | Entry::Gap(_) | Entry::Repaired(_) | Entry::End(_)) => {
                entry
            }
        };
        Line { entry, ..line }
    }

    fn object(&self, object: &mut Value) {
        name_ephemeral_claims(object);
        let driver = (object["kind"] == "CSIDriver").then(|| object["metadata"]["name"].clone());
        self.value("", object);
        if let Some(driver) = driver {
            object["metadata"]["name"] = driver;
        }
    }

    /// Replaces the texts of a field.
    fn value(&self, field: &str, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(field, text),
            Value::Array(items) => {
                for item in items {
                    // Requests of a claim for devices, unlike those of a container, are not quantities.
                    let is_device_request = field == "requests" && item.is_object();
                    self.value(if is_device_request { "request" } else { field }, item);
                }
            }
            Value::Object(_) if KEPT_OBJECTS.contains(&field) => {}
            Value::Object(fields) if LABELS.contains(&field) && fields.values().all(Value::is_string) => {
                fields.values_mut().for_each(|value| self.value("value", value));
            }
            Value::Object(fields) => self.fields(field, fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn fields(&self, parent: &str, fields: &mut Map<String, Value>) {
        for (name, value) in fields {
            // Names of drivers are kept, because other objects have them in kept fields.
            if (parent, name.as_str()) != ("drivers", "name") {
                self.value(if (parent, name.as_str()) == ("images", "names") { "image" } else { name }, value);
            }
        }
    }

    fn text(&self, field: &str, text: &str) -> String {
        match field {
            _ if KEPT.contains(&field) || QUANTITIES.contains(&field) => text.to_owned(),
            "message" => self.message(text),
            // A request, or `request/alternative`.
            "request" | "requests" => text.split('/').map(|part| self.pseudonym(part)).collect::<Vec<_>>().join("/"),
            "image" | "reference" => self.image(text),
            _ => self.pseudonym(text),
        }
    }

    /// Returns the pseudonym of an image, with a tag. A name without a tag has the same pseudonym as the name with the
    /// tag `latest`, which ImageLocality adds to the names in pods, but not to those in nodes.
    fn image(&self, name: &str) -> String {
        let is_tagged = name.rsplit('/').next().unwrap_or_default().contains([':', '@']);
        let pseudonym = if is_tagged { self.pseudonym(name) } else { self.pseudonym(&format!("{name}:latest")) };
        format!("{pseudonym}:tag")
    }

    /// Replaces the names in a message, which are in quotes.
    fn message(&self, message: &str) -> String {
        let parts = message.split('"').enumerate();
        let parts = parts.map(|(at, part)| if at % 2 == 1 { self.pseudonym(part) } else { part.to_owned() });
        parts.collect::<Vec<_>>().join("\"")
    }

    /// Returns the pseudonym of a text. The label of a volume joins several zones with two underscores; each zone is
    /// replaced by its pseudonym.
    fn pseudonym(&self, text: &str) -> String {
        if text.contains("__") {
            return text.split("__").map(|part| self.pseudonym(part)).collect::<Vec<_>>().join("__");
        }
        let has_meaning = text.is_empty()
            || matches!(text, "true" | "false" | "yes")
            || text.parse::<i64>().is_ok()
            || text.starts_with("kubernetes.io/");
        if has_meaning { text.to_owned() } else { format!("x{:016x}", self.keys.hash_one(text)) }
    }
}

/// Replaces the ephemeral volumes of a pod by references to their claims. The name of such a claim is `POD-VOLUME`. Its
/// pseudonym cannot be derived from the pseudonyms of pod and volume.
fn name_ephemeral_claims(object: &mut Value) {
    let Some(pod) = object.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned) else { return };
    for volume in object.pointer_mut("/spec/volumes").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(fields) = volume.as_object_mut() else { continue };
        if fields.remove("ephemeral").is_some() {
            let name = fields.get("name").and_then(Value::as_str).unwrap_or_default();
            let claim = json!({"claimName": format!("{pod}-{name}")});
            fields.insert("persistentVolumeClaim".to_owned(), claim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anonymised(anonymiser: &Anonymiser, object: Value) -> Value {
        let Entry::Set(object) = anonymiser.line(Line::new(0, Entry::Set(object))).entry else {
            return Value::Null;
        };
        object
    }

    #[test]
    fn names_label_values_and_images_are_replaced_alike() {
        let anonymiser = Anonymiser::default();
        let node = anonymised(
            &anonymiser,
            json!({"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": "secret-1", "labels": {"kubernetes.io/hostname": "secret-1", "type": "secret", "n": "7"}},
                "spec": {"taints": [{"key": "k", "value": "secret", "effect": "NoSchedule"}]},
                "status": {"allocatable": {"cpu": "4"}, "images": [{"names": ["secret/web:latest"], "sizeBytes": 5}]}}),
        );
        let pod = anonymised(
            &anonymiser,
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "secret-pod", "namespace": "secret-ns"},
                "spec": {"nodeName": "secret-1", "nodeSelector": {"type": "secret"}, "containers": [
                    {"name": "secret", "image": "secret/web", "resources": {"requests": {"cpu": "1", "example.com/gpu": "1"}}}],
                    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "n", "operator": "Gt", "values": ["5"]}]}]}}}}}),
        );
        assert!(!format!("{node}{pod}").contains("secret"), "{node:#}{pod:#}");
        assert_eq!(node["metadata"]["name"], pod["spec"]["nodeName"]);
        assert_eq!(node["metadata"]["name"], node["metadata"]["labels"]["kubernetes.io/hostname"]);
        assert_eq!(node["metadata"]["labels"]["type"], pod["spec"]["nodeSelector"]["type"]);
        assert_eq!(node["metadata"]["labels"]["type"], node["spec"]["taints"][0]["value"]);
        assert_eq!(node["status"]["images"][0]["names"][0], pod["spec"]["containers"][0]["image"]);
        assert_eq!(
            (&node["metadata"]["labels"]["n"], &node["status"]["allocatable"]["cpu"]),
            (&json!("7"), &json!("4"))
        );
        assert_eq!(pod["spec"]["containers"][0]["resources"]["requests"], json!({"cpu": "1", "example.com/gpu": "1"}));
        let term = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
        let expression = json!({"key": "n", "operator": "Gt", "values": ["5"]});
        assert_eq!(term["nodeSelectorTerms"][0]["matchExpressions"][0], expression);
    }

    #[test]
    fn decisions_name_the_same_objects() {
        let anonymiser = Anonymiser::default();
        let name = |text: &str| anonymiser.pseudonym(text);
        let line = |entry| anonymiser.line(Line::new(7, entry)).entry;
        let (namespace, pod, scheduler) = ("d".to_owned(), "p".to_owned(), "s".to_owned());
        let bind = Bind { namespace, name: pod, scheduler, node: "n".to_owned() };
        let expected = Bind { namespace: name("d"), name: name("p"), scheduler: "s".into(), node: name("n") };
        assert_eq!(line(Entry::Bind(bind)), Entry::Bind(expected));
        let message = |text: &str| anonymiser.message(text);
        assert_eq!(
            message("0/3 nodes are available: 3 Insufficient cpu."),
            "0/3 nodes are available: 3 Insufficient cpu."
        );
        assert_eq!(message("claim \"c\" not found"), format!("claim \"{}\" not found", name("c")));
        assert_ne!(Anonymiser::default().pseudonym("n"), name("n"), "other keys, other pseudonyms");
    }
}
