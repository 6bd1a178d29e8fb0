//! Workloads of recordings.
//!
//! A recording contains the effects of its scheduler: nodes of pods, nominations, conditions, and volumes that were
//! provisioned for a node. The workload does not contain these effects, because the simulation has its own scheduler
//! and controllers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_bounds::text::shortened;
use schedc_in_memory::server::Key;
use schedc_objects::{AnyObject, Kinds, ObjectReader, Validation};
use schedc_recording::entry::{Begin, Entry, Line, SchedulerEvent};
use schedc_recording::reader::{Item, Place, ReadError};
use schedc_recording::{Reader, Reference};
use serde_json::{Map, Value};

use crate::workload::{Change, Event, Lifetime, Owner, PodId, TemplateId, Workload, WorkloadPod};

const MILLISECOND: i64 = 1_000_000;
/// Latest time of a line, in milliseconds: the beginning of the year 2200. Times up to this one fit into 64 bits in
/// nanoseconds.
const LATEST: i64 = 7_258_118_400_000;

/// Reads the workload of a recording. Pods of schedulers for which `is_served` is false keep their recorded nodes.
///
/// # Errors
/// Returns the file and line of the first line that cannot be read or is invalid.
pub fn read(reader: &mut Reader, kinds: Kinds, is_served: &dyn Fn(&str) -> bool) -> Result<Workload, ReadError> {
    let mut builder = Builder::new(kinds, is_served);
    while let Some((place, item)) = reader.next_line()? {
        builder.next(&place, item)?;
    }
    Ok(builder.finish())
}

/// A workload under construction.
pub struct Builder<'a> {
    workload: Workload,
    reader: ObjectReader,
    is_served: &'a dyn Fn(&str) -> bool,
    templates: HashMap<String, TemplateId>,
    pods: BTreeMap<Reference, KnownPod>,
    others: BTreeMap<Reference, KnownObject>,
    /// Number of snapshots that have begun; a snapshot begins with the header of a recording.
    snapshot: u64,
    /// Whether a first snapshot is complete.
    has_started: bool,
    /// Whether there was a header of a recording.
    has_begun: bool,
    now: i64,
}

struct KnownPod {
    uid: String,
    template: TemplateId,
    /// `None` if the pod has not arrived: it belongs to another scheduler and has no node yet, or it had finished when
    /// it was first recorded.
    id: Option<PodId>,
    bound: Option<i64>,
    node: Option<Arc<str>>,
    has_finished: bool,
    snapshot: u64,
}

struct KnownObject {
    kind: &'static str,
    text: Box<str>,
    snapshot: u64,
    /// Whether the workload contains the object.
    is_used: bool,
}

impl<'a> Builder<'a> {
    /// Creates an empty workload.
    pub fn new(kinds: Kinds, is_served: &'a dyn Fn(&str) -> bool) -> Self {
        Builder {
            workload: Workload::default(),
            reader: ObjectReader::new(kinds, Validation::Ignore),
            is_served,
            templates: HashMap::new(),
            pods: BTreeMap::new(),
            others: BTreeMap::new(),
            snapshot: 0,
            has_started: false,
            has_begun: false,
            now: 0,
        }
    }

    /// Adds the next line.
    ///
    /// # Errors
    /// Returns an error if the time or an object is invalid.
    pub fn next(&mut self, place: &Place, item: Item) -> Result<(), ReadError> {
        let Line { at, entry, .. } = match item {
            Item::Line(line) => line,
            Item::Cut => {
                self.workload.facts.cut.push(place.to_string());
                return Ok(());
            }
        };
        if !(0..=LATEST).contains(&at) {
            let message = format!("`at` is {at}, which is not a time in milliseconds since 1970 before the year 2200");
            return Err(ReadError { place: place.clone(), message });
        }
        // A clock that was set back does not reorder changes.
        self.now = self.now.max(at.saturating_mul(MILLISECOND));
        match entry {
            Entry::Recording(header) => {
                self.workload.facts.gaps += u64::from(header.begin == Begin::Start && self.has_begun);
                self.has_begun = true;
                self.snapshot += 1;
            }
            Entry::Set(value) => {
                self.set(value).map_err(|message| ReadError { place: place.clone(), message })?;
            }
            Entry::Delete(reference) => self.delete(&reference),
            Entry::Synced(_) => self.end_snapshot(),
            Entry::Event(SchedulerEvent { reason, .. }) => {
                self.workload.facts.preempted += u64::from(reason == "Preempted");
            }
            Entry::Gap(_) => self.workload.facts.gaps += 1,
            Entry::Bind(_) | Entry::Reject(_) | Entry::Repaired(_) | Entry::End(_) => {}
        }
        Ok(())
    }

    /// Returns the workload.
    pub fn finish(mut self) -> Workload {
        if !self.has_started {
            self.workload.start = self.now;
        }
        self.workload.end = self.now;
        self.workload.finish();
        self.workload
    }

