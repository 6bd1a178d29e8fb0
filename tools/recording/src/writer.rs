//! Writing of recordings: files of bounded size in a folder.
//!
//! Each file is a sequence of zstd frames, and each frame has whole lines. A frame is written with one call.
//! Therefore a recorder that is killed loses at most the lines that it has not written, and the tail of a frame that
//! the system did not finish. Files are never appended to: a restarted recorder begins a new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::entry::{Begin, End, Entry, Header, Line, VERSION};
use crate::frames::Compressor;
use crate::lines::write_line;

/// Number of bytes of text at which a frame is written.
const FRAME_SIZE: usize = 256 << 10;

/// Limits of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of compressed bytes in a file after its snapshot, at which the next file begins.
    pub file_size: u64,
    /// Maximum number of files; the oldest ones are removed.
    pub files: usize,
}

/// Writes lines to the files of a folder.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    limits: Limits,
    number: u64,
    file: File,
    /// Lines of the next frame.
    buffer: Vec<u8>,
    compressor: Compressor,
    /// Number of compressed bytes since the snapshot.
    size: u64,
}

impl Writer {
    /// Begins the next file of a folder, which is created if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the folder or the file cannot be written.
    pub fn start(folder: &Path, limits: Limits, at: i64) -> io::Result<Writer> {
        fs::create_dir_all(folder)?;
        let number = files(folder)?.last().map_or(1, |(number, _)| number + 1);
        let file = create(folder, number)?;
        let (buffer, compressor) = (Vec::new(), Compressor::new()?);
        let mut writer = Writer { folder: folder.to_owned(), limits, number, file, buffer, compressor, size: 0 };
        writer.header(at, Begin::Start)?;
        Ok(writer)
    }

    /// Adds lines.
    ///
    /// # Errors
    /// Returns an error if a frame cannot be written.
    pub fn write(&mut self, lines: impl IntoIterator<Item = Line<impl Serialize>>) -> io::Result<()> {
        lines.into_iter().try_for_each(|line| {
            write_line(&mut self.buffer, &line)?;
            self.flush_frame()
        })
    }

    /// Moves formatted lines to the next frame.
    pub(crate) fn append(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        self.buffer.append(lines);
        self.flush_frame()
    }

    fn flush_frame(&mut self) -> io::Result<()> {
        if self.buffer.len() >= FRAME_SIZE { self.flush() } else { Ok(()) }
    }

    /// Writes all lines so far.
    ///
    /// # Errors
    /// Returns an error if the frame cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let frame = self.compressor.compress(&self.buffer)?;
        self.buffer.clear();
        self.size += frame.len() as u64;
        self.file.write_all(frame)
    }

    /// Returns whether there are lines for [`Writer::flush`].
    pub fn has_unwritten_lines(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Records that the snapshot of this file is complete: the file can now become full.
    pub fn snapshot_written(&mut self) {
        self.size = 0;
    }

    /// Returns whether the file is full.
    pub fn is_full(&self) -> bool {
        self.size >= self.limits.file_size
    }

    /// Ends the file, and begins the next one with a snapshot, which `snapshot` writes. Removes files above the limit.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn rotate(&mut self, at: i64, snapshot: impl FnOnce(&mut Writer) -> io::Result<()>) -> io::Result<()> {
        self.end(at, End::Rotation)?;
        self.number += 1;
        self.file = create(&self.folder, self.number)?;
        self.header(at, Begin::Rotation)?;
        snapshot(self)?;
        self.flush()?;
        self.snapshot_written();
        let files = files(&self.folder)?;
        let surplus = files.len().saturating_sub(self.limits.files.max(1));
        files.iter().take(surplus).try_for_each(|(_, file)| fs::remove_file(file))
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// Returns an error if the last lines cannot be written.
    pub fn stop(mut self, at: i64) -> io::Result<()> {
        self.end(at, End::Stop)
    }

    fn header(&mut self, at: i64, begin: Begin) -> io::Result<()> {
        let schedc = env!("CARGO_PKG_VERSION").to_owned();
        let header = Entry::Recording(Header { version: VERSION, begin, schedc });
        self.write([Line::new(at, header)])
    }

    fn end(&mut self, at: i64, end: End) -> io::Result<()> {
        self.write([Line::new(at, Entry::End(end))])?;
        self.flush()?;
        self.file.sync_all()
    }
}

fn create(folder: &Path, number: u64) -> io::Result<File> {
    File::options().write(true).create_new(true).open(folder.join(format!("recording-{number:06}.jsonl.zst")))
}

/// Returns the files of a recording with their numbers, in order.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix("recording-").and_then(|rest| rest.strip_suffix(".jsonl.zst"));
        if let Some(number) = number.and_then(|number| number.parse().ok()) {
            files.push((number, path));
        }
    }
    files.sort_unstable();
    Ok(files)
}
