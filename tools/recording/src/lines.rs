//! Formatting of lines. Pods refer to templates and to their previous lines, except in an anonymised recording, which
//! has whole objects.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use schedc_core::map::Map;
use serde::Serialize;

use crate::anonymiser::Anonymiser;
use crate::change::{Form, Key, PodDecision, PodForm, Template};
use crate::entry::{Entry, Line, ObjectText};
use crate::raw::{PodLine, RawEntry, TemplateLine};

/// Maximum number of templates, which bounds the memory of recorders and readers. At this number, a further template
/// replaces all of them.
const MAX_TEMPLATES: usize = 16_384;

/// Formatted lines.
#[derive(Debug)]
pub(crate) struct Lines {
    text: Vec<u8>,
    encoding: Encoding,
}

#[derive(Debug)]
enum Encoding {
    /// The templates of the file, with their numbers.
    Templates(Map<Arc<Template>, u32>),
    Anonymised(Anonymiser),
}

/// A new or changed object.
#[derive(Debug)]
pub(crate) struct ObjectChange<'a> {
    pub(crate) at: i64,
    pub(crate) rv: Option<u64>,
    pub(crate) key: Key<&'a str>,
    pub(crate) form: &'a Form,
    /// The form in the previous line of this object in the file.
    pub(crate) before: Option<&'a Form>,
    pub(crate) decision: Option<PodDecision<'a>>,
}

impl Lines {
    pub(crate) fn new(anonymiser: Option<Anonymiser>) -> Lines {
        let encoding = anonymiser.map_or_else(|| Encoding::Templates(Map::default()), Encoding::Anonymised);
        Lines { text: Vec::new(), encoding }
    }

    /// Returns the text of the lines. The caller empties it after writing it.
    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Begins a file, which has no templates yet.
    pub(crate) fn begin_file(&mut self) {
        if let Encoding::Templates(templates) = &mut self.encoding {
            templates.clear();
        }
    }

    /// Adds a line.
    ///
    /// # Errors
    /// Returns an error if the line cannot be written as JSON, which does not happen in practice.
    pub(crate) fn add(&mut self, line: Line) -> io::Result<()> {
        match &self.encoding {
            Encoding::Templates(_) => write_line(&mut self.text, &line),
            Encoding::Anonymised(anonymiser) => write_line(&mut self.text, &anonymiser.line(line)),
        }
    }

    /// Adds the lines of an object.
    ///
    /// # Errors
    /// Returns an error if a line cannot be written as JSON, which does not happen in practice.
    pub(crate) fn add_object(&mut self, change: &ObjectChange<'_>) -> io::Result<()> {
        let ObjectChange { at, rv, key, form, before, decision } = *change;
        let text = &mut self.text;
        match (&mut self.encoding, form) {
            (Encoding::Templates(templates), Form::Pod(pod)) => {
                let before = before.and_then(|before| pod.previous_line(before));
                let template = match before {
                    Some(_) => None,
                    None => Some(template_number(templates, text, at, &pod.template)?),
                };
                let changed = |field: fn(&PodForm) -> Option<&str>| {
                    let value = field(pod);
                    value.filter(|_| before.map(field) != Some(value)).map(Cow::Borrowed)
                };
                let has_status = before.is_none_or(|before| before.status != pod.status);
                let line = PodLine {
                    template,
                    namespace: Cow::Borrowed(key.namespace),
                    name: Cow::Borrowed(key.name),
                    uid: changed(|pod| pod.uid.as_deref()),
                    created: changed(|pod| pod.created.as_ref().map(|time| time.as_str())),
                    deleted: changed(|pod| pod.deleted.as_ref().map(|time| time.as_str())),
                    node: changed(|pod| pod.node.as_deref()),
                    decision: decision.map(PodDecision::name),
                    status: pod.status.as_ref().filter(|_| has_status).map(|status| &status.text),
                };
                write_pod_line(text, at, rv, line)
            }
            (Encoding::Templates(_), Form::Object(object)) => {
                write_line(text, &Line { at, rv, entry: RawEntry::Set(object) })
            }
            (Encoding::Anonymised(anonymiser), form) => {
                let object = match form {
                    Form::Pod(pod) => {
                        if let Some(decision) = decision {
                            let entry = decision.entry(key, &pod.template.scheduler);
                            write_line(text, &anonymiser.line(Line { at, rv, entry }))?;
                        }
                        pod.object(key)
                    }
                    Form::Object(object) => object.parse(),
                };
                write_line(text, &anonymiser.line(Line { at, rv, entry: Entry::Set(object) }))
            }
        }
    }
}

