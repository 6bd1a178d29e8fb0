//! A change in protobuf.

use schedc_objects::reads::protobuf::{Envelope, Malformed, Message, Wire};
use schedc_objects::reads::{OfKind, metadata_of};

use super::{END_OF_LIST, Frame};
use crate::wire::Refusal;

/// Reads a `WatchEvent` of a watch of objects of this kind.
pub(super) fn read(kind: OfKind<'_>, event: &[u8]) -> Result<Frame, Malformed> {
    let event = Message(event);
    let (of_type, raw) = (event.get(1)?, event.get(2)?);
    let object = Message(raw.ok_or(Malformed::NoObject)?.bytes()?).get(1)?;
    let object = Envelope::open(object.ok_or(Malformed::NoObject)?.bytes()?)?.object;
    Ok(match of_type.map_or(Ok(""), Wire::text)? {
        "ADDED" | "MODIFIED" => Frame::Is(kind.take(object)?),
        "DELETED" => Frame::Gone(kind.take(object)?),
        "BOOKMARK" => {
            let metadata = metadata_of(Message(object))?;
            let version = metadata.resource_version.ok_or(Malformed::NoObject)?.into();
            let is_end_of_list =
                metadata.annotations.is_some_and(|all| all.get(END_OF_LIST).is_some_and(|is| is == "true"));
            Frame::Bookmark { version, is_end_of_list }
        }
        "ERROR" => Frame::Refused(Refusal::from_protobuf(Message(object))?),
        of_type => return Err(Malformed::Unknown(format!("change of the type {of_type:?}"))),
    })
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;

    use super::*;
    use crate::watch::pieces::Pieces;
    use crate::wire::Format;

    /// What Kubernetes 1.36 answered to watches of CSIDrivers and nodes.
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

    fn frames(recorded: &str) -> Vec<Result<Frame, Malformed>> {
        let mut pieces = Pieces::new(Format::Protobuf);
        pieces.push(&BASE64_STANDARD.decode(recorded).unwrap());
        std::iter::from_fn(|| pieces.next_piece().map(|event| read(OfKind::Known("CSIDriver"), event))).collect()
    }

    #[test]
    fn a_stream_of_a_real_server() {
        let [Ok(Frame::Is(driver)), Ok(bookmark)] = &frames(STREAM)[..] else { panic!("{:?}", frames(STREAM)) };
        assert_eq!((driver.kind(), driver.name()), ("CSIDriver", "keep"));
        assert!(
            matches!(bookmark, Frame::Bookmark { is_end_of_list: true, version } if version.parse::<u64>().is_ok())
        );
    }

    #[test]
    fn a_real_server_that_has_forgotten() {
        let [Ok(Frame::Refused(refusal))] = &frames(TOO_OLD)[..] else { panic!("{:?}", frames(TOO_OLD)) };
        assert_eq!((refusal.code, &*refusal.reason), (410, "Expired"));
        assert!(refusal.message.starts_with("too old resource version: 1 ("), "{}", refusal.message);
    }

    #[test]
    fn what_is_no_change_is_an_error() {
        let read = |event: &[u8]| read(OfKind::Known("Node"), event);
        let added = b"\x0a\x05ADDED\x12";
        assert_eq!(read(b""), Err(Malformed::NoObject));
        assert_eq!(read(&[added, &b"\x04\x0a\x02{}"[..]].concat()), Err(Malformed::NoObject));
        assert_eq!(read(&[added, &b"\x06\x0a\x04k8s"[..]].concat()), Err(Malformed::CutShort));
        assert_eq!(read(&[added, &b"\x09\x0a\x07k8s\0\x12\x01\x0a"[..]].concat()), Err(Malformed::CutShort));
        let other = read(b"\x0a\x05OTHER\x12\x06\x0a\x04k8s\0").unwrap_err();
        assert_eq!(other.to_string(), "nobody looks at a change of the type \"OTHER\"");
    }
}
