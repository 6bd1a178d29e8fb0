//! Schemas of arguments.

use super::Format;
use std::fmt::{self, Write as _};

/// Schema of a value in a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// A table with these fields.
    Table(&'static [Field]),
    /// An integer with optional bounds.
    Integer {
        /// Minimum.
        min: Option<i64>,
        /// Maximum.
        max: Option<i64>,
    },
    /// A string with a format.
    String(Format),
    /// `true` or `false`.
    Boolean,
    /// One of these strings.
    Enum(&'static [&'static str]),
    /// A list.
    List {
        /// Schema of an element.
        element: &'static Schema,
        /// Minimum number of entries.
        min: usize,
        /// Maximum number of entries, if there is one.
        max: Option<usize>,
        /// Name of the field whose values must differ between all entries. If it is empty, the entries themselves must
        /// differ.
        unique: Option<&'static str>,
        /// Name of the integer field whose values must increase from entry to entry. If it is empty, the entries
        /// themselves must increase.
        increasing: Option<&'static str>,
    },
}

/// A field of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The key in the profile.
    pub name: &'static str,
    /// Whether it is required.
    pub required: bool,
    /// Its documentation.
    pub doc: &'static str,
    /// Schema of its value.
    pub schema: Schema,
}

impl Schema {
    /// Returns the schema as indented JSON, as in catalogs. Equal schemas have equal texts.
    pub fn to_json(&self) -> String {
        let mut out = Json::default();
        out.schema(self);
        out.text
    }

    /// Returns the schemas of several plugins as one JSON object, by plugin name, in the given order; ends with a line
    /// feed.
    pub fn map_to_json(schemas: &[(&str, Schema)]) -> String {
        let mut out = Json::default();
        out.object(|out| {
            for (plugin, schema) in schemas {
                out.key(plugin);
                out.schema(schema);
            }
        });
        out.text.push('\n');
        out.text
    }

    /// Panics, in a constant at compile time, if the values of this schema are not tables that have a field with this
    /// name.
    #[doc(hidden)]
    #[track_caller]
    pub const fn assert_has_field(&self, name: &str) {
        if let Schema::Table(fields) = self {
            let mut i = 0;
            while i < fields.len() {
                if super::text::eq(fields[i].name, name) {
                    return;
                }
                i += 1;
            }
        }
        panic!("`unique` and `increasing` must name a field of the list's entries by its key in profiles")
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

/// JSON in the format of `serde_json`'s pretty printer.
#[derive(Default)]
struct Json {
    text: String,
    depth: usize,
}

impl Json {
    fn schema(&mut self, schema: &Schema) {
        self.object(|out| match *schema {
            Schema::Table(fields) => {
                out.string_at("type", "table");
                out.key("fields");
                out.array(fields, |out, field| {
                    out.object(|out| {
                        out.string_at("name", field.name);
                        out.plain_at("required", field.required);
                        out.string_at("doc", field.doc);
                        out.key("schema");
                        out.schema(&field.schema);
                    });
                });
            }
            Schema::Integer { min, max } => {
                out.string_at("type", "integer");
                min.inspect(|min| out.plain_at("min", min));
                max.inspect(|max| out.plain_at("max", max));
            }
            Schema::String(format) => {
                out.string_at("type", "string");
                out.string_at("format", format.name());
            }
            Schema::Boolean => out.string_at("type", "boolean"),
            Schema::Enum(values) => {
                out.string_at("type", "enum");
                out.key("values");
                out.array(values, |out, value| out.string(value));
            }
            Schema::List { element, min, max, unique, increasing } => {
                out.string_at("type", "list");
                out.key("of");
                out.schema(element);
                out.plain_at("min", min);
                max.inspect(|max| out.plain_at("max", max));
                unique.inspect(|field| out.string_at("unique", field));
                increasing.inspect(|field| out.string_at("increasing", field));
            }
        });
    }

    fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.nested('{', '}', members);
    }

    fn array<T>(&mut self, items: &[T], item: impl Fn(&mut Self, &T)) {
        self.nested('[', ']', |out| {
            for value in items {
                out.next_line();
                item(out, value);
            }
        });
    }

    fn nested(&mut self, open: char, close: char, content: impl FnOnce(&mut Self)) {
        self.text.push(open);
        self.depth += 1;
        content(self);
        self.depth -= 1;
        if !self.text.ends_with(open) {
            self.line_feed();
        }
        self.text.push(close);
    }

    /// Begins a member or an item.
    fn next_line(&mut self) {
        if !self.text.ends_with(['{', '[']) {
            self.text.push(',');
        }
        self.line_feed();
    }

    fn line_feed(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.depth));
    }

    fn key(&mut self, key: &str) {
        self.next_line();
        self.string(key);
        self.text.push_str(": ");
    }

    fn string_at(&mut self, key: &str, value: &str) {
        self.key(key);
        self.string(value);
    }

    fn plain_at(&mut self, key: &str, value: impl fmt::Display) {
        self.key(key);
        self.text.push_str(&value.to_string());
    }

    fn string(&mut self, value: &str) {
        self.text.push('"');
        for c in value.chars() {
            match c {
                '"' | '\\' => self.text.extend(['\\', c]),
                '\n' => self.text.push_str("\\n"),
                '\t' => self.text.push_str("\\t"),
                '\r' => self.text.push_str("\\r"),
                c if u32::from(c) < 0x20 => {
                    // Writing to a string does not fail.
                    let _ = write!(self.text, "\\u{:04x}", u32::from(c));
                }
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, Schema};
    use expect_test::expect;

    #[test]
    fn text_is_escaped_and_empty_lists_stay_on_the_line() {
        let doc = "a \"b\" \\ \n\u{1}ü";
        let fields: &[Field] = &[Field { name: "e", required: false, doc, schema: Schema::Enum(&[]) }];
        expect![[r#"
            {
              "type": "table",
              "fields": [
                {
                  "name": "e",
                  "required": false,
                  "doc": "a \"b\" \\ \n\u0001ü",
                  "schema": {
                    "type": "enum",
                    "values": []
                  }
                }
              ]
            }"#]]
        .assert_eq(&Schema::Table(fields.to_vec().leak()).to_json());
    }
}