/// Returns the number of a template. A new template receives a number, and its line is added to `text`.
fn template_number(
    templates: &mut Map<Arc<Template>, u32>,
    text: &mut Vec<u8>,
    at: i64,
    template: &Arc<Template>,
) -> io::Result<u32> {
    if let Some(number) = templates.get(template) {
        return Ok(*number);
    }
    if templates.len() == MAX_TEMPLATES {
        templates.clear();
    }
    let number = u32::try_from(templates.len()).unwrap_or_default();
    templates.insert(template.clone(), number);
    write_line(text, &Line::new(at, RawEntry::Template(TemplateLine { number, pod: &template.text })))?;
    Ok(number)
}

pub(crate) fn write_line(text: &mut Vec<u8>, line: &Line<impl Serialize>) -> io::Result<()> {
    serde_json::to_writer(&mut *text, line)?;
    text.push(b'\n');
    Ok(())
}

/// Writes the text that [`write_line`] writes for [`RawEntry::Pod`], with half the instructions: names of fields are
/// not escaped.
fn write_pod_line(text: &mut Vec<u8>, at: i64, rv: Option<u64>, line: PodLine<'_, &ObjectText>) -> io::Result<()> {
    let PodLine { template, namespace, name, uid, created, deleted, node, decision, status } = line;
    text.push(b'{');
    write_field(text, "\"at\":", Some(at))?;
    write_field(text, "\"rv\":", rv)?;
    text.extend_from_slice(b"\"pod\":{");
    write_field(text, "\"template\":", template)?;
    write_field(text, "\"namespace\":", Some(namespace).filter(|namespace| !namespace.is_empty()))?;
    write_field(text, "\"name\":", Some(name))?;
    write_field(text, "\"uid\":", uid)?;
    write_field(text, "\"created\":", created)?;
    write_field(text, "\"deleted\":", deleted)?;
    write_field(text, "\"node\":", node)?;
    write_field(text, "\"decision\":", decision)?;
    write_field(text, "\"status\":", status)?;
    // The last comma.
    text.pop();
    text.extend_from_slice(b"}}\n");
    Ok(())
}

/// Writes a field and a comma, or nothing for `None`.
#[inline]
fn write_field(text: &mut Vec<u8>, name: &str, value: Option<impl Serialize>) -> io::Result<()> {
    let Some(value) = value else { return Ok(()) };
    text.extend_from_slice(name.as_bytes());
    serde_json::to_writer(&mut *text, &value)?;
    text.push(b',');
    Ok(())
}

impl PodForm {
    /// Returns the form in the previous line of the pod if a line with the changed fields suffices.
    fn previous_line<'a>(&self, before: &'a Form) -> Option<&'a PodForm> {
        let Form::Pod(before) = before else { return None };
        let is_same = (&before.uid, &before.created, &before.template) == (&self.uid, &self.created, &self.template);
        // A line with only the changed fields cannot remove a field.
        let is_removed = (before.deleted.is_some() && self.deleted.is_none())
            || (before.node.is_some() && self.node.is_none())
            || (before.status.is_some() && self.status.is_none());
        (is_same && !is_removed).then_some(before)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::raw::Decision;

    #[test]
    fn pod_lines_are_those_of_serde() {
        let status = ObjectText::new(&json!({"phase": "Pending"})).unwrap();
        let all = PodLine {
            template: Some(7),
            namespace: "a \"name\"".into(),
            name: "p".into(),
            uid: Some("u".into()),
            created: Some("2026-01-01T00:00:00Z".into()),
            deleted: Some("2026-01-02T00:00:00Z".into()),
            node: Some("\u{e9}\n".into()),
            decision: Some(Decision::Reject),
            status: Some(&status),
        };
        let (uid, created, deleted, node) = (None, None, None, None);
        let (namespace, name) = ("".into(), "p".into());
        let minimal =
            PodLine { template: None, namespace, name, uid, created, deleted, node, decision: None, status: None };
        for (rv, line) in [(Some(3), all), (None, minimal)] {
            let mut written = Vec::new();
            write_pod_line(&mut written, -1, rv, line.clone()).unwrap();
            let mut expected = Vec::new();
            write_line(&mut expected, &Line { at: -1, rv, entry: RawEntry::Pod(line) }).unwrap();
            assert_eq!(String::from_utf8(written), String::from_utf8(expected));
        }
    }
}
