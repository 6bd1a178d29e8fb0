//! Files with entries that are not manifests. The caller defines the fields of entries.
//!
//! The syntax is that of manifests: YAML with any number of documents, or JSON with any number of values, for example
//! one on each line. Each document or value is an entry, or a list of entries.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;

use super::tree::Tree;
use super::{Error, Problem, SourceLocation, UniqueKeys, files, yaml};

/// An entry of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Location of the entry.
    pub place: SourceLocation,
    /// Its fields, in the order of the file. No name occurs twice.
    pub fields: Vec<Field>,
}

/// A field of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name of the field.
    pub name: String,
    /// Location of the field. In JSON, that of its entry.
    pub place: SourceLocation,
    /// Value of the field.
    pub value: Value,
}

/// Reads the entries of a file or, for `-`, of standard input.
///
/// # Errors
/// Returns all problems: unreadable files, syntax errors, and entries without fields.
pub fn read(path: &Path) -> Result<Vec<Entry>, Error> {
    match files::text(path) {
        Ok((name, text)) => parse(&name, &text),
        Err(problem) => Err(Error { problems: vec![problem] }),
    }
}

/// Reads the entries of a text. Errors use `name` as its name.
///
/// # Errors
/// Returns the same errors as [`read`].
pub fn parse(name: &str, text: &str) -> Result<Vec<Entry>, Error> {
    let mut reading = Reading { file: name.into(), entries: Vec::new(), problems: Vec::new() };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let named_json = name.ends_with(".json") || name.ends_with(".jsonl");
    match (named_json || text.trim_start().starts_with(['{', '['])).then(|| json(text)) {
        Some(Ok(values)) => values.into_iter().for_each(|(line, value)| reading.json_entry(line, value)),
        // A text that begins like JSON may still be YAML.
        Some(Err((line, message))) if named_json || !yaml::all_parse(text) => {
            reading.report(line, format!("is not JSON: {message}"));
        }
        _ => yaml::chunks(text).iter().for_each(|chunk| reading.yaml(chunk)),
    }
    Error::error_if_any(reading.problems)?;
    Ok(reading.entries)
}

/// Collector of entries and problems.
struct Reading {
    file: Arc<str>,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
}

impl Reading {
    fn place(&self, line: u32) -> SourceLocation {
        SourceLocation { file: self.file.clone(), line, item: None }
    }

    fn report(&mut self, line: u32, message: impl Into<String>) {
        self.problems.push(Problem { place: self.place(line), object: None, field: None, message: message.into() });
    }

    fn yaml(&mut self, chunk: &yaml::Chunk<'_>) {
        let documents = match yaml::parse::<Spanned<Content>>(chunk) {
            Ok(documents) => documents,
            Err((line, message)) => return self.report(line, format!("is not YAML: {message}")),
        };
        for document in documents {
            match document.value.0 {
                Tree::List(items) => items.into_iter().for_each(|item| self.yaml_entry(chunk, item)),
                _ => self.yaml_entry(chunk, document),
            }
        }
    }

    fn yaml_entry(&mut self, chunk: &yaml::Chunk<'_>, entry: Spanned<Content>) {
        let line = chunk.line_of(entry.referenced).unwrap_or(chunk.line);
        match entry.value.0 {
            Tree::Map(fields) => {
                let fields = fields.into_iter().map(|(name, value)| {
                    let line = chunk.line_of(name.referenced).unwrap_or(line);
                    Field { name: name.value, place: self.place(line), value }
                });
                let fields = fields.collect();
                self.entries.push(Entry { place: self.place(line), fields });
            }
            Tree::Nothing => {}
            Tree::List(_) | Tree::Scalar => self.report(line, NOT_AN_ENTRY),
        }
    }

    fn json_entry(&mut self, line: u32, value: Value) {
        let place = self.place(line);
        match value {
            Value::Object(fields) => {
                let field = |(name, value)| Field { name, place: place.clone(), value };
                let fields = fields.into_iter().map(field).collect();
                self.entries.push(Entry { place, fields });
            }
            Value::Null => {}
            _ => self.report(line, NOT_AN_ENTRY),
        }
    }
}

const NOT_AN_ENTRY: &str = "is not an entry: there are no fields";

/// A document or an item of a list.
#[derive(Deserialize)]
#[serde(transparent)]
struct Content(Tree<Value, Content>);

