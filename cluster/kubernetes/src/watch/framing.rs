//! Frames of a watch response. In JSON each event is a line; in protobuf each has a length prefix. Chunks may end
//! anywhere.

use std::ops::Range;

use memchr::memchr;

use crate::transport::Format;

/// Joins chunks and splits them into frames.
#[derive(Debug)]
pub struct FrameDecoder {
    format: Format,
    buffer: Vec<u8>,
    /// Start of the next frame.
    start: usize,
    /// End of the part after `start` that was searched and contains no line end.
    scanned: usize,
}

/// Size of a length prefix in bytes.
const LENGTH: usize = 4;

/// Capacity above which an empty buffer is freed, since a large object may have grown it.
const MAX_IDLE_CAPACITY: usize = 64 * 1024;

impl FrameDecoder {
    /// Creates a decoder with an empty buffer.
    pub fn new(format: Format) -> Self {
        FrameDecoder { format, buffer: Vec::new(), start: 0, scanned: 0 }
    }

    /// Appends a chunk.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
            if self.buffer.is_empty() && self.buffer.capacity() > MAX_IDLE_CAPACITY {
                self.buffer = Vec::new();
            }
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete frame without its delimiter. Empty frames are skipped.
    pub(crate) fn next_frame(&mut self) -> Option<&[u8]> {
        loop {
            let (frame, next) = match self.format {
                Format::Json => self.line()?,
                Format::Protobuf => self.length_delimited()?,
            };
            (self.start, self.scanned) = (next, next);
            if !frame.is_empty() {
                return Some(&self.buffer[frame]);
            }
        }
    }

    /// Returns the next line without its end, and the start of the next frame.
    fn line(&mut self) -> Option<(Range<usize>, usize)> {
        let Some(length) = memchr(b'\n', &self.buffer[self.scanned..]) else {
            self.scanned = self.buffer.len();
            return None;
        };
        let end = self.scanned + length;
        Some((self.start..end, end + 1))
    }

    /// Returns the next frame with a length prefix, and the start of the one after it.
    fn length_delimited(&self) -> Option<(Range<usize>, usize)> {
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
        let mut decoder = FrameDecoder::new(format);
        let mut found = Vec::new();
        for chunk in text.chunks(size) {
            decoder.push(chunk);
            while let Some(frame) = decoder.next_frame() {
                found.push(String::from_utf8(frame.to_vec()).unwrap());
            }
        }
        found
    }

    #[test]
    fn frames_do_not_depend_on_chunk_boundaries() {
        let lines = b"{\"a\":1}\n\n{\"b\":\"x\"}\n{}\nrest";
        let length_delimited = b"\0\0\0\x03one\0\0\0\0\0\0\0\x06second\0\0\0\x02x";
        for size in 1..lines.len() {
            assert_eq!(found(Format::Json, lines, size), ["{\"a\":1}", "{\"b\":\"x\"}", "{}"], "{size}");
            assert_eq!(found(Format::Protobuf, length_delimited, size), ["one", "second"], "{size}");
        }
    }

    #[test]
    fn the_buffer_shrinks_after_a_large_object() {
        let mut decoder = FrameDecoder::new(Format::Json);
        decoder.push(&vec![b'x'; 10 * MAX_IDLE_CAPACITY]);
        decoder.push(b"\n");
        assert_eq!(decoder.next_frame().map(<[u8]>::len), Some(10 * MAX_IDLE_CAPACITY));
        decoder.push(b"{}\n");
        assert!(decoder.buffer.capacity() < MAX_IDLE_CAPACITY);
        assert_eq!(decoder.next_frame(), Some(&b"{}"[..]));
    }
}
