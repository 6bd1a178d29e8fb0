//! Watch events in protobuf.

use schedc_objects::decode::protobuf::{Envelope, FieldValue, Malformed, Message};
use schedc_objects::decode::{KindReader, metadata_of};

use super::{END_OF_LIST, WatchEvent};
use crate::transport::StatusError;

/// Reads a `WatchEvent` message of a watch of this kind.
pub(super) fn read(kind: KindReader<'_>, event: &[u8]) -> Result<WatchEvent, Malformed> {
    let event = Message(event);
    let (of_type, raw) = (event.get(1)?, event.get(2)?);
    let object = Message(raw.ok_or(Malformed::MissingField("object"))?.bytes()?).get(1)?;
    let object = Envelope::open(object.ok_or(Malformed::MissingField("object.raw"))?.bytes()?)?.object;
    Ok(match of_type.map_or(Ok(""), FieldValue::text)? {
        "ADDED" | "MODIFIED" => WatchEvent::Upsert(kind.read_protobuf(object)?),
        "DELETED" => WatchEvent::Removal(kind.read_protobuf(object)?),
        "BOOKMARK" => {
            let metadata = metadata_of(Message(object))?;
            let version = metadata.resource_version.ok_or(Malformed::MissingField("metadata.resourceVersion"))?.into();
            let is_end_of_list =
                metadata.annotations.is_some_and(|all| all.get(END_OF_LIST).is_some_and(|is| is == "true"));
            WatchEvent::Bookmark { version, is_end_of_list }
        }
        "ERROR" => WatchEvent::Error(StatusError::from_protobuf(Message(object))?),
        of_type => return Err(Malformed::UnknownEvent(of_type.to_owned())),
    })
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;

    use super::*;
    use crate::transport::Format;
    use crate::watch::framing::FrameDecoder;

    /// Responses of Kubernetes 1.36 to watches of CSIDrivers and nodes.
    const STREAM: &str = "AAABvwoFQURERUQStQMKsgNrOHMACh4KEXN0b3JhZ2UuazhzLmlvL3YxEglDU0lEcml2ZXIShwMK0wIKBGtlZXASABoAIgAqJDIw\
         NTYyMzNmLTgwNTctNDRiNC1hZmM4LWJhM2VjZDNjYjM3ODIGNjYxMzQ2OABCCAinpo3YBhAAigGJAgoHdW5rbm93bhIGVXBkYXRl\
         GhFzdG9yYWdlLms4cy5pby92MSIICKemjdgGEAAyCEZpZWxkc1YxOswBCskBeyJmOnNwZWMiOnsiZjphdHRhY2hSZXF1aXJlZCI6\
         e30sImY6ZnNHcm91cFBvbGljeSI6e30sImY6cG9kSW5mb09uTW91bnQiOnt9LCJmOnJlcXVpcmVzUmVwdWJsaXNoIjp7fSwiZjpz\
         ZUxpbnV4TW91bnQiOnt9LCJmOnN0b3JhZ2VDYXBhY2l0eSI6e30sImY6dm9sdW1lTGlmZWN5Y2xlTW9kZXMiOnsiLiI6e30sInY6\
         XCJQZXJzaXN0ZW50XCIiOnt9fX19QgASLwgBEAAaClBlcnNpc3RlbnQgASoXUmVhZFdyaXRlT25jZVdpdGhGU1R5cGU4AEAAGgAi\
         AAAAAHUKCEJPT0tNQVJLEmkKZ2s4cwAKHgoRc3RvcmFnZS5rOHMuaW8vdjESCUNTSURyaXZlchI9CjkKABIAGgAiACoAMgY2NjEz\
         NjU4AEIAYiEKGWs4cy5pby9pbml0aWFsLWV2ZW50cy1lbmQSBHRydWUSABoAIgA=";
    const TOO_OLD: &str = "AAAAZgoFRVJST1ISXQpbazhzAAoMCgJ2MRIGU3RhdHVzEkMKBgoAEgAaABIHRmFpbHVyZRokdG9vIG9sZCByZXNvdXJjZSB2ZXJz\
         aW9uOiAxICg2MTUwMTIpIgdFeHBpcmVkMJoDGgAiAA==";

    fn frames(recorded: &str) -> Vec<Result<WatchEvent, Malformed>> {
        let mut decoder = FrameDecoder::new(Format::Protobuf);
        decoder.push(&BASE64_STANDARD.decode(recorded).unwrap());
        std::iter::from_fn(|| decoder.next_frame().map(|event| read(KindReader::Known("CSIDriver"), event))).collect()
    }

    #[test]
    fn a_recorded_stream() {
        let [Ok(WatchEvent::Upsert(driver)), Ok(bookmark)] = &frames(STREAM)[..] else {
            panic!("{:?}", frames(STREAM))
        };
        assert_eq!((driver.kind(), driver.name()), ("CSIDriver", "keep"));
        assert!(
            matches!(bookmark, WatchEvent::Bookmark { is_end_of_list: true, version } if version.parse::<u64>().is_ok())
        );
    }

    #[test]
    fn a_recorded_expired_version() {
        let [Ok(WatchEvent::Error(status_error))] = &frames(TOO_OLD)[..] else { panic!("{:?}", frames(TOO_OLD)) };
        assert_eq!((status_error.code, &*status_error.reason), (410, "Expired"));
        assert!(status_error.message.starts_with("too old resource version: 1 ("), "{}", status_error.message);
    }

    #[test]
    fn malformed_events_are_errors() {
        let read = |event: &[u8]| read(KindReader::Known("Node"), event);
        let added = b"\x0a\x05ADDED\x12";
        assert_eq!(read(b"").unwrap_err().to_string(), "field `object` is missing");
        assert_eq!(read(&[added, &b"\0"[..]].concat()), Err(Malformed::MissingField("object.raw")));
        let bookmark = b"\x0a\x08BOOKMARK\x12\x06\x0a\x04k8s\0";
        assert_eq!(read(bookmark), Err(Malformed::MissingField("metadata.resourceVersion")));
        assert_eq!(read(&[added, &b"\x04\x0a\x02{}"[..]].concat()), Err(Malformed::MissingPrefix));
        assert_eq!(read(&[added, &b"\x06\x0a\x04k8s"[..]].concat()), Err(Malformed::CutShort));
        assert_eq!(read(&[added, &b"\x09\x0a\x07k8s\0\x12\x01\x0a"[..]].concat()), Err(Malformed::CutShort));
        let other = read(b"\x0a\x05OTHER\x12\x06\x0a\x04k8s\0").unwrap_err();
        assert_eq!(other.to_string(), "unknown watch event type \"OTHER\"");
    }
}
