//! Watch events in JSON.

use schedc_objects::decode::KindReader;
use serde::Deserialize;
use serde::de::Error;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{END_OF_LIST, WatchEvent};
use crate::transport::StatusError;

/// Starts of the lines that servers write for objects. They are compared as text: only the object is parsed.
const STARTS: [(Type, &str); 3] = [
    (Type::Added, r#"{"type":"ADDED","object":"#),
    (Type::Modified, r#"{"type":"MODIFIED","object":"#),
    (Type::Deleted, r#"{"type":"DELETED","object":"#),
];

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Type {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    of_type: Type,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// Reads one line of a watch of this kind.
pub(super) fn read(kind: KindReader<'_>, line: &[u8]) -> Result<WatchEvent, serde_json::Error> {
    // UTF-8 is validated once here, not for each string.
    let line = str::from_utf8(line).map_err(Error::custom)?;
    for (of_type, start) in STARTS {
        if let Some(object) = line.strip_prefix(start).and_then(|rest| rest.strip_suffix('}'))
            && let Ok(event) = event(kind, of_type, object)
        {
            return Ok(event);
        }
    }
    let Line { of_type, object } = serde_json::from_str(line)?;
    event(kind, of_type, object.get())
}

fn event(kind: KindReader<'_>, of_type: Type, object: &str) -> Result<WatchEvent, serde_json::Error> {
    Ok(match of_type {
        Type::Added | Type::Modified => WatchEvent::Upsert(kind.read_json(object)?),
        Type::Deleted => WatchEvent::Removal(kind.read_json(object)?),
        Type::Bookmark => {
            let bookmark: Value = serde_json::from_str(object)?;
            let metadata = &bookmark["metadata"];
            let version = metadata["resourceVersion"].as_str().unwrap_or_default();
            if version.is_empty() {
                return Err(Error::custom("a bookmark without a version"));
            }
            let is_end_of_list = metadata["annotations"][END_OF_LIST] == "true";
            WatchEvent::Bookmark { version: version.into(), is_end_of_list }
        }
        Type::Error => WatchEvent::Error(StatusError::from_json(&serde_json::from_str(object)?)),
    })
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
        for line in [
            r#"{"object":{"metadata":{"name":"n"}},"more":[1],"type":"DELETED"}"#,
            r#"{"type":"DELETED","object":{"metadata":{"name":"n"}},"more":{}}"#,
            r#" {"type": "DELETED", "object": {"metadata": {"name": "n"}}} "#,
        ] {
            assert_eq!(name(event(line)), "gone Node n", "{line}");
        }
    }

    #[test]
    fn bookmarks_have_a_version_and_may_end_the_list() {
        let line = r#"{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"216","creationTimestamp":null}}}"#;
        assert_eq!(event(line), WatchEvent::Bookmark { version: "216".into(), is_end_of_list: false });
        let line = r#"{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"216","annotations":
            {"k8s.io/initial-events-end":"true"}}}}"#;
        assert_eq!(event(line), WatchEvent::Bookmark { version: "216".into(), is_end_of_list: true });
    }

    #[test]
    fn status_errors_are_read() {
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
