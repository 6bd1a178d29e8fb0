//! Reading of recordings, with the place of each line.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schedc_bounds::text::shortened;

use crate::entry::{Line, VERSION};
use crate::expansion::Expansion;
use crate::frames::{Frames, MAGIC};
use crate::raw::RawEntry;
use crate::writer;

/// Maximum number of bytes in a line: an object of an API server has at most 3 MiB.
const MAX_LINE: u64 = 16 << 20;

/// Place of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Arc<str>,
    /// Number of the line, from 1; 0 for the whole file.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// An error in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Place of the error.
    pub place: Place,
    /// The error.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for ReadError {}

/// The next part of a recording.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "almost every item is a line")]
pub enum Item {
    /// A line.
    Line(Line),
    /// A file ends without the line `end`: the recorder crashed, or still writes the file.
    Cut,
}

/// Reads the files of a recording one after the other, with one line in memory at a time.
pub struct Reader {
    files: std::vec::IntoIter<PathBuf>,
    open: Option<OpenFile>,
}

/// A line as it was written.
type RawLine = Line<RawEntry<'static>>;

#[allow(clippy::large_enum_variant, reason = "almost every item is a line")]
enum RawItem {
    Line(RawLine),
    Cut,
}

struct OpenFile {
    name: Arc<str>,
    content: BufReader<Content>,
    expansion: Expansion,
    /// Number of the last line.
    line: usize,
    /// Whether the file has ended, regularly or not.
    has_ended: bool,
}

/// Content of a file, which may be plain text.
enum Content {
    Plain(BufReader<File>),
    Compressed(Box<Frames<BufReader<File>>>),
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Content::Plain(file) => file.read(buffer),
            Content::Compressed(frames) => frames.read(buffer),
        }
    }
}

impl Reader {
    /// Finds the files of a recording. `paths` has the folder of a recorder, or single files in their order.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read, or has no recording.
    pub fn open(paths: &[PathBuf]) -> Result<Reader, ReadError> {
        let mut files = Vec::new();
        for path in paths {
            match path.is_dir() {
                false => files.push(path.clone()),
                true => {
                    let found =
                        writer::files(path).map_err(|error| file_error(path, format!("cannot be read: {error}")))?;
                    if found.is_empty() {
                        return Err(file_error(path, "is a folder without a recording".to_owned()));
                    }
                    files.extend(found.into_iter().map(|(_, file)| file));
                }
            }
        }
        Ok(Reader { files: files.into_iter(), open: None })
    }

    /// Returns the next line with its place; `None` at the end of the last file.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or the line is not valid. The reader cannot be used afterwards.
    pub fn next_line(&mut self) -> Result<Option<(Place, Item)>, ReadError> {
        loop {
            let Some(file) = &mut self.open else {
                let Some(path) = self.files.next() else { return Ok(None) };
                self.open = Some(OpenFile::open(&path)?);
                continue;
            };
            match file.next()? {
                Some(item) => return Ok(Some((file.place(), item))),
                None => self.open = None,
            }
        }
    }
}

impl OpenFile {
    fn open(path: &Path) -> Result<OpenFile, ReadError> {
        let failed = |error: io::Error| file_error(path, format!("cannot be read: {error}"));
        if !fs::metadata(path).map_err(failed)?.is_file() {
            return Err(file_error(path, "is not a regular file".to_owned()));
        }
        let mut file = BufReader::new(File::open(path).map_err(failed)?);
        let begin = file.fill_buf().map_err(failed)?;
        // A file that was cut may have fewer bytes than the magic number.
        let is_compressed = MAGIC.starts_with(&begin[..begin.len().min(MAGIC.len())]);
        let content = match is_compressed {
            true => Content::Compressed(Box::new(Frames::new(file).map_err(failed)?)),
            false => Content::Plain(file),
        };
        let name = path.display().to_string().into();
        Ok(OpenFile {
            name,
            content: BufReader::new(content),
            expansion: Expansion::default(),
            line: 0,
            has_ended: false,
        })
    }

    fn place(&self) -> Place {
        Place { file: self.name.clone(), line: self.line }
    }

    fn error(&self, message: String) -> ReadError {
        ReadError { place: self.place(), message }
    }

    /// Returns the next line, with whole objects; `None` after the end.
    fn next(&mut self) -> Result<Option<Item>, ReadError> {
        loop {
            if let Some(line) = self.expansion.next_line() {
                return Ok(Some(Item::Line(line)));
            }
            match self.next_raw()? {
                Some(RawItem::Line(line)) => self.expansion.add(line).map_err(|message| self.error(message))?,
                Some(RawItem::Cut) => return Ok(Some(Item::Cut)),
                None => return Ok(None),
            }
        }
    }

    /// Returns the next line as it was written; `None` after the end.
    fn next_raw(&mut self) -> Result<Option<RawItem>, ReadError> {
        let mut text = Vec::new();
        self.line += 1;
        let read = (&mut self.content).take(MAX_LINE + 1).read_until(b'\n', &mut text);
        read.map_err(|error| self.error(format!("the content is damaged: {error}")))?;
        if text.len() as u64 > MAX_LINE {
            return Err(self.error(format!("the line is longer than {} MiB", MAX_LINE >> 20)));
        }
        if text.is_empty() && self.has_ended {
            return Ok(None);
        }
        if text.last() != Some(&b'\n') && !self.has_ended {
            // The writer was stopped: a line without an end is lost.
            self.has_ended = true;
            return Ok(Some(RawItem::Cut));
        }
        if self.has_ended {
            return Err(self.error("there is a line after the end".to_owned()));
        }
        let line = self.parse(text.trim_ascii())?;
        self.has_ended = matches!(line.entry, RawEntry::End(_));
        Ok(Some(RawItem::Line(line)))
    }

    fn parse(&self, text: &[u8]) -> Result<RawLine, ReadError> {
        let line: Result<RawLine, _> = serde_json::from_slice(text);
        let line = line.map_err(|error| {
            let message = error.to_string();
            self.error(format!("this is not a line of a recording: {}", shortened(&message, 400)))
        })?;
        match (&line.entry, self.line) {
            (RawEntry::Recording(header), 1) if (1..=VERSION).contains(&header.version) => Ok(line),
            (RawEntry::Recording(header), 1) => {
                let version = header.version;
                Err(self.error(format!(
                    "the recording has version {version} of the format; this program reads 1 to {VERSION}"
                )))
            }
            (RawEntry::Recording(_), _) => Err(self.error("a header must be the first line of a file".to_owned())),
            (_, 1) => Err(self.error("the header is missing: this is not a recording".to_owned())),
            _ => Ok(line),
        }
    }
}

fn file_error(path: &Path, message: String) -> ReadError {
    ReadError { place: Place { file: path.display().to_string().into(), line: 0 }, message }
}
