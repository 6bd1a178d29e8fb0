//! YAML and JSON as values of Rust types.
//!
//! A file is first parsed to a tree with locations. This keeps programs small: rustc compiles the parser, which is
//! generic and large, for one type only. Messages and locations are those of the parser.

use std::collections::HashSet;
use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_saphyr::{Location, Spanned as Located};

use crate::tree::{self, Content, Parsed};

/// An error of a file. Its text contains no values of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    message: String,
    location: Option<Location>,
}

impl YamlError {
    fn new(message: impl Into<String>) -> Self {
        YamlError { message: message.into(), location: None }
    }

    /// Adds the location if the error has none.
    fn at(self, location: Location) -> Self {
        YamlError { location: self.location.or(Some(location)), ..self }
    }

    fn of_parser(error: &serde_saphyr::Error) -> Self {
        YamlError { message: tree::error_message(error), location: error.location() }
    }

    /// Returns the text without the location.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the line and the column, both from 1.
    pub fn line_and_column(&self) -> Option<(u64, u64)> {
        self.location.map(|location| (location.line(), location.column()))
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.line_and_column() {
            Some((line, column)) => write!(f, " at line {line}, column {column}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for YamlError {}

impl de::Error for YamlError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        YamlError::new(message.to_string())
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        YamlError::new(format!("unknown field `{field}`, expected one of {}", expected.join(", ")))
    }
}

/// Decodes the first document that is not empty. Later documents are only parsed. `None` if all documents are empty.
///
/// # Errors
/// The text is no YAML, or the document has another form than `T`.
pub fn first_document<T: DeserializeOwned>(text: &str) -> Result<Option<T>, YamlError> {
    let documents = tree::parse(text).map_err(|error| YamlError::of_parser(&error))?;
    let document = documents.iter().find(|document| !matches!(document.0.value, Content::Null));
    document.map(|document| decode(document, text)).transpose()
}

/// Decodes the only document. An empty text is an empty map.
///
/// # Errors
/// The text is no YAML, it has several documents, or the document has another form than `T`.
pub fn only_document<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    let documents = tree::parse(text).map_err(|error| YamlError::of_parser(&error))?;
    match documents.as_slice() {
        [] => T::deserialize(de::value::MapDeserializer::new(std::iter::empty::<(&str, &str)>())),
        [document] => decode(document, text),
        [_, second, ..] => {
            Err(YamlError::new("only single YAML document expected but multiple found").at(second.0.referenced))
        }
    }
}

fn decode<T: DeserializeOwned>(document: &Parsed, text: &str) -> Result<T, YamlError> {
    if let Some(key) = repeated_key(document) {
        let message = format!("duplicate mapping key `{}` is not allowed here", key.value);
        return Err(YamlError::new(message).at(key.referenced));
    }
    T::deserialize(Node { parsed: document, text })
}

/// Returns the first key that its map has already.
fn repeated_key(node: &Parsed) -> Option<&Located<String>> {
    match &node.0.value {
        Content::List(items) => items.iter().find_map(repeated_key),
        Content::Map(fields) => {
            let mut seen = HashSet::new();
            fields.iter().find_map(|(key, value)| match seen.insert(key.value.as_str()) {
                true => repeated_key(value),
                false => Some(key),
            })
        }
        _ => None,
    }
}

/// A value of a text.
#[derive(Clone, Copy)]
struct Node<'t> {
    parsed: &'t Parsed,
    text: &'t str,
}

impl<'t> Node<'t> {
    fn error(self, message: impl Into<String>) -> YamlError {
        YamlError::new(message).at(self.parsed.0.referenced)
    }

