//! A change in protobuf.

use schedc_objects::reads::protobuf::{Envelope, Malformed, Message};
use schedc_objects::reads::{OfKind, metadata_of};

use super::{END_OF_LIST, Frame};
use crate::wire::Refusal;

/// Reads a `WatchEvent` of a watch of objects of this kind.
pub(super) fn read(kind: OfKind<'_>, event: &[u8]) -> Result<Frame, Malformed> {
    let (mut of_type, mut raw) = ("", None);
    let mut event = Message(event);
    while let Some((number, value)) = event.next_field()? {
        match number {
            1 => of_type = value.text()?,
            2 => raw = first_field(Message(value.bytes()?))?,
            _ => {}
        }
    }
    let object = Envelope::open(raw.ok_or(Malformed::NoObject)?)?.object;
    Ok(match of_type {
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
        _ => return Err(Malformed::Unknown(format!("change of the type {of_type:?}"))),
    })
}

/// What is in a `RawExtension`.
fn first_field(mut raw: Message<'_>) -> Result<Option<&[u8]>, Malformed> {
    let mut found = None;
    while let Some((number, value)) = raw.next_field()? {
        if number == 1 {
            found = Some(value.bytes()?);
        }
    }
    Ok(found)
}