    fn end_snapshot(&mut self) {
        if !self.has_started {
            self.has_started = true;
            self.workload.start = self.now;
        }
        let snapshot = self.snapshot;
        let pods = self.pods.iter().filter(|(_, pod)| pod.snapshot != snapshot).map(|(key, _)| key.clone());
        let others = self.others.iter().filter(|(_, object)| object.snapshot != snapshot).map(|(key, _)| key.clone());
        let missing: Vec<Reference> = pods.chain(others).collect();
        missing.iter().for_each(|key| self.delete(key));
    }

    fn set(&mut self, value: Value) -> Result<(), String> {
        let text = |pointer: &str| match value.pointer(pointer).and_then(Value::as_str) {
            None | Some("") => {
                Err(format!("the object has no `{}`", pointer.trim_start_matches('/').replace('/', ".")))
            }
            Some(text) => Ok(text.to_owned()),
        };
        let (api_version, kind, name) = (text("/apiVersion")?, text("/kind")?, text("/metadata/name")?);
        if (api_version.as_str(), kind.as_str()) == ("v1", "Pod") {
            let namespace = text("/metadata/namespace").unwrap_or_else(|_| "default".to_owned());
            return self.set_pod(Reference { kind, namespace, name }, value);
        }
        self.set_other(&api_version, &kind, value)
    }

    fn set_pod(&mut self, key: Reference, mut value: Value) -> Result<(), String> {
        let text = |value: &Value, pointer: &str| {
            value.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let uid = text(&value, "/metadata/uid").unwrap_or_else(|| format!("{}/{}", key.namespace, key.name));
        let created = text(&value, "/metadata/creationTimestamp").as_deref().and_then(nanoseconds);
        let node: Option<Arc<str>> = text(&value, "/spec/nodeName").map(Into::into);
        let scheduler = text(&value, "/spec/schedulerName").unwrap_or_else(|| "default-scheduler".to_owned());
        let has_finished = matches!(text(&value, "/status/phase").as_deref(), Some("Succeeded" | "Failed"));
        strip_pod(&mut value);
        let template = self.template(value)?;
        if self.pods.get(&key).is_some_and(|known| known.uid != uid) {
            self.delete(&key);
        }
        let now = self.now;
        let arrival = |is_served| WorkloadPod {
            template,
            name: format!("{}/{}", key.namespace, key.name).into(),
            uid: uid.as_str().into(),
            created: created.unwrap_or(now),
            recorded_node: node.clone(),
            node: node.clone(),
            lifetime: Lifetime::Unlimited,
            is_served,
        };
        let Some(known) = self.pods.get_mut(&key) else {
            let uid = uid.clone();
            let mut known =
                KnownPod { uid, template, id: None, bound: None, node: None, has_finished, snapshot: self.snapshot };
            let is_served = (self.is_served)(&scheduler);
            let arrives = node.is_some() || is_served;
            self.workload.facts.other_schedulers += u64::from(!arrives);
            if arrives && !has_finished {
                self.workload.facts.with_node += u64::from(node.is_some() && self.has_started);
                known.id = Some(self.arrive(arrival(is_served)));
                known.bound = node.is_some().then_some(self.now);
                known.node = node;
            }
            self.pods.insert(key, known);
            return Ok(());
        };
        known.snapshot = self.snapshot;
        let id = known.id;
        if known.template != template
            && let Some(id) = id
        {
            self.workload.events.push(Event { at: self.now, change: Change::Update(id, template) });
        }
        known.template = template;
        match (&node, id) {
            (Some(node), Some(id)) if known.bound.is_none() => {
                known.bound = Some(self.now);
                known.node = Some(node.clone());
                self.workload.pods[id.0 as usize].recorded_node = Some(node.clone());
            }
            (Some(node), None) if !known.has_finished && !has_finished => {
                // No profile serves the pod: otherwise it would have arrived before it had a node.
                let id = self.arrive(arrival(false));
                if let Some(known) = self.pods.get_mut(&key) {
                    (known.id, known.bound, known.node) = (Some(id), Some(self.now), Some(node.clone()));
                }
            }
            _ => {}
        }
        if has_finished {
            self.end_pod(&key);
        }
        Ok(())
    }

    /// Adds a pod that exists from now on.
    fn arrive(&mut self, pod: WorkloadPod) -> PodId {
        let id = self.workload.add_pod(pod);
        self.workload.events.push(Event { at: self.now, change: Change::Arrive(id) });
        id
    }

    /// Records that a pod finished or was deleted.
    fn end_pod(&mut self, key: &Reference) {
        let Some(known) = self.pods.get_mut(key) else { return };
        if std::mem::replace(&mut known.has_finished, true) {
            return;
        }
        let Some(id) = known.id else { return };
        // A pod of a DaemonSet ends at the recorded time, however long it waits in the simulation.
        let is_of_node = self.workload.owner(id) == Owner::Node;
        let pod = &mut self.workload.pods[id.0 as usize];
        pod.lifetime = match known.bound {
            Some(bound) if pod.node.is_none() && !is_of_node => Lifetime::Runs(self.now - bound),
            _ => Lifetime::Until(self.now),
        };
    }

    fn delete(&mut self, key: &Reference) {
        if key.kind == "Pod" {
            self.end_pod(key);
            self.pods.remove(key);
            return;
        }
        let Some(KnownObject { kind, is_used: true, .. }) = self.others.remove(key) else { return };
        if kind == "Node" {
            let is_evicted = |pod: &&KnownPod| !pod.has_finished && pod.node.as_deref() == Some(key.name.as_str());
            self.workload.facts.evicted += self.pods.values().filter(is_evicted).count() as u64;
        }
        let key = Key::new(kind, key.namespace.as_str(), key.name.as_str());
        self.change(Change::Delete(key));
    }

    fn template(&mut self, stripped: Value) -> Result<TemplateId, String> {
        let text = stripped.to_string();
        if let Some(id) = self.templates.get(&text) {
            return Ok(*id);
        }
        let object = self.read("v1", "Pod", stripped)?;
        let Some(AnyObject::Pod(pod)) = object else { return Err("the object is not a pod".to_owned()) };
        let id = self.workload.add_template(ApiPod::clone(&pod));
        self.templates.insert(text, id);
        Ok(id)
    }

    fn read(&mut self, api_version: &str, kind: &str, value: Value) -> Result<Option<AnyObject>, String> {
        self.reader.read(api_version, kind, value).map_err(|errors| {
            let errors: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
            shortened(&errors.join("; "), 1000).to_string()
        })
    }

    fn set_other(&mut self, api_version: &str, kind: &str, mut value: Value) -> Result<(), String> {
        let is_binding_result = matches!(kind, "PersistentVolume" | "PersistentVolumeClaim" | "ResourceClaim");
        let has_status = kind == "Node" || (is_binding_result && !self.has_started);
        let status = value.get("status").cloned();
        if !has_status && let Some(fields) = value.as_object_mut() {
            fields.remove("status");
        }
        let text: Box<str> = value.to_string().into();
        let is_scheduling_effect = is_binding_result && self.has_started && !arrives(kind, &value);
        if is_binding_result && self.has_started {
            unbind(&mut value);
        }
        // The simulation reads the status of a budget, but a change of the status alone is no change of the workload.
        if kind == "PodDisruptionBudget"
            && let (Some(fields), Some(status)) = (value.as_object_mut(), status)
        {
            fields.insert("status".to_owned(), status);
        }
        let Some(object) = self.read(api_version, kind, value)? else {
            *self.workload.facts.ignored.entry(kind.to_owned()).or_default() += 1;
            return Ok(());
        };
        let kind = object.kind();
        let key = Reference {
            kind: kind.to_owned(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
        };
        let before = self.others.get_mut(&key);
        let is_new = before.is_none();
        if let Some(before) = before {
            before.snapshot = self.snapshot;
            if before.text == text {
                return Ok(());
            }
            before.text = text;
            // Changes of claims and volumes are ignored: the simulation binds them itself.
            if is_binding_result {
                return Ok(());
            }
        } else {
            let is_used = !is_scheduling_effect;
            self.others.insert(key, KnownObject { kind, text, snapshot: self.snapshot, is_used });
        }
        if is_new && is_scheduling_effect {
            return Ok(());
        }
        self.change(Change::Set(Box::new(object)));
        Ok(())
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Set(object) if !self.has_started => self.workload.objects.push(*object),
            Change::Delete(key) if !self.has_started => {
                self.workload.objects.retain(|object| Key::of(object) != key);
            }
            change => self.workload.events.push(Event { at: self.now, change }),
        }
    }
}

/// Removes the name, uid and times of a pod, its finalizers, and all that its scheduler and kubelet wrote.
fn strip_pod(pod: &mut Value) {
    if let Some(fields) = pod.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = pod.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in
            ["name", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"]
        {
            metadata.remove(field);
        }
    }
    if let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("nodeName");
    }
}

