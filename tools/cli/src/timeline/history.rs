//! A dry run of all events. It determines which objects exist at each time, adds defaults to created and updated
//! objects, and validates these.

use std::collections::{BTreeMap, HashMap, HashSet};

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_codegen::suggest::closest;
use schedc_in_memory::merge_patch;
use schedc_objects::default::Admission;
use schedc_objects::manifests::{Problem, SourceLocation};
use schedc_objects::{AnyObject, ObjectReader, Objects, Sourced};
use serde_json::{Map, Value};

use super::entry::{EntryAction, Manifest};
use super::{Action, Event, Reference, Span};

/// An event before its validation.
pub(super) enum EventDraft {
    /// As written.
    Written(EntryAction),
    /// Creation of an object that already has its defaults and is validated.
    Admitted(AnyObject),
}

/// Kinds that controllers create and delete, too: their existence cannot be determined in advance.
const CONTROLLER_KINDS: [&str; 2] = ["PersistentVolume", "PersistentVolumeClaim"];

/// Metadata that only the server changes.
const SERVER_FIELDS: [&str; 5] = ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"];

/// The known objects, according to manifests and events.
pub(super) struct History<'a> {
    pub(super) reader: ObjectReader,
    pub(super) events: Vec<Event>,
    /// Number of created objects other than nodes and pods, by kind.
    pub(super) objects: BTreeMap<&'static str, usize>,
    problems: &'a mut Vec<Problem>,
    admission: Option<&'a mut Admission>,
    known: HashMap<Reference, KnownObject<'a>>,
    uids: HashSet<String>,
}

/// An object that exists or existed.
struct KnownObject<'a> {
    /// Location of its creation or, if it is deleted, of its deletion.
    place: SourceLocation,
    latest: LatestState<'a>,
    uid: Option<String>,
    /// Number of creations of an object with this name.
    creations: u32,
}

