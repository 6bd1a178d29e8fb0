//! Input line by line, plain or compressed.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// First bytes of gzip files.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Lines of a file or of standard input, with one line in memory at a time.
pub(crate) struct Lines {
    name: String,
    number: usize,
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    /// Maximum number of bytes in a line.
    limit: usize,
}

/// Maximum number of bytes in a line: three times the size of a scenario with 15,000 nodes from a real cluster.
const MAX_LINE_BYTES: usize = 256 << 20;

/// An error: a line exceeds this number of bytes.
#[derive(Clone, Copy)]
pub(crate) struct TooLong(usize);

/// A line with its location.
pub(crate) struct Line<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) text: Result<&'a [u8], TooLong>,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the line is longer than {} MiB; write each scenario on a separate line", self.0 >> 20)
    }
}

/// The location of a line.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    file: &'a str,
    line: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Lines {
    /// Opens a file or, for `-`, standard input. Detects gzip by the first bytes, not by the file name.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let (name, input): (_, Box<dyn Read>) = match path == Path::new("-") {
            true => ("standard input".to_owned(), Box::new(io::stdin())),
            false => (path.display().to_string(), Box::new(File::open(path)?)),
        };
        Lines::of(name, input, MAX_LINE_BYTES)
    }

    fn of(name: String, input: Box<dyn Read>, limit: usize) -> io::Result<Self> {
        let (mut input, mut first_bytes) = (BufReader::new(input), Vec::new());
        input.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut first_bytes)?;
        let is_compressed = first_bytes == GZIP_MAGIC;
        let input = io::Cursor::new(first_bytes).chain(input);
        let reader: Box<dyn BufRead> = match is_compressed {
            true => Box::new(BufReader::new(MultiGzDecoder::new(input))),
            false => Box::new(input),
        };
        Ok(Lines { name, number: 0, reader, line: Vec::new(), limit })
    }

    /// Returns the next line that is not blank, trimmed; `None` at the end. A line above the limit is skipped and
    /// reported.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.line.clear();
            self.number += 1;
            let limit = u64::try_from(self.limit).unwrap_or(u64::MAX).saturating_add(1);
            if self.reader.by_ref().take(limit).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            let place = Place { file: &self.name, line: self.number };
            if self.line.len() > self.limit && self.line.last() != Some(&b'\n') {
                self.line = Vec::new();
                skip_line(&mut self.reader)?;
                return Ok(Some(Line { place, text: Err(TooLong(self.limit)) }));
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(Line { place, text: Ok(self.line.trim_ascii()) }));
            }
        }
    }
}

/// Reads to the end of a line and discards it.
fn skip_line(reader: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = reader.fill_buf()?;
        let (length, end) = match buffer.iter().position(|&byte| byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        reader.consume(length);
        if end {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// Returns the number and the length of each line, or the limit instead of the length for lines that exceed it.
    fn lengths(content: &[u8]) -> Vec<(usize, Result<usize, usize>)> {
        let mut lines = Lines::of("a".to_owned(), Box::new(io::Cursor::new(content.to_vec())), 10).unwrap();
        let mut lengths = Vec::new();
        while let Some(Line { place, text }) = lines.next().unwrap() {
            lengths.push((place.line, text.map(<[u8]>::len).map_err(|TooLong(limit)| limit)));
        }
        lengths
    }

    #[test]
    fn lines_that_are_too_long_are_skipped() {
        let long = "x".repeat(1_000_000);
        let text = format!("{{}}\n\n{long}\n0123456789\n0123456789\r\n {long}");
        let expected = [(1, Ok(2)), (3, Err(10)), (4, Ok(10)), (5, Err(10)), (6, Err(10))];
        assert_eq!(lengths(text.as_bytes()), expected);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        assert_eq!(lengths(&encoder.finish().unwrap()), expected);
    }
}
