//! Protobuf messages of API servers, parsed in place.
//!
//! A message consists of numbered fields. The length precedes each text and message, so an ignored one costs one jump.
//! Go writes most empty and zero fields, which JSON omits. They count as absent here, unless Go stores the field behind
//! a pointer and thereby distinguishes zero from absence.

use std::fmt;

/// Prefix of protobuf objects in requests and responses, followed by a `runtime.Unknown`.
pub(super) const MAGIC: &[u8] = b"k8s\0";

/// Error in a protobuf message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// A message ends inside a field.
    CutShort,
    /// A field has a value of a wrong type.
    WrongType,
    /// A text is not UTF-8.
    InvalidUtf8,
    /// The prefix of protobuf objects is missing.
    MissingPrefix,
    /// A required field is missing.
    MissingField(&'static str),
    /// JSON inside an object is invalid.
    Json(String),
    /// Schedulers ignore objects of this kind.
    UnknownKind(String),
    /// A watch event has an unknown type.
    UnknownEvent(String),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::CutShort => f.write_str("it ends within a field of protobuf"),
            Malformed::WrongType => f.write_str("a field of protobuf has a value of a wrong type"),
            Malformed::InvalidUtf8 => f.write_str("a text is not UTF-8"),
            Malformed::MissingPrefix => f.write_str("it is not a protobuf object"),
            Malformed::MissingField(name) => write!(f, "field `{name}` is missing"),
            Malformed::Json(error) => f.write_str(error),
            Malformed::UnknownKind(kind) => write!(f, "schedulers ignore objects of kind {kind}"),
            Malformed::UnknownEvent(event) => write!(f, "unknown watch event type {event:?}"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// Number or boolean.
    Number(u64),
    /// Text, bytes, or message.
    Bytes(&'a [u8]),
}

impl<'a> FieldValue<'a> {
    /// Returns the number.
    ///
    /// # Errors
    /// Returns an error for bytes.
    pub fn number(self) -> Result<u64, Malformed> {
        match self {
            FieldValue::Number(number) => Ok(number),
            FieldValue::Bytes(_) => Err(Malformed::WrongType),
        }
    }

    /// Returns the bytes.
    ///
    /// # Errors
    /// Returns an error for a number.
    pub fn bytes(self) -> Result<&'a [u8], Malformed> {
        match self {
            FieldValue::Bytes(bytes) => Ok(bytes),
            FieldValue::Number(_) => Err(Malformed::WrongType),
        }
    }

    /// Returns the text.
    ///
    /// # Errors
    /// Returns an error if the value is not text.
    pub fn text(self) -> Result<&'a str, Malformed> {
        str::from_utf8(self.bytes()?).map_err(|_| Malformed::InvalidUtf8)
    }
}

/// The fields of a message: their numbers and values, in their order on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a>(pub &'a [u8]);

impl<'a> Message<'a> {
    /// Returns the next field, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the field is invalid.
    #[inline]
    pub fn next_field(&mut self) -> Result<Option<(u32, FieldValue<'a>)>, Malformed> {
        while !self.0.is_empty() {
            let tag = self.varint()?;
            let number = u32::try_from(tag >> 3).map_err(|_| Malformed::WrongType)?;
            let value = match tag & 7 {
                0 => FieldValue::Number(self.varint()?),
                2 => {
                    let length = usize::try_from(self.varint()?).map_err(|_| Malformed::CutShort)?;
                    FieldValue::Bytes(self.bytes(length)?)
                }
                // Kubernetes has no fixed-length numbers in fields that schedulers read.
                1 => {
                    self.bytes(8)?;
                    continue;
                }
                5 => {
                    self.bytes(4)?;
                    continue;
                }
                _ => return Err(Malformed::WrongType),
            };
            return Ok(Some((number, value)));
        }
        Ok(None)
    }

    /// Returns the value of a field; the last one, if it occurs more than once.
    ///
    /// # Errors
    /// Returns an error if the message is invalid.
    pub fn get(mut self, number: u32) -> Result<Option<FieldValue<'a>>, Malformed> {
        let mut found = None;
        while let Some((at, value)) = self.next_field()? {
            if at == number {
                found = Some(value);
            }
        }
        Ok(found)
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Malformed> {
        // Nearly all numbers have one byte.
        if let [first @ ..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Ok(u64::from(*first));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for (at, byte) in self.0.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.0 = &self.0[at + 1..];
                return Ok(value);
            }
        }
        Err(Malformed::CutShort)
    }

    #[inline]
    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed::CutShort)?;
        self.0 = rest;
        Ok(bytes)
    }
}

/// An object with its kind: `runtime.Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The kind, such as `Pod` or `Status`.
    pub kind: &'a str,
    /// The encoded object.
    pub object: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Parses an envelope.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an envelope.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut message = Message(bytes.strip_prefix(MAGIC).ok_or(Malformed::MissingPrefix)?);
        let mut envelope = Envelope { kind: "", object: &[] };
        while let Some((number, value)) = message.next_field()? {
            match number {
                1 => {
                    if let Some(kind) = Message(value.bytes()?).get(2)? {
                        envelope.kind = kind.text()?;
                    }
                }
                2 => envelope.object = value.bytes()?,
                _ => {}
            }
        }
        Ok(envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u32, FieldValue<'_>)>, Malformed> {
        let mut message = Message(bytes);
        std::iter::from_fn(|| message.next_field().transpose()).collect()
    }

    #[test]
    fn fields_have_numbers_or_bytes() {
        let bytes = [
            0x08, 0xac, 0x02, // 1: 300
            0x12, 0x02, b'h', b'i', // 2: "hi"
            0x19, 1, 2, 3, 4, 5, 6, 7, 8, // 3: eight bytes
            0x25, 1, 2, 3, 4, // 4: four
            0x82, 0x01, 0x00, // 16: ""
            0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, // 5: -1
        ];
        let expected = [
            (1, FieldValue::Number(300)),
            (2, FieldValue::Bytes(b"hi")),
            (16, FieldValue::Bytes(b"")),
            (5, FieldValue::Number(u64::MAX)),
        ];
        assert_eq!(fields(&bytes).unwrap(), expected);
    }

    #[test]
    fn truncated_messages_and_unknown_types_are_errors() {
        for bytes in [&[0x08][..], &[0x08, 0x80], &[0x12, 3, b'h', b'i'], &[0x19, 1], &[0x80; 11]] {
            assert_eq!(fields(bytes), Err(Malformed::CutShort), "{bytes:?}");
        }
        assert_eq!(fields(&[0x0b]), Err(Malformed::WrongType));
        assert_eq!(FieldValue::Number(1).text(), Err(Malformed::WrongType));
        assert_eq!(FieldValue::Bytes(b"\xff").text(), Err(Malformed::InvalidUtf8));
    }

    #[test]
    fn an_envelope_has_the_kind() {
        let pod = b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x01x\x1a\x00\x22\x00";
        assert_eq!(Envelope::open(pod), Ok(Envelope { kind: "Pod", object: b"x" }));
        assert_eq!(Envelope::open(b"{\"kind\":\"Pod\"}"), Err(Malformed::MissingPrefix));
    }
}
