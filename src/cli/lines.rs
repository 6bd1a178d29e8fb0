//! Input line by line, compressed or not.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// What gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The lines of a file or of standard input, one in memory at a time.
pub(crate) struct Lines {
    name: String,
    number: usize,
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
}

/// Where a line is.
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
    /// Opens a file or, for `-`, standard input. What is compressed by gzip is known by how it begins, not by its name.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let (name, input): (_, Box<dyn Read>) = match path == Path::new("-") {
            true => ("standard input".to_owned(), Box::new(io::stdin())),
            false => (path.display().to_string(), Box::new(File::open(path)?)),
        };
        let (mut input, mut begin) = (BufReader::new(input), Vec::new());
        input.by_ref().take(GZIP.len() as u64).read_to_end(&mut begin)?;
        let is_compressed = begin == GZIP;
        let input = io::Cursor::new(begin).chain(input);
        let reader: Box<dyn BufRead> = match is_compressed {
            true => Box::new(BufReader::new(MultiGzDecoder::new(input))),
            false => Box::new(input),
        };
        Ok(Lines { name, number: 0, reader, line: Vec::new() })
    }

    /// The next line that is not blank, without space around it; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Place<'_>, &[u8])>> {
        loop {
            self.line.clear();
            self.number += 1;
            if self.reader.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some((Place { file: &self.name, line: self.number }, self.line.trim_ascii())));
            }
        }
    }
}
