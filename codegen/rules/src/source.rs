//! The texts that a compilation reads, and locations in them.

use std::ops::Range;
use std::{fmt, iter};

/// Id of a file in [`Files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(usize);

/// A byte range in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file that the range is in.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// A value and its source location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The location.
    pub span: Span,
}

/// A location as displayed: `path:line:column`, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'f> {
    /// The displayed path.
    pub path: &'f str,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Whole lines of a file.
pub(crate) struct Lines<'f> {
    pub(crate) text: &'f str,
    /// Number of the first line, from 1.
    pub(crate) number: usize,
    /// Offset of the first byte.
    pub(crate) start: usize,
}

/// All files of one compilation: profiles and catalogs.
#[derive(Clone, Debug, Default)]
pub struct Files {
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    path: String,
    text: String,
    /// Offset of the first byte of each line.
    line_starts: Vec<usize>,
}

impl Files {
    /// Adds a file. `path` is its displayed path.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        let line_starts = iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        self.files.push(File { path: path.into(), text, line_starts });
        FileId(self.files.len() - 1)
    }

    /// Returns the displayed path of a file.
    pub fn path(&self, file: FileId) -> &str {
        self.files.get(file.0).map_or("", |file| &file.path)
    }

    /// Returns the text of a file.
    pub fn text(&self, file: FileId) -> &str {
        self.files.get(file.0).map_or("", |file| &file.text)
    }

    /// Returns the text of a span.
    pub fn snippet(&self, span: Span) -> &str {
        self.text(span.file).get(span.start..span.end).unwrap_or("")
    }

    /// Returns the start of a span.
    pub fn location(&self, span: Span) -> Location<'_> {
        let text = self.text(span.file);
        let start = if text.is_char_boundary(span.start) { span.start } else { text.len() };
        let (line, line_start) = self.line_of(span.file, start);
        let before = text.get(line_start..start).unwrap_or_default();
        Location { path: self.path(span.file), line, column: 1 + before.chars().count() }
    }

    /// Returns the lines that contain a range of bytes: their text, the number of the first one, and its offset.
    pub(crate) fn lines(&self, file: FileId, range: Range<usize>) -> Lines<'_> {
        let text = self.text(file);
        let (number, start) = self.line_of(file, range.start);
        let rest = text.get(range.end..).unwrap_or_default();
        let end = rest.find('\n').map_or(text.len(), |newline| range.end + newline + 1);
        Lines { text: text.get(start..end).unwrap_or(text), number, start }
    }

    /// Returns the line number of an offset, from 1, and the offset of the line's first byte.
    fn line_of(&self, file: FileId, offset: usize) -> (usize, usize) {
        let line_starts = self.files.get(file.0).map_or(&[][..], |file| &file.line_starts);
        let number = line_starts.partition_point(|&start| start <= offset);
        let start = number.checked_sub(1).and_then(|index| line_starts.get(index));
        (number.max(1), start.copied().unwrap_or(0))
    }
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, needle: &str, line_and_column: (usize, usize)) {
        let mut files = Files::default();
        let file = files.add("profiles/a.toml", text);
        let start = text.find(needle).unwrap();
        let span = Span { file, start, end: start + needle.len() };
        let location = files.location(span);
        assert_eq!((location.line, location.column), line_and_column);
        assert_eq!(files.snippet(span), needle);
    }

    #[test]
    fn locations_count_lines_and_columns_from_one() {
        check("a = 1\nbc = 2\n", "a", (1, 1));
        check("a = 1\nbc = 2\n", "bc", (2, 1));
        check("a = 1\nbc = 2\n", "2", (2, 6));
        check("a = 1\r\nbc = 2\r\n", "2", (2, 6));
    }

    #[test]
    fn columns_are_characters() {
        check("größe = 1", "1", (1, 9));
    }

    #[test]
    fn a_location_is_displayed_as_path_line_and_column() {
        let mut files = Files::default();
        let file = files.add("profiles/edge.toml", "x = 1\ny = 2\n");
        assert_eq!(files.location(Span { file, start: 6, end: 7 }).to_string(), "profiles/edge.toml:2:1");
    }
}
