//! Lists in pages, for servers that do not stream lists.

use schedc_objects::AnyObject;
use schedc_objects::decode::KindReader;
use serde::Deserialize;
use serde::de::Error;
use serde_json::value::RawValue;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListPage {
    /// Resource version of the whole list.
    pub version: Box<str>,
    /// Continue token, if there is another page.
    pub continue_token: Option<Box<str>>,
    /// Objects on this page.
    pub objects: Vec<AnyObject>,
}

impl ListPage {
    /// Reads a page of objects of this kind, without the fields that the scheduler ignores.
    ///
    /// # Errors
    /// The text is not a valid list.
    pub(crate) fn read(kind: KindReader<'_>, json: &[u8]) -> Result<ListPage, serde_json::Error> {
        let List { metadata, items } = serde_json::from_str(str::from_utf8(json).map_err(Error::custom)?)?;
        let Metadata { resource_version, continue_token } = metadata;
        let items = items.unwrap_or_default().into_iter();
        let objects = items.map(|object| kind.read_json(object.get())).collect::<Result<_, _>>()?;
        Ok(ListPage {
            version: resource_version,
            continue_token: continue_token.filter(|token| !token.is_empty()),
            objects,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    resource_version: Box<str>,
    #[serde(rename = "continue")]
    continue_token: Option<Box<str>>,
}

#[derive(Deserialize)]
struct List<'a> {
    metadata: Metadata,
    /// Go writes `null` for a list that was never allocated.
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(json: &str) -> (String, Option<Box<str>>, Vec<String>) {
        let page = ListPage::read(KindReader::Known("Node"), json.as_bytes()).unwrap();
        (page.version.into(), page.continue_token, page.objects.iter().map(|object| object.name().to_owned()).collect())
    }

    #[test]
    fn pages_have_a_version_objects_and_a_continue_token() {
        let first = r#"{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"t",
            "remainingItemCount":1},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}"#;
        assert_eq!(page(first), ("7".into(), Some("t".into()), vec!["a".into(), "b".into()]));
        let last = r#"{"items":[{"metadata":{"name":"c"}}],"metadata":{"resourceVersion":"7","continue":""}}"#;
        assert_eq!(page(last), ("7".into(), None, vec!["c".into()]));
        assert_eq!(page(r#"{"metadata":{"resourceVersion":"7"},"items":null}"#), ("7".into(), None, vec![]));
    }

    #[test]
    fn malformed_pages_are_errors() {
        for json in ["", "[]", "{}", r#"{"metadata":{"resourceVersion":"7"},"items":7}"#, r#"{"metadata":{}}"#] {
            assert!(ListPage::read(KindReader::Known("Node"), json.as_bytes()).is_err(), "{json}");
        }
    }
}
