//! YAML and JSON as a tree of values with locations.

use std::fmt;

use schedc_profile_rules::Diagnostic;
use schedc_profile_rules::source::{FileId, Files, Span, Spanned};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned as Located};

use crate::messages;

/// A value as written.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Location; for lists and maps in block style, that of their first element.
    pub(crate) span: Span,
    /// Value.
    pub(crate) value: Value,
}

/// The kinds of values that YAML has.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(String),
    List(Vec<Node>),
    Map(Vec<(Spanned<String>, Node)>),
}

impl Value {
    /// Returns a description of the value's kind.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number with a fraction",
            Self::Str(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map of fields",
        }
    }
}

/// Reads the documents of a file; empty documents are omitted.
pub(crate) fn read(files: &Files, file: FileId) -> Result<Vec<Node>, Box<Diagnostic>> {
    let text = files.text(file);
    match parse(text) {
        Ok(documents) => {
            let documents = documents.into_iter().map(|document| document.node(file));
            Ok(documents.filter(|document| !matches!(document.value, Value::Null)).collect())
        }
        Err(error) => {
            let range = error.location().map_or((0, 0), |location| on_char(text, offset(text, location)));
            Err(Box::new(messages::syntax(Span { file, start: range.0, end: range.1 }, &error_message(&error))))
        }
    }
}

/// Parses the documents of a file.
pub(crate) fn parse(text: &str) -> Result<Vec<Parsed>, serde_saphyr::Error> {
    let parse = |text: &str| serde_saphyr::from_multiple_with_options(text, options());
    match parse(text) {
        // YAML refuses some tabs of JSON. In JSON, tabs are only between values, so spaces can replace them.
        Err(_) if text.trim_start().starts_with('{') && text.contains('\t') => parse(&text.replace('\t', " ")),
        result => result,
    }
}

/// Returns the byte offset of a location.
fn offset(text: &str, location: Location) -> usize {
    if let Some((start, _)) = byte_range(location) {
        return start;
    }
    let number = |n: u64| usize::try_from(n.saturating_sub(1)).unwrap_or(0);
    let lines = text.split_inclusive('\n').take(number(location.line()));
    let line_start: usize = lines.map(str::len).sum();
    let before = text[line_start..].chars().take(number(location.column()));
    line_start + before.map(char::len_utf8).sum::<usize>()
}

/// Returns the span of the character at a byte.
fn on_char(text: &str, start: usize) -> (usize, usize) {
    let start = (0..=start.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let next = text[start..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    (start, start + next)
}

/// Returns an error's text without its location.
pub(crate) fn error_message(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().render_with_formatter(&serde_saphyr::UserMessageFormatter);
    let line = text.lines().next().unwrap_or_default();
    let end = line.rfind(" at line ").unwrap_or(line.len());
    line[..end].to_owned()
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        // Deeper than any configuration, and safe for the stack.
        budget: serde_saphyr::budget! { max_depth: 32 },
        // Repeated keys are reported with both locations, like other errors.
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::PassThrough,
        legacy_octal_numbers: true,
        with_snippet: false,
    }
}

/// Returns the start and the end of a location in bytes.
pub(crate) fn byte_range(location: Location) -> Option<(usize, usize)> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    Some((start, start + usize::try_from(span.byte_len()?).ok()?))
}

/// A value from serde, without its file.
pub(crate) struct Parsed(pub(crate) Located<Content>);

/// A value from serde.
pub(crate) enum Content {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(String),
    List(Vec<Parsed>),
    Map(Vec<(Located<String>, Parsed)>),
}

impl Parsed {
    fn node(self, file: FileId) -> Node {
        let span = span_of(file, self.0.referenced);
        let value = match self.0.value {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(value),
            Content::Int(value) => Value::Int(value),
            Content::Float(value) => Value::Float(value),
            Content::Str(value) => Value::Str(value),
            Content::List(items) => Value::List(items.into_iter().map(|item| item.node(file)).collect()),
            Content::Map(fields) => Value::Map(
                fields
                    .into_iter()
                    .map(|(key, value)| {
                        let span = span_of(file, key.referenced);
                        (Spanned { value: key.value, span }, value.node(file))
                    })
                    .collect(),
            ),
        };
        Node { span, value }
    }
}

