//! Traces: objects with annotations for their creation and deletion times.

use std::collections::BTreeMap;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_codegen::suggest::closest;
use schedc_objects::manifests::{Problem, SourceLocation};
use schedc_objects::{AnyObject, Objects, Sourced};

use super::entry::EntryAction;
use super::history::EventDraft;
use super::{Reference, Span};

/// Prefix of the annotations of a trace.
const PREFIX: &str = "trace/";
/// Creation time: seconds since the start, or a duration. Without it, the object exists from the start.
const CREATED: &str = "trace/created";
/// Deletion time. Without it, the object is not deleted.
const DELETED: &str = "trace/deleted";

/// Removes the objects that the trace creates after the start from `objects`, and adds the creations and deletions of
/// the trace to `drafts`. Returns the number of objects in the trace.
pub(super) fn take(
    objects: &mut Objects,
    drafts: &mut Vec<(Span, EventDraft, SourceLocation)>,
    problems: &mut Vec<Problem>,
) -> usize {
    let mut trace = Trace { drafts, problems, objects: 0 };
    trace.take(&mut objects.nodes, |node| (Node::KIND, false, &node.metadata));
    trace.take(&mut objects.others, |object| (object.kind(), object.has_namespace(), object.metadata()));
    trace.take(&mut objects.pods, |pod| (Pod::KIND, true, &pod.metadata));
    trace.objects
}

struct Trace<'a> {
    drafts: &'a mut Vec<(Span, EventDraft, SourceLocation)>,
    problems: &'a mut Vec<Problem>,
    objects: usize,
}

impl Trace<'_> {
    fn take<T: Into<AnyObject>>(
        &mut self,
        list: &mut Vec<Sourced<T>>,
        parts: impl Fn(&T) -> (&'static str, bool, &ObjectMeta),
    ) {
        for Sourced { object, place } in std::mem::take(list) {
            let (kind, is_namespaced, metadata) = parts(&object);
            let Some(annotations) = metadata.annotations.as_ref().filter(|annotations| is_traced(annotations)) else {
                list.push(Sourced { object, place });
                continue;
            };
            self.objects += 1;
            let (name, namespace) = (metadata.name.as_deref(), metadata.namespace.as_deref());
            let reference =
                Reference::new(kind, is_namespaced, namespace.unwrap_or_default(), name.unwrap_or_default());
            let (created, deleted) = match times(annotations) {
                Ok(times) => times,
                Err(message) => {
                    let object = Some(reference.to_string());
                    self.problems.push(Problem { place, object, field: None, message });
                    continue;
                }
            };
            match created {
                Span(0) => list.push(Sourced { object, place: place.clone() }),
                _ => self.drafts.push((created, EventDraft::Admitted(object.into()), place.clone())),
            }
            if let Some(deleted) = deleted {
                self.drafts.push((deleted, EventDraft::Written(EntryAction::Delete(reference)), place));
            }
        }
    }
}

fn is_traced(annotations: &BTreeMap<String, String>) -> bool {
    annotations.keys().any(|name| name.starts_with(PREFIX))
}

/// Returns the creation and deletion times of an object.
fn times(annotations: &BTreeMap<String, String>) -> Result<(Span, Option<Span>), String> {
    let known = [CREATED, DELETED];
    let unknown = annotations.keys().find(|name| name.starts_with(PREFIX) && !known.contains(&name.as_str()));
    if let Some(unknown) = unknown {
        return Err(match closest(unknown, known) {
            Some(similar) => format!("has the unknown annotation `{unknown}`; did you mean `{similar}`?"),
            None => format!("has the unknown annotation `{unknown}`; those of a trace are `{CREATED}` and `{DELETED}`"),
        });
    }
    let time = |name: &str| {
        let text = annotations.get(name);
        text.map(|text| Span::parse_seconds(text).map_err(|error| format!("has an invalid {name}: {error}")))
            .transpose()
    };
    let (created, deleted) = (time(CREATED)?.unwrap_or_default(), time(DELETED)?);
    match deleted {
        Some(deleted) if deleted < created => Err(format!("is deleted at {deleted}, but created only at {created}")),
        _ => Ok((created, deleted)),
    }
}
