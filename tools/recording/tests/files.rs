//! Recordings in files: limits, cut files and damaged ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use schedc_recording::entry::{Entry, Line};
use schedc_recording::reader::{Item, Place};
use schedc_recording::{Limits, ReadError, Reader, Reference, Writer};

/// A folder that is removed at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("recording-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(&self.0).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const LIMITS: Limits = Limits { file_size: 1 << 20, files: 3 };

fn line(at: i64) -> Line {
    let reference = Reference { kind: "Node".into(), namespace: String::new(), name: format!("n{at}") };
    Line::new(at, Entry::Delete(reference))
}

fn read(path: &Path) -> Result<Vec<Item>, ReadError> {
    let mut reader = Reader::open(&[path.to_owned()])?;
    let mut items = Vec::new();
    while let Some((_, item)) = reader.next_line()? {
        items.push(item);
    }
    Ok(items)
}

/// Writes a recording with several frames. Returns the bytes of its file.
fn recording() -> Vec<u8> {
    recording_with_sizes().0
}

/// Writes a recording. Returns the bytes of its file, and its size after each line. The first size includes the header.
fn recording_with_sizes() -> (Vec<u8>, Vec<usize>) {
    let folder = Folder::new();
    let mut writer = Writer::start(&folder.0, LIMITS, 0).unwrap();
    let content = || fs::read(&folder.files()[0]).unwrap();
    let mut sizes = Vec::new();
    for at in 0..20 {
        writer.write([line(at)]).unwrap();
        writer.flush().unwrap();
        sizes.push(content().len());
    }
    writer.stop(20).unwrap();
    (content(), sizes)
}

#[test]
fn lines_are_read_as_written() {
    let folder = Folder::new();
    let mut writer = Writer::start(&folder.0, LIMITS, 7).unwrap();
    writer.write((0..10_000).map(line)).unwrap();
    writer.stop(8).unwrap();
    let items = read(&folder.0).unwrap();
    assert_eq!(items.len(), 10_002);
    assert!(items[1..10_001].iter().zip(0..).all(|(item, at)| *item == Item::Line(line(at))));
}

#[test]
fn old_files_are_removed_and_each_file_begins_with_a_snapshot() {
    let folder = Folder::new();
    let limits = Limits { file_size: 1, files: 3 };
    let mut writer = Writer::start(&folder.0, limits, 0).unwrap();
    for at in 1..=10 {
        writer.write([line(at)]).unwrap();
        writer.flush().unwrap();
        assert!(writer.is_full());
        writer.rotate(at, |writer| writer.write([line(100)])).unwrap();
        assert!(!writer.is_full(), "a snapshot of any size fits");
    }
    writer.stop(11).unwrap();
    let files = folder.files();
    assert_eq!(files.len(), 3);
    for file in files {
        assert_eq!(read(&file).unwrap()[1], Item::Line(line(100)));
    }
}

#[test]
fn a_restarted_recorder_begins_a_new_file() {
    let folder = Folder::new();
    drop(Writer::start(&folder.0, LIMITS, 0).unwrap());
    Writer::start(&folder.0, LIMITS, 1).unwrap().stop(2).unwrap();
    let items = read(&folder.0).unwrap();
    assert!(matches!(items.as_slice(), [Item::Cut, Item::Line(_), Item::Line(_)]), "{items:?}");
}

#[test]
fn a_cut_recording_loses_only_its_tail() {
    let folder = Folder::new();
    let (whole, sizes) = recording_with_sizes();
    let file = folder.0.join("cut.zst");
    let mut max_lines = 0;
    for length in 0..whole.len() {
        fs::write(&file, &whole[..length]).unwrap();
        let items = read(&file).unwrap();
        assert_eq!(items.last(), Some(&Item::Cut), "{length}");
        let lines = items.len() - 1;
        assert!(lines >= max_lines, "more bytes, more lines");
        let flushed = sizes.iter().filter(|size| **size <= length).count();
        assert!(lines > flushed || flushed == 0, "{length}: a flushed line is lost");
        max_lines = lines;
        assert!(
            items.iter().skip(1).zip(0..).all(|(item, at)| matches!(item, Item::Cut) || *item == Item::Line(line(at)))
        );
    }
    assert_eq!(max_lines, 21, "all lines but the end");
}

#[test]
fn errors_name_their_line() {
    let folder = Folder::new();
    let file = folder.0.join("r");
    let header = "{\"at\":0,\"recording\":{\"version\":1,\"begin\":\"start\",\"schedc\":\"0\"}}\n";
    let error = |text: &str| {
        fs::write(&file, text).unwrap();
        let ReadError { place: Place { line, .. }, message } = read(&file).unwrap_err();
        (line, message)
    };
    assert_eq!(error("{}\n").0, 1);
    assert_eq!(error("{\"at\":0,\"end\":\"stop\"}\n"), (1, "the header is missing: this is not a recording".into()));
    let newer = header.replace("\"version\":1", "\"version\":3");
    assert_eq!(error(&newer), (1, "the recording has version 3 of the format; this program reads 1 to 2".into()));
    assert_eq!(error(&format!("{header}{header}")), (2, "a header must be the first line of a file".into()));
    assert_eq!(error(&format!("{header}{{\"at\":0,\"end\":\"stop\"}}\n{{}}\n")).0, 3);
    assert_eq!(error(&format!("{header}\n")).0, 2);
    let pod = |line: &str| error(&format!("{header}{{\"at\":0,\"template\":{{\"number\":0,\"pod\":{{}}}}}}\n{line}\n"));
    let missing = pod(r#"{"at":0,"pod":{"template":1,"namespace":"d","name":"p"}}"#);
    assert_eq!(missing, (3, "the file has no template 1 before this line".into()));
    let unknown = pod(r#"{"at":0,"pod":{"namespace":"d","name":"p","node":"n"}}"#);
    assert_eq!(unknown, (3, "the first line of the pod d/p has no `template`".into()));
    let decided = |fields: &str| pod(&format!(r#"{{"at":0,"pod":{{"template":0,"name":"p",{fields}}}}}"#)).1;
    assert_eq!(decided(r#""decision":"bind""#), "the pod has a decision `bind` and no `node`");
    let message = "the pod has a decision `reject` and no message in its status";
    assert_eq!(decided(r#""decision":"reject","node":"n","status":{"conditions":[7]}"#), message);
    let invalid = pod(r#"{"at":0,"template":{"number":1,"pod":7}}"#);
    assert_eq!(invalid, (3, "template 1 is not an object".into()));
    assert_eq!(read(&folder.0).unwrap_err().message, "is a folder without a recording");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn damaged_recordings_are_readable_or_errors_with_a_line(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), length in any::<prop::sample::Index>(),
    ) {
        let folder = Folder::new();
        let mut bytes = recording();
        let index = at.index(bytes.len());
        bytes[index] = byte;
        bytes.truncate(length.index(bytes.len()) + 1);
        let file = folder.0.join("r.zst");
        fs::write(&file, &bytes).unwrap();
        if let Err(error) = read(&file) {
            prop_assert!(error.place.line > 0, "{error}");
        }
    }

    #[test]
    fn any_text_is_readable_or_an_error_with_a_line(text in "\\PC{0,80}(\n\\PC{0,80}){0,3}") {
        let folder = Folder::new();
        let file = folder.0.join("r");
        fs::write(&file, &text).unwrap();
        if let Err(error) = read(&file) {
            prop_assert!(error.place.line > 0, "{error}");
        }
    }
}
