//! Line numbers of the fields of a document.

use std::collections::BTreeMap;

use schedc_kinds::{join, join_item};
use serde::Deserialize;

use super::tree::Tree;
use super::yaml;

/// The line of each field and item of the documents of a chunk, by path.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<BTreeMap<String, u32>>);

impl Lines {
    /// Finds the lines of a text in YAML or JSON. If JSON is not valid YAML, no line is known.
    pub(super) fn of(chunk: &yaml::Chunk<'_>) -> Lines {
        let documents: Vec<Document> = yaml::parse(chunk).unwrap_or_default();
        let lines = |document: &Document| {
            let mut lines = BTreeMap::new();
            document.collect("", chunk, &mut lines);
            lines
        };
        Lines(documents.iter().map(lines).collect())
    }

    pub(super) fn documents(&self) -> usize {
        self.0.len()
    }

    /// Returns the line of a field in one of the documents. For a missing field, returns the line of its innermost
    /// parent that exists.
    pub(super) fn find(&self, document: usize, path: &str) -> Option<u32> {
        let (lines, path) = (self.0.get(document)?, plain(path));
        let mut parents = std::iter::successors(Some(&*path), |path| path.rsplit_once('.').map(|(parent, _)| parent));
        parents.find_map(|path| lines.get(path)).copied()
    }
}

/// Replaces brackets with dots. Messages have the keys of maps in brackets, but in a document they look like fields.
fn plain(path: &str) -> String {
    path.replace('[', ".").replace(']', "")
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Document(Tree<Document, Document>);

impl Document {
    fn collect(&self, path: &str, chunk: &yaml::Chunk<'_>, lines: &mut BTreeMap<String, u32>) {
        let mut add = |path: String, location, value: &Document| {
            if let Some(line) = chunk.line_of(location) {
                lines.insert(plain(&path), line);
            }
            value.collect(&path, chunk, lines);
        };
        match &self.0 {
            Tree::Map(fields) => {
                fields.iter().for_each(|(name, value)| add(join(path, &name.value), name.referenced, value));
            }
            Tree::List(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(at, item)| add(join_item(path, at), item.referenced, &item.value));
            }
            Tree::Nothing | Tree::Scalar => {}
        }
    }
}
