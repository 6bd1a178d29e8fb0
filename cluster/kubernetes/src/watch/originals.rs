//! Originals, for kinds that are kept whole. They are looked for in JSON: such kinds are asked for as JSON.

use std::sync::Arc;

use schedc_core::originals::RequiredOriginals;
use schedc_objects::original::{elements, member, original_from_json};

use crate::resources::Resource;

/// Of which objects originals are told, and what finds them. A scheduler without such objects has none of it, and so none of its
/// code.
#[derive(Clone, Copy, Debug)]
pub struct OriginalsReader {
    of: RequiredOriginals,
    read: ReadOriginals,
}

/// What finds originals.
pub type ReadOriginals = fn(&Resource, RawObjects<'_>) -> Option<Vec<Arc<str>>>;

/// What arrived.
#[derive(Clone, Copy, Debug)]
pub enum RawObjects<'a> {
    /// A line of a watch.
    Line(&'a [u8]),
    /// A page of a list.
    Page(&'a [u8]),
}

impl OriginalsReader {
    /// Originals of some objects.
    pub fn new(of: RequiredOriginals) -> Self {
        OriginalsReader { of, read: originals }
    }

    /// What finds those of objects of a kind, if they are kept.
    pub fn for_kind(self, kind: &str) -> Option<ReadOriginals> {
        let is_kept = match kind {
            "Node" => self.of.nodes,
            "Pod" => self.of.pods(),
            _ => false,
        };
        is_kept.then_some(self.read)
    }
}

/// The originals of what arrived, in order. None at all if one of them is missing.
fn originals(resource: &Resource, raw: RawObjects<'_>) -> Option<Vec<Arc<str>>> {
    let objects = match raw {
        RawObjects::Line(line) => vec![member(str::from_utf8(line).ok()?, "object").ok()??],
        RawObjects::Page(page) => elements(member(str::from_utf8(page).ok()?, "items").ok()??).ok()?,
    };
    objects.into_iter().map(|object| original_from_json(object, resource.kind == "Pod").ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn originals_keep_the_text_of_the_server() {
        let nodes = Resource::of("Node").unwrap();
        let whole = OriginalsReader::new(RequiredOriginals { nodes: true, ..RequiredOriginals::NONE });
        assert!(whole.for_kind("Pod").is_none() && whole.for_kind("Service").is_none());
        let read = whole.for_kind("Node").unwrap();
        let line = br#"{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}}"#;
        assert_eq!(read(nodes, RawObjects::Line(line)).unwrap(), [r#"{"metadata":{"name":"a"}}"#.into()]);
        let page = br#"{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"metadata":{}}"#;
        let both = [r#"{"metadata":{"name":"a"}}"#.into(), r#"{"metadata":{"name":"b"}}"#.into()];
        assert_eq!(read(nodes, RawObjects::Page(page)).unwrap(), both);
        assert_eq!(read(nodes, RawObjects::Line(b"{")), None);
    }
}
