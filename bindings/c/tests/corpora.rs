//! The corpora of kube-scheduler's decisions, with the lines of `evaluate` for them.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flate2::read::MultiGzDecoder;
use schedc_api::{Evaluator, Profiles};

use crate::c_program::root;

/// Files with the scenarios of all corpora, one per line.
pub(crate) struct Corpora {
    /// The scenarios.
    pub(crate) scenarios: PathBuf,
    /// The scenarios, compressed: the gzip members of all files, one after the other.
    pub(crate) compressed: PathBuf,
    /// The lines that `evaluate` writes.
    pub(crate) expected: PathBuf,
}

/// Returns all corpora; without slow tests, only a small one. They are written once for all languages.
///
/// `conformance::library` in the tests of the root package compares the lines with those of `schedc evaluate`.
pub(crate) fn corpora() -> &'static Corpora {
    static CORPORA: OnceLock<Corpora> = OnceLock::new();
    CORPORA.get_or_init(|| {
        let files = if slow_tests::is_enabled() { all() } else { vec![folder().join("taints.jsonl.gz")] };
        write("corpora", &files)
    })
}

/// Returns the profiles of the corpora.
pub(crate) fn profiles() -> Vec<PathBuf> {
    files(&root().join("tools/import/tests/profiles"), ".toml")
}

fn folder() -> PathBuf {
    root().join("tests/conformance/corpora")
}

fn all() -> Vec<PathBuf> {
    let corpora = files(&folder(), ".jsonl.gz");
    assert!(corpora.len() >= 15, "{corpora:?}");
    corpora
}

/// Returns the files of a folder with this end of their names, sorted.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_str().unwrap().ends_with(end));
    files.sort();
    files
}

fn write(name: &str, files: &[PathBuf]) -> Corpora {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [scenarios, compressed, expected] =
        ["jsonl", "jsonl.gz", "expected.jsonl"].map(|end| temporary.join(format!("{name}.{end}")));
    let mut evaluator = Evaluator::new(&Profiles::read(&profiles()).unwrap()).unwrap();
    let (mut lines, mut answers) = (String::new(), String::new());
    for line in files.iter().flat_map(|file| BufReader::new(MultiGzDecoder::new(File::open(file).unwrap())).lines()) {
        let line = line.unwrap();
        answers += &evaluator.evaluate(line.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        answers.push('\n');
        lines += &line;
        lines.push('\n');
    }
    fs::write(&scenarios, lines).unwrap();
    fs::write(&expected, answers).unwrap();
    fs::write(&compressed, files.iter().flat_map(|file| fs::read(file).unwrap()).collect::<Vec<u8>>()).unwrap();
    Corpora { scenarios, compressed, expected }
}
