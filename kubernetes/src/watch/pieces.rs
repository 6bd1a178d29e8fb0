//! A watch answers with one change after another: in JSON each is a line, in protobuf each has its length in front. What
//! arrives ends anywhere.

use std::ops::Range;

use memchr::memchr;

use crate::wire::Format;

/// Puts together what arrives, and takes it apart into changes.
#[derive(Debug)]
pub struct Pieces {
    format: Format,
    buffer: Vec<u8>,
    /// Where the next piece begins.
    start: usize,
    /// Up to where no line ends.
    looked: usize,
}

/// How many bytes a length has.
const LENGTH: usize = 4;

/// A buffer that a large object has left behind is not kept.
const KEPT: usize = 64 * 1024;

impl Pieces {
    /// Nothing has arrived so far.
    pub fn new(format: Format) -> Self {
        Pieces { format, buffer: Vec::new(), start: 0, looked: 0 }
    }

    /// Something arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.looked -= self.start;
            self.start = 0;
            if self.buffer.is_empty() && self.buffer.capacity() > KEPT {
                self.buffer = Vec::new();
            }
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next change, without what sets it apart from others. Empty ones are left out.
    pub fn next_piece(&mut self) -> Option<&[u8]> {
        loop {
            let (piece, next) = match self.format {
                Format::Json => self.line()?,
                Format::Protobuf => self.measured()?,
            };
            (self.start, self.looked) = (next, next);
            if !piece.is_empty() {
                return Some(&self.buffer[piece]);
            }
        }
    }

    /// A line, without its end, and where the next one begins.
    fn line(&mut self) -> Option<(Range<usize>, usize)> {
        let Some(length) = memchr(b'\n', &self.buffer[self.looked..]) else {
            self.looked = self.buffer.len();
            return None;
        };
        let end = self.looked + length;
        Some((self.start..end, end + 1))
    }

    /// What has its length in front, and where the next begins.
    fn measured(&self) -> Option<(Range<usize>, usize)> {
        let (length, rest) = self.buffer[self.start..].split_first_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok().filter(|length| *length <= rest.len())?;
        let start = self.start + LENGTH;
        Some((start..start + length, start + length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(format: Format, text: &[u8], size: usize) -> Vec<String> {
        let mut pieces = Pieces::new(format);
        let mut found = Vec::new();
        for chunk in text.chunks(size) {
            pieces.push(chunk);
            while let Some(piece) = pieces.next_piece() {
                found.push(String::from_utf8(piece.to_vec()).unwrap());
            }
        }
        found
    }

    #[test]
    fn changes_are_the_same_however_they_arrive() {
        let lines = b"{\"a\":1}\n\n{\"b\":\"x\"}\n{}\nrest";
        let measured = b"\0\0\0\x03one\0\0\0\0\0\0\0\x06second\0\0\0\x02x";
        for size in 1..lines.len() {
            assert_eq!(found(Format::Json, lines, size), ["{\"a\":1}", "{\"b\":\"x\"}", "{}"], "{size}");
            assert_eq!(found(Format::Protobuf, measured, size), ["one", "second"], "{size}");
        }
    }

    #[test]
    fn what_a_large_object_needed_is_given_back() {
        let mut pieces = Pieces::new(Format::Json);
        pieces.push(&vec![b'x'; 10 * KEPT]);
        pieces.push(b"\n");
        assert_eq!(pieces.next_piece().map(<[u8]>::len), Some(10 * KEPT));
        pieces.push(b"{}\n");
        assert!(pieces.buffer.capacity() < KEPT);
        assert_eq!(pieces.next_piece(), Some(&b"{}"[..]));
    }
}
