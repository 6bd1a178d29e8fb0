//! zstd frames. Each part of a file that is written at once is a frame, and the frames of a file are read as one
//! stream.

use std::fmt;
use std::io::{self, BufRead, Read};

use zstd::bulk;
use zstd::stream::read::Decoder;
use zstd::zstd_safe::compress_bound;

/// First bytes of a frame.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Compression level. Lines are similar, so a higher level would save few bytes.
const LEVEL: i32 = 1;

/// Binary logarithm of the maximum window size in bytes, which bounds the memory of a decoder. Recorders use smaller
/// windows.
const MAX_WINDOW_LOG: u32 = 23;

/// Compresses frames with reused memory.
pub(crate) struct Compressor {
    compressor: bulk::Compressor<'static>,
    frame: Vec<u8>,
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

impl Compressor {
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Compressor { compressor: bulk::Compressor::new(LEVEL)?, frame: Vec::new() })
    }

    /// Compresses a text to one frame.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub(crate) fn compress(&mut self, text: &[u8]) -> io::Result<&[u8]> {
        self.frame.clear();
        self.frame.reserve(compress_bound(text.len()));
        self.compressor.compress_to_buffer(text, &mut self.frame)?;
        Ok(&self.frame)
    }
}

/// Decompressed content of all frames.
pub(crate) struct Frames<R: BufRead> {
    decoder: Decoder<'static, R>,
    /// Whether the last frame is incomplete; its content is lost.
    is_truncated: bool,
}

impl<R: BufRead> Frames<R> {
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub(crate) fn new(source: R) -> io::Result<Self> {
        let mut decoder = Decoder::with_buffer(source)?;
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        Ok(Frames { decoder, is_truncated: false })
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_truncated {
            return Ok(0);
        }
        match self.decoder.read(buffer) {
            // The writer was stopped while it wrote.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.is_truncated = true;
                Ok(0)
            }
            result => result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_written() {
        let line = |number: u64| {
            let word = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            format!("{{\"at\":{number},\"pod\":{{\"name\":\"web-{number}\",\"uid\":\"{word:x}\"}}}}\n")
        };
        let texts = [(0..40_000).map(line).collect(), String::new(), "a".repeat(300_000), line(1)];
        let mut compressor = Compressor::new().unwrap();
        let mut frames = Vec::new();
        for text in &texts {
            frames.extend_from_slice(compressor.compress(text.as_bytes()).unwrap());
        }
        let mut read = String::new();
        Frames::new(frames.as_slice()).unwrap().read_to_string(&mut read).unwrap();
        assert!(read == texts.concat());
        assert!(frames.len() * 4 < read.len());
    }
}