/// Returns the values of a JSON text with the lines on which they begin. A list is replaced with its items.
fn json(text: &str) -> Result<Vec<(u32, Value)>, (u32, String)> {
    let mut rest = Rest { text, at: 0, counted: 0, line: 1 };
    let mut values = Vec::new();
    while let Some(next) = rest.peek() {
        if next != '[' {
            values.push(rest.value()?);
            continue;
        }
        rest.at += 1;
        if rest.peek() == Some(']') {
            rest.at += 1;
            continue;
        }
        loop {
            values.push(rest.value()?);
            match rest.peek() {
                Some(',') => rest.at += 1,
                Some(']') => break rest.at += 1,
                _ => return Err((rest.line(), "expected `,` or `]`".to_owned())),
            }
        }
    }
    Ok(values)
}

/// The rest of a JSON text.
struct Rest<'a> {
    text: &'a str,
    at: usize,
    /// Offset up to which lines are counted.
    counted: usize,
    line: u32,
}

impl Rest<'_> {
    /// Skips white space, and returns the next character.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at = self.text.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn line(&mut self) -> u32 {
        let passed = self.text[self.counted..self.at].matches('\n').count();
        self.line = self.line.saturating_add(u32::try_from(passed).unwrap_or(u32::MAX));
        self.counted = self.at;
        self.line
    }

    fn value(&mut self) -> Result<(u32, Value), (u32, String)> {
        self.peek();
        let line = self.line();
        let mut stream = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter::<UniqueKeys>();
        match stream.next() {
            Some(Ok(UniqueKeys(value))) => {
                self.at += stream.byte_offset();
                Ok((line, value))
            }
            Some(Err(error)) => {
                let text = error.to_string();
                let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
                let further = u32::try_from(error.line().saturating_sub(1)).unwrap_or(u32::MAX);
                Err((line.saturating_add(further), what.to_owned()))
            }
            None => Err((line, "the text ends where a value must be".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(name: &str, text: &str, expected: Expect) {
        let shown = match parse(name, text) {
            Ok(entries) => entries.iter().map(show).collect::<Vec<_>>().join("\n"),
            Err(error) => format!("error: {error}"),
        };
        expected.assert_eq(&shown);
    }

    fn show(entry: &Entry) -> String {
        let fields = entry.fields.iter().map(|field| format!(" {}@{}={}", field.name, field.place.line, field.value));
        format!("{}:{}", entry.place, fields.collect::<String>())
    }

    #[test]
    fn yaml_fields_have_lines() {
        check(
            "a.yaml",
            "# comment\n- at: 1s\n  create:\n    kind: Pod\n\n- at: 2026-01-31T12:00:00Z\n---\nat: 1.5\nlist: [1]\n---\n# none\n---\n[]\n",
            expect![[r#"
                a.yaml:2: at@2="1s" create@3={"kind":"Pod"}
                a.yaml:6: at@6="2026-01-31T12:00:00Z"
                a.yaml:8: at@8=1.5 list@9=[1]"#]],
        );
    }

    #[test]
    fn json_values_and_items_of_lists_are_entries() {
        check(
            "a.jsonl",
            "{\"at\": \"1s\"}\n{\"at\":\n\"2s\"}{}\n[{\"at\": \"3s\"},\n {\"at\": \"4s\"}\n]\n[]",
            expect![[r#"
                a.jsonl:1: at@1="1s"
                a.jsonl:2: at@2="2s"
                a.jsonl:3:
                a.jsonl:4: at@4="3s"
                a.jsonl:5: at@5="4s""#]],
        );
    }

    #[test]
    fn text_that_begins_like_json_may_be_yaml() {
        check(
            "standard input",
            "[{at: 1s}, {at: 2s}]",
            expect![[r#"
            standard input:1: at@1="1s"
            standard input:1: at@1="2s""#]],
        );
    }

    #[test]
    fn problems_have_a_line() {
        check(
            "a.yaml",
            "- at: 1s\n- at: 2s\n  at: 3s\n",
            expect!["error: a.yaml:3: is not YAML: duplicate mapping key `at` is not allowed here"],
        );
        check(
            "a.yaml",
            "- at: 1s\n- text\n- []\n---\n5",
            expect![[r#"
            error: a.yaml:2: is not an entry: there are no fields
            a.yaml:3: is not an entry: there are no fields
            a.yaml:5: is not an entry: there are no fields"#]],
        );
        check("a.yaml", "- at: [\n", expect!["error: a.yaml:1: is not YAML: unclosed bracket '['"]);
        check("a.json", "[{},\n {\"at\" 5}]", expect!["error: a.json:2: is not JSON: expected `:`"]);
        check("a.json", "[{}\n {}]", expect!["error: a.json:2: is not JSON: expected `,` or `]`"]);
        check("a.json", "[{},\n]", expect!["error: a.json:2: is not JSON: expected value"]);
        check("a.json", "{}\n[", expect!["error: a.json:2: is not JSON: the text ends where a value must be"]);
        check("a.json", "{}\n7", expect!["error: a.json:2: is not an entry: there are no fields"]);
    }
}
