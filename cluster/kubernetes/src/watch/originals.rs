//! Originals: the JSON texts of objects as the API server wrote them. A kind whose originals are stored is requested as
//! JSON.

use std::sync::Arc;

use schedc_core::originals::RequiredOriginals;
use schedc_objects::original::{elements, member, original_from_json};

use crate::resources::Resource;

/// The kinds whose originals are required, and the function that reads originals. The function pointer keeps this code
/// out of schedulers without extenders.
#[derive(Clone, Copy, Debug)]
pub struct OriginalsReader {
    of: RequiredOriginals,
    read: ReadOriginals,
}

/// Function that extracts the originals from received bytes.
pub(crate) type ReadOriginals = fn(&Resource, RawObjects<'_>) -> Option<Vec<Arc<str>>>;

/// Received bytes.
#[derive(Clone, Copy, Debug)]
pub enum RawObjects<'a> {
    /// Line of a watch.
    Line(&'a [u8]),
    /// Page of a list.
    Page(&'a [u8]),
}

impl OriginalsReader {
    /// Creates a reader for the originals that are required.
    pub fn new(of: RequiredOriginals) -> Self {
        OriginalsReader { of, read: originals }
    }

    /// Returns the extraction function, if the originals of this kind are stored.
    pub(crate) fn for_kind(self, kind: &str) -> Option<ReadOriginals> {
        let is_kept = match kind {
            "Node" => self.of.nodes,
            "Pod" => self.of.pods(),
            _ => false,
        };
        is_kept.then_some(self.read)
    }
}

/// Extracts the originals in order. Returns `None` if any is missing.
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
