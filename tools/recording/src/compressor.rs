//! Compression of frames.

use std::io::Cursor;
use std::{fmt, mem};

use ruzstd::encoding::{CompressionLevel, FrameCompressor, Matcher, Sequence};

/// Compresses frames with reused memory.
pub(crate) struct Compressor {
    compressor: FrameCompressor<Cursor<Vec<u8>>, Vec<u8>, FastMatcher>,
    frame: Vec<u8>,
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

impl Compressor {
    pub(crate) fn new() -> Self {
        let compressor = FrameCompressor::new_with_matcher(FastMatcher::default(), CompressionLevel::Fastest);
        Compressor { compressor, frame: Vec::new() }
    }

    /// Returns the frame of a text, which is then empty.
    pub(crate) fn compress(&mut self, text: &mut Vec<u8>) -> &[u8] {
        self.frame.clear();
        self.compressor.set_source(Cursor::new(mem::take(text)));
        self.compressor.set_drain(mem::take(&mut self.frame));
        self.compressor.compress();
        *text = self.compressor.take_source().map(Cursor::into_inner).unwrap_or_default();
        text.clear();
        self.frame = self.compressor.take_drain().unwrap_or_default();
        &self.frame
    }
}

/// Maximum size of a block.
const BLOCK: usize = 128 << 10;
/// Maximum distance of a match.
const WINDOW: usize = 512 << 10;
const SLOTS_LOG: u32 = 14;
/// Number of equal bytes that are a match.
const MIN_MATCH: usize = 6;

/// A greedy search for the latest occurrence of the next bytes, for text with many repetitions.
#[derive(Default)]
struct FastMatcher {
    /// Text up to the end of the current block.
    window: Vec<u8>,
    /// Start of the current block.
    block: usize,
    /// Latest position of bytes with a hash. It may be that of an earlier text.
    positions: Vec<u32>,
    /// Memory of the next block.
    space: Vec<u8>,
}

impl Matcher for FastMatcher {
    fn get_next_space(&mut self) -> Vec<u8> {
        let mut space = mem::take(&mut self.space);
        space.resize(BLOCK, 0);
        space
    }

    fn get_last_space(&mut self) -> &[u8] {
        &self.window[self.block..]
    }

    fn commit_space(&mut self, space: Vec<u8>) {
        if self.window.len() + space.len() > WINDOW {
            self.window.clear();
        }
        self.block = self.window.len();
        self.window.extend_from_slice(&space);
        self.space = space;
    }

    fn skip_matching(&mut self) {}

    fn start_matching(&mut self, mut handle: impl for<'a> FnMut(Sequence<'a>)) {
        let text = &self.window;
        // The encoder panics if no match follows a literal, or if all literals are equal. Therefore a block begins with
        // two different literals.
        let block = &text[self.block..];
        let equal = block.iter().take_while(|byte| Some(*byte) == block.first()).count();
        let (mut at, mut literals) = (self.block + equal + 1, self.block);
        while let Some(next) = word(text, at) {
            let position = &mut self.positions[hash(next)];
            let candidate = mem::replace(position, at as u32) as usize;
            let is_match = candidate < at && word(text, candidate).is_some_and(|word| (word ^ next) << 16 == 0);
            if !is_match {
                // Text without matches is skipped faster and faster.
                at += 1 + (at - literals) / 64;
                continue;
            }
            let match_len = MIN_MATCH + equal_len(&text[candidate + MIN_MATCH..], &text[at + MIN_MATCH..]);
            handle(Sequence::Triple { literals: &text[literals..at], offset: at - candidate, match_len });
            at += match_len;
            literals = at;
        }
        if literals < text.len() {
            handle(Sequence::Literals { literals: &text[literals..] });
        }
    }

    fn reset(&mut self, _: CompressionLevel) {
        self.window.clear();
        self.positions.resize(1 << SLOTS_LOG, 0);
    }

    fn window_size(&self) -> u64 {
        WINDOW as u64
    }
}

fn word(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Hashes the first bytes of a word.
fn hash(word: u64) -> usize {
    ((word << 16).wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - SLOTS_LOG)) as usize
}

/// Returns the number of equal bytes at the beginning.
fn equal_len(first: &[u8], second: &[u8]) -> usize {
    let words = first.chunks_exact(8).zip(second.chunks_exact(8)).take_while(|(first, second)| first == second);
    let equal = words.count() * 8;
    let rest = first[equal..].iter().zip(&second[equal..]).take(8).take_while(|(first, second)| first == second);
    equal + rest.count()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;
    use crate::frames::Frames;

    fn round_trip(compressor: &mut Compressor, text: &[u8]) -> Vec<u8> {
        let frame = compressor.compress(&mut text.to_vec()).to_vec();
        let mut read = Vec::new();
        Frames::new(frame.as_slice()).read_to_end(&mut read).unwrap();
        read
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

        #[test]
        fn frames_return_as_written(
            texts in prop::collection::vec((prop::collection::vec("[a-c]{0,9}|\\PC{0,30}", 1..20), 0..300_000usize), 1..3),
        ) {
            let mut compressor = Compressor::new();
            for (parts, len) in texts {
                let text: Vec<u8> = parts.concat().bytes().chain(*b"{}\n").cycle().take(len).collect();
                prop_assert!(round_trip(&mut compressor, &text) == text);
            }
        }
    }

    #[test]
    fn a_block_that_repeats_the_previous_one_returns_as_written() {
        let line = b"{\"at\":1764090002310,\"pod\":{\"name\":\"web-1\"}}\n";
        for len in BLOCK - 9..BLOCK + 300 {
            let text: Vec<u8> = line.iter().copied().cycle().take(len).collect();
            assert!(round_trip(&mut Compressor::new(), &text) == text, "{len}");
        }
    }

    #[test]
    fn lines_of_several_windows_return_as_written() {
        let line = |number: u64| {
            let word = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            format!("{{\"at\":{number},\"pod\":{{\"name\":\"web-{number}\",\"uid\":\"{word:x}\"}}}}\n")
        };
        let text: String = (0..40_000).map(line).collect();
        assert!(text.len() > 4 * WINDOW);
        assert!(round_trip(&mut Compressor::new(), text.as_bytes()) == text.as_bytes());
    }
}