    /// Returns a scalar as a string. A scalar that looks like a number or a boolean is returned as written.
    fn scalar(self) -> Result<&'t str, YamlError> {
        match &self.parsed.0.value {
            Content::Str(value) => Ok(value),
            Content::Null => Err(self.error("null is not allowed here")),
            Content::List(_) | Content::Map(_) => Err(self.error("expected string scalar")),
            Content::Bool(_) | Content::Int(_) | Content::Float(_) => {
                let range = tree::byte_range(self.parsed.0.defined);
                let written = range.and_then(|(start, end)| self.text.get(start..end));
                written.ok_or_else(|| self.error("expected string scalar"))
            }
        }
    }

    fn boolean(self) -> Result<bool, YamlError> {
        let text = self.scalar()?;
        let is_any = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        match (is_any(["true", "yes", "y", "on"]), is_any(["false", "no", "n", "off"])) {
            (true, _) => Ok(true),
            (_, true) => Ok(false),
            _ => Err(self.error("invalid boolean")),
        }
    }

    fn integer<T: TryFrom<i128>>(self, type_name: &str) -> Result<T, YamlError> {
        let number = match &self.parsed.0.value {
            Content::Int(value) => Some(*value),
            _ => self.scalar()?.parse().ok(),
        };
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| self.error(format!("invalid {type_name}")))
    }

    fn float(self) -> Result<f64, YamlError> {
        match &self.parsed.0.value {
            Content::Float(value) => Ok(*value),
            Content::Int(value) => Ok(*value as f64),
            _ => self.scalar()?.parse().map_err(|_| self.error("invalid floating point")),
        }
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = YamlError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        match &self.parsed.0.value {
            Content::Null => visitor.visit_unit(),
            Content::Bool(value) => visitor.visit_bool(*value),
            Content::Int(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => visitor.visit_i64(value),
                (_, Ok(value)) => visitor.visit_u64(value),
                _ => visitor.visit_i128(*value),
            },
            Content::Float(value) => visitor.visit_f64(*value),
            Content::Str(value) => visitor.visit_borrowed_str(value),
            Content::List(items) => visitor.visit_seq(Items { items: items.iter(), text: self.text }),
            Content::Map(fields) => visitor.visit_map(Fields { fields: fields.iter(), value: None, text: self.text }),
        }
        .map_err(|error| error.at(self.parsed.0.referenced))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        match self.parsed.0.value {
            Content::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        visitor.visit_bool(self.boolean()?)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        visitor.visit_i32(self.integer("i32")?)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        visitor.visit_i64(self.integer("i64")?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        visitor.visit_f64(self.float()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        visitor.visit_borrowed_str(self.scalar()?).map_err(|error: YamlError| error.at(self.parsed.0.referenced))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        match self.parsed.0.value {
            Content::List(_) => self.deserialize_any(visitor),
            _ => Err(self.error("expected sequence start")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        match self.parsed.0.value {
            Content::Map(_) => self.deserialize_any(visitor),
            _ => Err(self.error("expected mapping start")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, YamlError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f64 char bytes byte_buf unit unit_struct newtype_struct tuple tuple_struct enum
        identifier
    }
}

struct Items<'t> {
    items: std::slice::Iter<'t, Parsed>,
    text: &'t str,
}

impl<'t> SeqAccess<'t> for Items<'t> {
    type Error = YamlError;

    fn next_element_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<Option<S::Value>, YamlError> {
        self.items.next().map(|parsed| seed.deserialize(Node { parsed, text: self.text })).transpose()
    }
}

struct Fields<'t> {
    fields: std::slice::Iter<'t, (Located<String>, Parsed)>,
    value: Option<&'t Parsed>,
    text: &'t str,
}

impl<'t> MapAccess<'t> for Fields<'t> {
    type Error = YamlError;

    fn next_key_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<Option<S::Value>, YamlError> {
        let Some((key, value)) = self.fields.next() else { return Ok(None) };
        self.value = Some(value);
        let decoded = seed.deserialize(BorrowedStrDeserializer::new(&key.value));
        decoded.map(Some).map_err(|error: YamlError| error.at(key.referenced))
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value, YamlError> {
        let parsed = self.value.take().ok_or_else(|| YamlError::new("a value without a key"))?;
        seed.deserialize(Node { parsed, text: self.text })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde::{Deserialize, Serialize};
    use serde_json::Value;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Form {
        text: Option<String>,
        flag: Option<bool>,
        number: Option<i32>,
        rate: Option<f32>,
        list: Option<Vec<Named>>,
        any: Option<Value>,
    }

    #[derive(Debug, PartialEq, Deserialize, Serialize)]
    struct Named {
        name: String,
    }

    fn check(text: &str, expected: Expect) {
        let shown = match only_document::<Form>(text) {
            Ok(form) => serde_json::to_string(&form).unwrap(),
            Err(error) => error.to_string(),
        };
        // The parser itself decodes the same values and reports the same errors.
        let options = serde_saphyr::options! { with_snippet: false, legacy_octal_numbers: true };
        let direct = match serde_saphyr::from_str_with_options::<Form>(text, options) {
            Ok(form) => serde_json::to_string(&form).unwrap(),
            Err(error) => {
                let text = error.without_snippet().render_with_formatter(&serde_saphyr::UserMessageFormatter);
                text.lines().next().unwrap_or_default().to_owned()
            }
        };
        assert_eq!(shown, direct, "{text}");
        expected.assert_eq(&shown);
    }

    #[test]
    fn values_are_decoded() {
        check("", expect![[r#"{"text":null,"flag":null,"number":null,"rate":null,"list":null,"any":null}"#]]);
        check(
            "{text: a, flag: yes, number: -7, rate: 20, list: [{name: b}], any: {c: [1, 2.5, null]}}",
            expect![[
                r#"{"text":"a","flag":true,"number":-7,"rate":20.0,"list":[{"name":"b"}],"any":{"c":[1,2.5,null]}}"#
            ]],
        );
        check(
            "text:\nflag: ~\nlist:\n- name: 'b c'\n  other: 1\n",
            expect![[r#"{"text":null,"flag":null,"number":null,"rate":null,"list":[{"name":"b c"}],"any":null}"#]],
        );
        check(
            "a: &x {name: b}\n",
            expect!["unknown field `a`, expected one of text, flag, number, rate, list, any at line 1, column 1"],
        );
        check(
            "list: [&x {name: b}, *x]\n",
            expect![[
                r#"{"text":null,"flag":null,"number":null,"rate":null,"list":[{"name":"b"},{"name":"b"}],"any":null}"#
            ]],
        );
        check(
            "any: &x {n: 1}\nlist:\n- {<<: *x, name: c}\n- {name: d, <<: {name: e}}\n",
            expect![[
                r#"{"text":null,"flag":null,"number":null,"rate":null,"list":[{"name":"c"},{"name":"d"}],"any":{"n":1}}"#
            ]],
        );
        check(
            "flag: 'true'\nrate: '1.5'\nnumber: '12'\n",
            expect![[r#"{"text":null,"flag":true,"number":12,"rate":1.5,"list":null,"any":null}"#]],
        );
    }

    #[test]
    fn scalars_are_strings_as_written() {
        for scalar in ["0012", "1e3", "0x1F", "true", "Yes", "1_000", "-0.50", "2026-11-28"] {
            let text = format!("{{text: {scalar} , flag: no}}");
            let form: Form = only_document(&text).unwrap();
            assert_eq!(form.text.as_deref(), Some(scalar));
        }
        let form: Form = only_document("list: [{name: &n 007}]\ntext: *n\n").unwrap();
        assert_eq!(form.text.as_deref(), Some("007"));
    }

    #[test]
    fn errors_have_locations() {
        check("{text: [geheim]}", expect!["expected string scalar at line 1, column 8"]);
        check("flag: perhaps\n", expect!["invalid boolean at line 1, column 7"]);
        check("flag: {}\n", expect!["expected string scalar at line 1, column 7"]);
        check("number: 1.5\n", expect!["invalid i32 at line 1, column 9"]);
        check("number: 3000000000\n", expect!["invalid i32 at line 1, column 9"]);
        check("rate: fast\n", expect!["invalid floating point at line 1, column 7"]);
        check("list: 1\n", expect!["expected sequence start at line 1, column 7"]);
        check("list: [1]\n", expect!["expected mapping start at line 1, column 8"]);
        check("list:\n- name: ~\n", expect!["null is not allowed here at line 2, column 9"]);
        check("list:\n- name: a\n- other: a\n", expect!["missing field `name` at line 3, column 3"]);
        check(
            "text: a\n\nother: b\n",
            expect!["unknown field `other`, expected one of text, flag, number, rate, list, any at line 3, column 1"],
        );
        check(
            "any: {a: 1, b: {c: 1, c: 2}}\n",
            expect!["duplicate mapping key `c` is not allowed here at line 1, column 23"],
        );
        check(
            "text: a\n---\ntext: b\n",
            expect!["only single YAML document expected but multiple found at line 3, column 1"],
        );
        let error = only_document::<Form>("text: [\n").unwrap_err();
        assert_eq!(error.to_string(), "unclosed bracket '[' at line 1, column 7");
    }

    #[test]
    fn the_first_document_is_decoded() {
        let text = |text: &str| first_document::<Form>(text).map(|form| form.and_then(|form| form.text));
        assert_eq!(text("---\n# nothing\n---\ntext: a\n---\nother: b\n"), Ok(Some("a".to_owned())));
        assert_eq!(text("# nothing\n---\n"), Ok(None));
        assert!(text("text: a\n---\n[\n").is_err());
    }
}