fn span_of(file: FileId, location: Location) -> Span {
    let (start, end) = byte_range(location).unwrap_or_default();
    Span { file, start, end }
}

impl<'de> Deserialize<'de> for Parsed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Located::<Content>::deserialize(deserializer).map(Parsed)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Content, D::Error> {
        Content::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Content, E> {
        Ok(Content::Int(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Content, E> {
        Ok(Content::Int(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Content, E> {
        Ok(Content::Int(value))
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Content, E> {
        Ok(Content::Int(i128::try_from(value).unwrap_or(i128::MAX)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Content, E> {
        Ok(Content::Float(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Content, E> {
        Ok(Content::Str(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Content::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Content, A::Error> {
        let mut map = Vec::new();
        while let Some(field) = fields.next_entry()? {
            map.push(field);
        }
        Ok(Content::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn show(files: &Files, node: &Node, out: &mut String) {
        let location = files.location(node.span);
        let position = format!("@{}:{}", location.line, location.column);
        match &node.value {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(&value.to_string()),
            Value::Int(value) => out.push_str(&value.to_string()),
            Value::Float(value) => out.push_str(&format!("{value:?}")),
            Value::Str(value) => out.push_str(&format!("{value:?}")),
            Value::List(items) => {
                out.push('[');
                for item in items {
                    show(files, item, out);
                    out.push(' ');
                }
                out.push(']');
            }
            Value::Map(fields) => {
                out.push('{');
                for (key, value) in fields {
                    out.push_str(&format!("{}={}: ", key.value, files.snippet(key.span)));
                    show(files, value, out);
                    out.push(' ');
                }
                out.push('}');
            }
        }
        out.push_str(&position);
    }

    fn check(text: &str, expect: Expect) {
        let mut files = Files::default();
        let file = files.add("f.yaml", text);
        let mut out = String::new();
        match read(&files, file) {
            Ok(documents) => documents.iter().for_each(|document| {
                show(&files, document, &mut out);
                out.push('\n');
            }),
            Err(error) => out = error.one_line(&files),
        }
        expect.assert_eq(&out);
    }

    #[test]
    fn every_value_has_its_location() {
        check(
            "a: 1\nb:\n  - x\n  - {y: true, z: 1.5, e: }\nc: null\n",
            expect![[r#"
            {a=a: 1@1:4 b=b: ["x"@3:5 {y=y: true@4:9 z=z: 1.5@4:18 e=e: null@4:24 }@4:5 ]@3:3 c=c: null@5:4 }@1:1
        "#]],
        );
    }

    #[test]
    fn json_with_tabs_is_read() {
        check(
            "{\n\t\"a\": [\n\t\t1,\n\t\t\"größe\"\n\t],\n\t\"b\": null\n}\n",
            expect![[r#"
            {a="a": [1@3:3 "größe"@4:3 ]@2:7 b="b": null@6:7 }@1:1
        "#]],
        );
    }

    #[test]
    fn values_of_an_alias_have_the_location_of_the_alias() {
        check(
            "a: &x {n: 1}\nb: *x\nc:\n  <<: *x\n  m: 2\n",
            expect![[r#"
            {a=a: {n=n: 1@1:11 }@1:7 b=b: {n=*x: 1@2:4 }@2:4 c=c: {m=m: 2@5:6 n=*x: 1@4:7 }@4:3 }@1:1
        "#]],
        );
    }

    #[test]
    fn documents_are_read_separately() {
        check(
            "---\na: 1\n---\n# nothing\n---\nb: 2\nb: 3\n",
            expect![[r#"
            {a=a: 1@2:4 }@2:1
            {b=b: 2@6:4 b=b: 3@7:4 }@6:1
        "#]],
        );
    }

    #[test]
    fn invalid_yaml_is_an_error_with_a_location() {
        check(
            "a: [1\nb: 2\n",
            expect!["f.yaml:2:2: this is neither YAML nor JSON: illegal placement of ':' indicator"],
        );
        check(
            "a: 1\n  b: 2\n",
            expect!["f.yaml:2:4: this is neither YAML nor JSON: mapping values are not allowed in this context"],
        );
        check("a: *nothing\n", expect!["f.yaml:1:4: this is neither YAML nor JSON: reference to unknown value"]);
    }
}