/// Reference to an object's latest state.
#[derive(Clone, Copy)]
enum LatestState<'a> {
    Node(&'a Node),
    Pod(&'a Pod),
    Class(&'a PriorityClass),
    Other(&'a AnyObject),
    /// The state after this event.
    Event(usize),
    /// A namespace without a manifest.
    Implied,
    Gone,
}

impl<'a> History<'a> {
    /// Creates the history with the initial objects.
    pub(super) fn new(objects: &'a mut Objects, problems: &'a mut Vec<Problem>) -> Self {
        let Objects { nodes, pods, priority_classes, others, implied, admission, kinds, validation, .. } = objects;
        let mut known = HashMap::new();
        let mut uids = HashSet::new();
        let nowhere = SourceLocation { file: "".into(), line: 0, item: None };
        let mut add = |(kind, is_namespaced), metadata: &ObjectMeta, place: &SourceLocation, latest, creations| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let reference = Reference::new(kind, is_namespaced, &text(&metadata.namespace), &text(&metadata.name));
            uids.extend(metadata.uid.clone());
            known.insert(reference, KnownObject { place: place.clone(), latest, uid: metadata.uid.clone(), creations });
        };
        for Sourced { object, place } in nodes.iter() {
            add((Node::KIND, false), &object.metadata, place, LatestState::Node(object), 1);
        }
        for Sourced { object, place } in pods.iter() {
            add((Pod::KIND, true), &object.metadata, place, LatestState::Pod(object), 1);
        }
        for Sourced { object, place } in priority_classes.iter() {
            add((PriorityClass::KIND, false), &object.metadata, place, LatestState::Class(object), 1);
        }
        for Sourced { object, place } in others.iter() {
            add((object.kind(), object.has_namespace()), object.metadata(), place, LatestState::Other(object), 1);
        }
        for object in implied.iter() {
            add((object.kind(), object.has_namespace()), object.metadata(), &nowhere, LatestState::Implied, 0);
        }
        History {
            reader: ObjectReader::new(*kinds, *validation),
            events: Vec::new(),
            objects: BTreeMap::new(),
            problems,
            admission: admission.as_mut(),
            known,
            uids,
        }
    }

    /// Adds the next event in the order of time. Its errors are added to the problems.
    pub(super) fn add_event(&mut self, at: Span, draft: EventDraft, place: SourceLocation) {
        let result = match draft {
            EventDraft::Admitted(object) => {
                self.add_object(at, object, &place);
                Ok(())
            }
            EventDraft::Written(EntryAction::Create(manifest)) => self.create(at, manifest, &place),
            EventDraft::Written(EntryAction::Apply(manifest)) => self.apply(at, manifest, &place),
            EventDraft::Written(EntryAction::Update(manifest)) => self.update(at, manifest, &place),
            EventDraft::Written(EntryAction::Delete(reference)) => self.delete(at, reference, &place),
            EventDraft::Written(EntryAction::Nothing { .. }) => Ok(()),
        };
        if let Err(problem) = result {
            self.problems.push(problem);
        }
    }

    fn create(&mut self, at: Span, manifest: Manifest, place: &SourceLocation) -> Result<(), Problem> {
        let reference = manifest.reference();
        if let Some(KnownObject { place: creation, latest, .. }) = self.known.get(&reference)
            && !matches!(latest, LatestState::Gone | LatestState::Implied)
            && !reference.name.is_empty()
        {
            let message = format!("exists already at {at}, from {creation}; delete it first, or use `apply`");
            return Err(problem(place, &reference, message));
        }
        let is_strict = self.is_strict(&manifest);
        let Some(mut object) = self.read(manifest, is_strict, place) else { return Ok(()) };
        self.assign_uid(&mut object, &reference);
        if let Some(object) = self.admit(object, place) {
            self.add_object(at, object, place);
        }
        Ok(())
    }

    fn update(&mut self, at: Span, manifest: Manifest, place: &SourceLocation) -> Result<(), Problem> {
        let reference = manifest.reference();
        let uid = match self.known.get(&reference) {
            Some(KnownObject { latest: LatestState::Gone, .. }) | None => {
                if !CONTROLLER_KINDS.contains(&reference.kind) {
                    return Err(self.missing_object(at, &reference, place, "; `apply` creates it"));
                }
                None
            }
            Some(known) => known.uid.clone(),
        };
        let is_strict = self.is_strict(&manifest);
        let Some(mut object) = self.read(manifest, is_strict, place) else { return Ok(()) };
        if uid.is_some() {
            object.metadata_mut().uid = uid;
        }
        if let Some(object) = self.admit(object, place) {
            self.record(at, reference, Action::Update(object), place);
        }
        Ok(())
    }

    fn apply(&mut self, at: Span, manifest: Manifest, place: &SourceLocation) -> Result<(), Problem> {
        let reference = manifest.reference();
        let latest = match self.known.get(&reference) {
            None | Some(KnownObject { latest: LatestState::Gone, .. }) => return self.create(at, manifest, place),
            Some(known) => known.latest,
        };
        let Some(mut object) = self.json(latest) else { return self.create(at, manifest, place) };
        let is_strict = self.is_strict(&manifest);
        let Manifest { version, kind, mut fields } = manifest;
        // The manifest's uid and version are ignored, because it may be a copy of any version of the object.
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            SERVER_FIELDS.iter().for_each(|field| drop(metadata.remove(*field)));
        }
        merge_patch::merge_fields(&mut object, &fields);
        let whole = Manifest { version, kind, fields: object };
        let Some(object) = self.read(whole, is_strict, place) else { return Ok(()) };
        if let Some(object) = self.admit(object, place) {
            let patch = Value::Object(fields);
            self.record(at, reference, Action::Patch { object, patch }, place);
        }
        Ok(())
    }

    fn delete(&mut self, at: Span, reference: Reference, place: &SourceLocation) -> Result<(), Problem> {
        match self.known.get_mut(&reference) {
            Some(known) if !matches!(known.latest, LatestState::Gone) => {
                known.latest = LatestState::Gone;
                known.place = place.clone();
            }
            _ if CONTROLLER_KINDS.contains(&reference.kind) => {}
            _ => return Err(self.missing_object(at, &reference, place, "")),
        }
        if let Some(admission) = &mut self.admission {
            admission.forget(reference.kind, &reference.name);
        }
        self.events.push(Event { at, action: Action::Delete(reference), place: place.clone() });
        Ok(())
    }

    /// Adds the creation of an object that has its defaults and is validated.
    fn add_object(&mut self, at: Span, object: AnyObject, place: &SourceLocation) {
        let reference = Reference::of(&object);
        if ![Node::KIND, Pod::KIND].contains(&reference.kind) {
            *self.objects.entry(reference.kind).or_default() += 1;
        }
        if reference.kind == Pod::KIND && self.admission.is_some() {
            self.imply_namespace(at, &reference.namespace, place);
        }
        let creations = self.known.get(&reference).map_or(0, |known| known.creations);
        // A namespace may be declared after its first pods.
        let action = match self.known.get(&reference) {
            Some(KnownObject { latest: LatestState::Implied, .. }) => Action::Update(object),
            _ => Action::Create(object),
        };
        self.known.remove(&reference);
        self.record(at, reference.clone(), action, place);
        if let Some(known) = self.known.get_mut(&reference) {
            known.creations = creations + 1;
        }
    }

    /// Creates a pod's namespace if it does not exist.
    fn imply_namespace(&mut self, at: Span, name: &str, place: &SourceLocation) {
        let reference = Reference::new(Namespace::KIND, false, "", name);
        if self.known.get(&reference).is_none_or(|known| matches!(known.latest, LatestState::Gone)) {
            let mut namespace = Namespace::default();
            namespace.metadata.name = Some(name.to_owned());
            if let Some(namespace) = self.admit(namespace.into(), place) {
                self.record(at, reference.clone(), Action::Create(namespace), place);
            }
            if let Some(known) = self.known.get_mut(&reference) {
                (known.latest, known.creations) = (LatestState::Implied, 0);
            }
        }
    }

    /// Records an action on an object.
    fn record(&mut self, at: Span, reference: Reference, action: Action, place: &SourceLocation) {
        let uid = match &action {
            Action::Create(object) | Action::Update(object) | Action::Patch { object, .. } => {
                object.metadata().uid.clone()
            }
            Action::Delete(_) => None,
        };
        let latest = LatestState::Event(self.events.len());
        self.events.push(Event { at, action, place: place.clone() });
        match self.known.get_mut(&reference) {
            Some(known) => (known.latest, known.uid) = (latest, uid),
            None => {
                self.known.insert(reference, KnownObject { place: place.clone(), latest, uid, creations: 1 });
            }
        }
    }

    /// Returns whether unknown fields of a manifest are errors.
    fn is_strict(&self, manifest: &Manifest) -> bool {
        self.reader.is_strict(&manifest.fields)
    }

    /// Reads a manifest. Returns `None` for an invalid manifest, and records the errors.
    fn read(&mut self, manifest: Manifest, is_strict: bool, place: &SourceLocation) -> Option<AnyObject> {
        let Manifest { version, kind, fields } = manifest;
        let problem = |object, field, message| Problem { place: place.clone(), object, field, message };
        let read = self.reader.read_as(&version, kind.manifest_kind, Value::Object(fields), is_strict);
        self.reader.ignored.set_place(place);
        match read {
            Ok(Some(object)) => return Some(object),
            // Other kinds were filtered out before.
            Ok(None) => {
                let message = format!("scheduling ignores `{}` of `{version}`", kind.manifest_kind);
                self.problems.push(problem(None, None, message));
            }
            Err(errors) => {
                let problems = errors.into_iter().map(|error| problem(Some(error.object), error.field, error.message));
                self.problems.extend(problems);
            }
        }
        None
    }

    /// Completes and validates an object. Returns `None` for an invalid object, and records the errors.
    fn admit(&mut self, object: AnyObject, place: &SourceLocation) -> Option<AnyObject> {
        let mut object = Sourced { object, place: place.clone() };
        let before = self.problems.len();
        match &mut self.admission {
            Some(admission) => admission.admit(&mut object, self.problems),
            None if object.object.name().is_empty() => {
                self.problems.push(problem(place, &Reference::of(&object.object), "has no name".to_owned()));
            }
            None => {}
        }
        (self.problems.len() == before).then_some(object.object)
    }

    /// Removes the uid if another object has or had it, as in a copied manifest. Assigns a new uid if there is none and
    /// an object of this name existed before.
    fn assign_uid(&mut self, object: &mut AnyObject, reference: &Reference) {
        let creations = self.known.get(reference).map_or(0, |known| known.creations);
        let uid = &mut object.metadata_mut().uid;
        uid.take_if(|uid| uid.is_empty() || !self.uids.insert(uid.clone()));
        if uid.is_none() && creations > 0 {
            let name = reference.local();
            *uid = Some(match reference.kind {
                Pod::KIND => format!("{name}#{}", creations + 1),
                kind => format!("{kind}/{name}#{}", creations + 1),
            });
        }
    }

    /// Returns the state of an object as JSON.
    fn json(&self, latest: LatestState<'_>) -> Option<Map<String, Value>> {
        let value = match latest {
            LatestState::Node(node) => AnyObject::from(node.clone()).to_json().ok(),
            LatestState::Pod(pod) => AnyObject::from(pod.clone()).to_json().ok(),
            LatestState::Class(class) => AnyObject::from(class.clone()).to_json().ok(),
            LatestState::Other(object) => object.to_json().ok(),
            LatestState::Event(at) => match &self.events.get(at)?.action {
                Action::Create(object) | Action::Update(object) | Action::Patch { object, .. } => object.to_json().ok(),
                Action::Delete(_) => None,
            },
            LatestState::Implied | LatestState::Gone => None,
        };
        match value {
            Some(Value::Object(fields)) => Some(fields),
            _ => None,
        }
    }

    fn missing_object(&self, at: Span, reference: &Reference, place: &SourceLocation, suggestion: &str) -> Problem {
        if let Some(KnownObject { place: deletion, .. }) = self.known.get(reference) {
            return problem(place, reference, format!("does not exist at {at}: deleted at {deletion}{suggestion}"));
        }
        let same_kind = self.known.iter().filter(|(other, known)| {
            other.kind == reference.kind && !matches!(known.latest, LatestState::Gone | LatestState::Implied)
        });
        let mut names: Vec<String> = same_kind.map(|(other, _)| other.local()).collect();
        names.sort_unstable();
        let hint = match closest(&reference.local(), names.iter().map(String::as_str)) {
            Some(similar) => format!("; did you mean `{similar}`?"),
            None => suggestion.to_owned(),
        };
        problem(place, reference, format!("does not exist at {at}{hint}"))
    }
}

fn problem(place: &SourceLocation, reference: &Reference, message: String) -> Problem {
    Problem { place: place.clone(), object: Some(reference.to_string()), field: None, message }
}
