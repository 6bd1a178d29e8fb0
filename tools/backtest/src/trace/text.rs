//! Texts with values of columns: `node-{machine}`, or `{qos:priorities}` with a map.

use serde::Deserialize;
use serde::de::Error;

/// A text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text(pub(super) Vec<Part>);

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Literal text.
    Literal(String),
    /// Value of a column.
    Column {
        /// Name of the column; fields of nested objects are separated by dots.
        name: String,
        /// Name of the map that replaces values.
        map: Option<String>,
    },
}

impl Text {
    /// Parses a text. `{{` and `}}` are braces.
    pub(super) fn parse(text: &str) -> Result<Text, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.peek() == Some(&c) => {
                    chars.next();
                    literal.push(c);
                }
                '{' => {
                    let mut inner = String::new();
                    loop {
                        match chars.next() {
                            Some('}') => break,
                            Some(c) if c != '{' => inner.push(c),
                            _ => return Err(format!("`{text}` has a `{{` without `}}`; write `{{{{` for a brace")),
                        }
                    }
                    if !literal.is_empty() {
                        parts.push(Part::Literal(std::mem::take(&mut literal)));
                    }
                    let (name, map) = match inner.rsplit_once(':') {
                        Some((name, map)) => (name.to_owned(), Some(map.to_owned())),
                        None => (inner, None),
                    };
                    if name.is_empty() {
                        return Err(format!("`{text}` has a placeholder without the name of a column"));
                    }
                    parts.push(Part::Column { name, map });
                }
                '}' => return Err(format!("`{text}` has a `}}` without `{{`; write `}}}}` for a brace")),
                c => literal.push(c),
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Text(parts))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Text::parse(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_name_columns_and_maps() {
        let column =
            |name: &str, map: Option<&str>| Part::Column { name: name.to_owned(), map: map.map(str::to_owned) };
        let literal = |text: &str| Part::Literal(text.to_owned());
        assert_eq!(Text::parse("n-{id}m"), Ok(Text(vec![literal("n-"), column("id", None), literal("m")])));
        assert_eq!(Text::parse("{a.b:map}"), Ok(Text(vec![column("a.b", Some("map"))])));
        assert_eq!(Text::parse("{{x}}"), Ok(Text(vec![literal("{x}")])));
        for text in ["{a", "a}", "{}", "{:m}", "{a{b}}"] {
            assert!(Text::parse(text).is_err(), "{text}");
        }
    }
}
