//! Texts of manifests. They provide the lines for errors that are found after reading, when all objects are known.

use std::collections::HashMap;
use std::sync::Arc;

use super::lines::Lines;
use super::{Problem, document, yaml};

/// The texts that were read, up to a total size.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SourceTexts {
    texts: Vec<(Arc<str>, Arc<str>)>,
    bytes: usize,
}

/// Maximum size of all texts. Errors in further texts have the line of their object.
const MAX_BYTES: usize = 4 << 20;

impl SourceTexts {
    /// Adds the text of a file, if there is room for it.
    pub(super) fn add(&mut self, file: &Arc<str>, text: &str) {
        if self.bytes.saturating_add(text.len()) <= MAX_BYTES {
            self.bytes += text.len();
            self.texts.push((file.clone(), text.into()));
        }
    }

    /// Replaces the lines of the problems' objects with the lines of the wrong fields, if the texts have these fields.
    pub(crate) fn set_lines(&self, problems: &mut [Problem]) {
        let mut files: HashMap<Arc<str>, Vec<yaml::Chunk<'_>>> = HashMap::new();
        let mut documents: HashMap<(Arc<str>, u32), Option<Lines>> = HashMap::new();
        for problem in problems {
            let Some(path) = problem.path() else { continue };
            let place = &mut problem.place;
            let chunks = files.entry(place.file.clone()).or_insert_with(|| self.chunks(&place.file));
            let key = (place.file.clone(), place.line);
            let lines = documents.entry(key).or_insert_with(|| lines_at(chunks, place.line));
            place.line = lines.as_ref().and_then(|lines| lines.find(0, &path)).unwrap_or(place.line);
        }
    }

    fn chunks(&self, file: &Arc<str>) -> Vec<yaml::Chunk<'_>> {
        let text = self.texts.iter().find(|(name, _)| name == file);
        text.map_or_else(Vec::new, |(name, text)| document::chunks(name, text))
    }
}

/// Returns the lines of the document that begins on this line. `None`: no document or several documents begin there.
fn lines_at(chunks: &[yaml::Chunk<'_>], line: u32) -> Option<Lines> {
    let mut chunks_at_line = chunks.iter().filter(|chunk| chunk.line == line);
    let chunk = chunks_at_line.next().filter(|_| chunks_at_line.next().is_none())?;
    Some(Lines::of(chunk)).filter(|lines| lines.documents() == 1)
}
