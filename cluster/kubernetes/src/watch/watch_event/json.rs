//! Watch events in JSON.

use std::fmt;

use schedc_objects::decode::KindReader;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{END_OF_LIST, WatchEvent};
use crate::transport::StatusError;

/// Reads one line of a watch of this kind.
pub(super) fn read(kind: KindReader<'_>, line: &[u8]) -> Result<WatchEvent, serde_json::Error> {
    // UTF-8 is validated once here, not for each string.
    let line = str::from_utf8(line).map_err(Error::custom)?;
    let mut json = serde_json::Deserializer::from_str(line);
    let read = json.deserialize_map(Line { kind, of_type: None })?;
    json.end()?;
    match read {
        Read::WatchEvent(event) => Ok(event),
        Read::Early(of_type) => {
            let again = Line { kind, of_type: Some(of_type) };
            match serde_json::Deserializer::from_str(line).deserialize_map(again)? {
                Read::WatchEvent(event) => Ok(event),
                Read::Early(_) => Err(Error::missing_field("object")),
            }
        }
    }
}

/// Visitor of a watch line.
struct Line<'a> {
    kind: KindReader<'a>,
    /// Event type, if it is known from a first pass.
    of_type: Option<Type>,
}

/// Result of one pass over a line.
enum Read {
    WatchEvent(WatchEvent),
    /// The object came before its type and needs a second pass. Servers write the type first, but the API does not
    /// guarantee it.
    Early(Type),
}

/// Event type.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Type {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Field {
    Type,
    Object,
    #[serde(other)]
    Other,
}

impl<'de> Visitor<'de> for Line<'_> {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a change of an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
        let Line { kind, mut of_type } = self;
        let mut event = None;
        let mut has_object = false;
        while let Some(field) = map.next_key()? {
            match (field, of_type) {
                (Field::Type, _) => of_type = Some(map.next_value()?),
                (Field::Object, Some(of_type)) => event = Some(map.next_value_seed(Content { kind, of_type })?),
                (Field::Object, None) | (Field::Other, _) => {
                    has_object |= field == Field::Object;
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        match (event, of_type) {
            (Some(event), _) => Ok(Read::WatchEvent(event)),
            (None, Some(of_type)) if has_object => Ok(Read::Early(of_type)),
            _ => Err(A::Error::missing_field("object")),
        }
    }
}

/// Decoder of the object of an event.
struct Content<'a> {
    kind: KindReader<'a>,
    of_type: Type,
}

impl<'de> DeserializeSeed<'de> for Content<'_> {
    type Value = WatchEvent;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<WatchEvent, D::Error> {
        Ok(match self.of_type {
            Type::Added | Type::Modified => WatchEvent::Upsert(self.kind.deserialize(deserializer)?),
            Type::Deleted => WatchEvent::Removal(self.kind.deserialize(deserializer)?),
            Type::Bookmark => {
                let bookmark = Value::deserialize(deserializer)?;
                let metadata = &bookmark["metadata"];
                let version = metadata["resourceVersion"].as_str().unwrap_or_default();
                if version.is_empty() {
                    return Err(D::Error::custom("a bookmark without a version"));
                }
                let is_end_of_list = metadata["annotations"][END_OF_LIST] == "true";
                WatchEvent::Bookmark { version: version.into(), is_end_of_list }
            }
            Type::Error => WatchEvent::Error(StatusError::from_json(&Value::deserialize(deserializer)?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn event(line: &str) -> WatchEvent {
        read(KindReader::Known("Node"), line.as_bytes()).unwrap()
    }

    fn name(event: WatchEvent) -> String {
        match event {
            WatchEvent::Upsert(object) => format!("is {} {}", object.kind(), object.name()),
            WatchEvent::Removal(object) => format!("gone {} {}", object.kind(), object.name()),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn changes_of_objects() {
        let line = |of_type: &str| {
            format!(r#"{{"type":"{of_type}","object":{{"kind":"Node","apiVersion":"v1","metadata":{{"name":"n"}}}}}}"#)
        };
        assert_eq!(
            ["ADDED", "MODIFIED", "DELETED"].map(|of_type| name(event(&line(of_type)))),
            ["is Node n", "is Node n", "gone Node n"]
        );
        assert_eq!(name(event(r#"{"object":{"metadata":{"name":"n"}},"more":[1],"type":"DELETED"}"#)), "gone Node n");
    }

    #[test]
    fn bookmarks() {
        let line = r#"{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"216","creationTimestamp":null}}}"#;
        assert_eq!(event(line), WatchEvent::Bookmark { version: "216".into(), is_end_of_list: false });
        let line = r#"{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"216","annotations":
            {"k8s.io/initial-events-end":"true"}}}}"#;
        assert_eq!(event(line), WatchEvent::Bookmark { version: "216".into(), is_end_of_list: true });
    }

    #[test]
    fn refusals() {
        let line = r#"{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"too old resource version",
            "reason":"Expired","code":410,"details":{"retryAfterSeconds":2}}}"#;
        let retry_after = Some(Duration::from_secs(2));
        let message = "too old resource version".into();
        let reason = "Expired".into();
        let status_error = StatusError { code: 410, reason, message, retry_after, ..StatusError::default() };
        assert_eq!(event(line), WatchEvent::Error(status_error));
    }

    #[test]
    fn malformed_events_are_errors() {
        for line in [
            "",
            "[]",
            "{}",
            r#"{"type":"ADDED"}"#,
            r#"{"type":"OTHER","object":{}}"#,
            r#"{"type":"ADDED","object":7}"#,
            r#"{"type":"ADDED","object":{}} {}"#,
            r#"{"type":"BOOKMARK","object":{}}"#,
        ] {
            assert!(read(KindReader::Known("Node"), line.as_bytes()).is_err(), "{line}");
        }
        assert!(read(KindReader::Known("Node"), b"{\"type\":\"ADDED\",\"object\":{\"\xff\":1}}").is_err());
        assert!(read(KindReader::Known("Lease"), br#"{"type":"ADDED","object":{}}"#).is_err());
    }
}
