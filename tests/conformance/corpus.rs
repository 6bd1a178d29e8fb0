//! Files of the corpora.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use schedc::evaluation::Scenario;
use serde::Deserialize;
use serde_json::Value;

/// A scenario and its decisions.
#[derive(Deserialize)]
pub(crate) struct Entry {
    pub(crate) scenario: Scenario,
    pub(crate) expected: Vec<Value>,
}

/// Returns those scenarios of a family whose profile `wanted` accepts, with their decisions.
pub(crate) fn entries(family: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = Entry> {
    family_lines(family).filter_map(move |line| wanted(profile(&line)).then(|| serde_json::from_str(&line).unwrap()))
}

/// Returns the profile of each scenario of a family.
pub(crate) fn profiles(family: &str) -> impl Iterator<Item = String> + use<> {
    family_lines(family).map(|line| profile(&line).to_owned())
}

pub(crate) fn family_lines(family: &str) -> impl Iterator<Item = String> + use<> {
    lines(&format!("corpora/{family}.jsonl.gz"))
}

/// Returns the profile of a line. The profile is near the start of the line, so most of the line is not read.
fn profile(line: &str) -> &str {
    let named = line.split_once(r#""profile":""#).and_then(|(_, rest)| rest.split_once('"'));
    named.map_or("", |(name, _)| name)
}

/// Returns the lines of a compressed file in this folder.
pub(crate) fn lines(name: &str) -> impl Iterator<Item = String> + use<> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance").join(name);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = BufReader::new(MultiGzDecoder::new(BufReader::new(file))).lines();
    lines.map(|line| line.unwrap())
}
