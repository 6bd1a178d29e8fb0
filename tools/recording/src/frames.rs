//! Concatenated frames of zstd as one stream.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// First bytes of a frame.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Maximum size of the window, and thus about the memory of a decoder. Recorders need less.
const MAX_WINDOW: u64 = 8 << 20;

/// Decompressed content of all frames.
pub(crate) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    is_open: bool,
    /// Whether the last frame is incomplete; its content is lost.
    is_cut: bool,
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        Frames { source, decoder, is_open: false, is_cut: false }
    }

    /// Decodes the next part of the content. Returns whether there is one.
    fn decode(&mut self, size: usize) -> io::Result<bool> {
        if !self.is_open || self.decoder.is_finished() {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            self.is_open = true;
            self.decoder.init(&mut self.source).map_err(io::Error::other)?;
        }
        let strategy = BlockDecodingStrategy::UptoBytes(size);
        self.decoder.decode_blocks(&mut self.source, strategy).map_err(io::Error::other)?;
        Ok(true)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = self.decoder.read(buffer)?;
            if read > 0 || self.is_cut {
                return Ok(read);
            }
            match self.decode(buffer.len()) {
                Ok(true) => {}
                Ok(false) => return Ok(0),
                // An error at the end of the file: the writer was stopped while it wrote.
                Err(_) if self.source.fill_buf()?.is_empty() => self.is_cut = true,
                Err(error) => return Err(error),
            }
        }
    }
}