/// Returns whether a claim or volume that is created during the workload is input, not an effect of scheduling.
fn arrives(kind: &str, object: &Value) -> bool {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_of_pod = owners.into_iter().flatten().any(|owner| owner["kind"] == "Pod");
    match kind {
        // A provisioner sets the claim of the volumes that it creates.
        "PersistentVolume" => object.pointer("/spec/claimRef").is_none_or(Value::is_null),
        _ => !is_of_pod,
    }
}

/// Removes the result of binding from a claim or a volume. A binding is kept if no controller made it.
fn unbind(object: &mut Value) {
    let annotations = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    let by_controller = annotations.map(|annotations| {
        let selected = annotations.remove("volume.kubernetes.io/selected-node").is_some();
        let completed = annotations.remove("pv.kubernetes.io/bind-completed").is_some();
        annotations.remove("pv.kubernetes.io/bound-by-controller").is_some() || selected || completed
    });
    if by_controller == Some(true)
        && let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
    {
        remove_all(spec, &["volumeName", "claimRef"]);
    }
}

fn remove_all(fields: &mut Map<String, Value>, names: &[&str]) {
    names.iter().for_each(|name| {
        fields.remove(*name);
    });
}

/// Parses a time of an object to nanoseconds since 1970.
fn nanoseconds(time: &str) -> Option<i64> {
    let time: k8s_openapi::jiff::Timestamp = time.parse().ok()?;
    i64::try_from(time.as_nanosecond()).ok()
}
