//! Lists in pages, for servers that do not stream lists.

use std::fmt;

use schedc_objects::AnyObject;
use schedc_objects::decode::KindReader;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};

/// Page of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListPage {
    /// Resource version of the whole list.
    pub version: Box<str>,
    /// Continue token, if there is another page.
    pub rest: Option<Box<str>>,
    /// Objects on this page.
    pub objects: Vec<AnyObject>,
}

impl ListPage {
    /// Reads a page of objects of this kind, without the fields that the scheduler ignores.
    ///
    /// # Errors
    /// The text is not a valid list.
    pub(crate) fn read(kind: KindReader<'_>, json: &[u8]) -> Result<ListPage, serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(str::from_utf8(json).map_err(de::Error::custom)?);
        let page = json.deserialize_map(List { kind })?;
        json.end()?;
        Ok(page)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    resource_version: Box<str>,
    #[serde(rename = "continue")]
    rest: Option<Box<str>>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Field {
    Metadata,
    Items,
    #[serde(other)]
    Other,
}

#[derive(Clone, Copy)]
struct List<'a> {
    kind: KindReader<'a>,
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ListPage;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ListPage, A::Error> {
        let (mut metadata, mut objects) = (None::<Metadata>, Vec::new());
        while let Some(field) = map.next_key()? {
            match field {
                Field::Metadata => metadata = Some(map.next_value()?),
                Field::Items => objects = map.next_value_seed(Items { kind: self.kind })?,
                Field::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let Metadata { resource_version, rest } = metadata.ok_or_else(|| de::Error::missing_field("metadata"))?;
        Ok(ListPage { version: resource_version, rest: rest.filter(|rest| !rest.is_empty()), objects })
    }
}

struct Items<'a> {
    kind: KindReader<'a>,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = Vec<AnyObject>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = Vec<AnyObject>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("objects")
    }

    /// Reads `null` as an empty list: Go writes it for a list that was never allocated.
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut objects = Vec::new();
        while let Some(object) = list.next_element_seed(self.kind)? {
            objects.push(object);
        }
        Ok(objects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(json: &str) -> (String, Option<Box<str>>, Vec<String>) {
        let page = ListPage::read(KindReader::Known("Node"), json.as_bytes()).unwrap();
        (page.version.into(), page.rest, page.objects.iter().map(|object| object.name().to_owned()).collect())
    }

    #[test]
    fn pages() {
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
