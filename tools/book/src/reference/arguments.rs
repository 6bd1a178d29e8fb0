//! Arguments of plugins, as table rows.

use schedc_codegen::schema::{FieldSchema, Format, Schema};

/// Returns the rows of a field and of the fields below it.
pub(super) fn rows(field: &FieldSchema, path: &str) -> Vec<String> {
    let path = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
    let (doc, default) = match field.required {
        true => (field.doc.as_str(), "required"),
        false => doc_and_default(&field.doc),
    };
    let mut rows = vec![format!("| `{path}` | {} | {default} | {doc} |", value(&field.schema))];
    let (fields, path) = below(&field.schema, path);
    rows.extend(fields.iter().flat_map(|field| self::rows(field, &path)));
    rows
}

/// Returns the fields of a table, or of the tables in a list, with the path of the table.
fn below(schema: &Schema, path: String) -> (&[FieldSchema], String) {
    match schema {
        Schema::Table { fields } => (fields, path),
        Schema::List { element, .. } => below(element, path + "[]"),
        _ => (&[], path),
    }
}

/// Splits the documentation of a field into the text and the default at the end. A text without a default has `-`.
fn doc_and_default(doc: &str) -> (&str, &str) {
    doc.rsplit_once("; default ").or_else(|| Some(("", doc.strip_prefix("default ")?))).unwrap_or((doc, "-"))
}

fn value(schema: &Schema) -> String {
    match schema {
        Schema::Table { .. } => "table".to_owned(),
        Schema::Integer { min, max } => format!("integer, {}", range(*min, *max)),
        Schema::String { format } => text(*format).to_owned(),
        Schema::Boolean => "`true` or `false`".to_owned(),
        Schema::Enum { values } => values.iter().map(|value| format!("`\"{value}\"`")).collect::<Vec<_>>().join(", "),
        Schema::List { element, min, max, unique, increasing } => {
            let elements = match **element {
                Schema::Table { .. } => "tables".to_owned(),
                Schema::String { format: Format::QualifiedName } => "qualified names".to_owned(),
                Schema::String { format: Format::LabelValue } => "label values".to_owned(),
                Schema::String { format: Format::NamePrefix } => "prefixes of names".to_owned(),
                Schema::String { .. } => "strings".to_owned(),
                ref other => format!("elements: {}", value(other)),
            };
            let mut text = format!("list of {elements}");
            match (min.filter(|min| *min > 0), max) {
                (Some(min), Some(max)) => text += &format!(", {min} to {max}"),
                (Some(min), None) => text += &format!(", at least {min}"),
                (None, Some(max)) => text += &format!(", at most {max}"),
                (None, None) => {}
            }
            text += &unique.as_ref().map(|field| format!(", each `{field}` once")).unwrap_or_default();
            text += &increasing.as_ref().map(|field| format!(", by increasing `{field}`")).unwrap_or_default();
            text
        }
    }
}

fn text(format: Format) -> &'static str {
    match format {
        Format::Any => "string",
        Format::NonEmpty => "string, not empty",
        Format::QualifiedName => "qualified name",
        Format::NamePrefix => "prefix of a name",
        Format::LabelValue => "label value",
        Format::Duration => "duration (`10s`, `1m30s`)",
    }
}

/// Formats a range in words. A maximum of `i64::MAX` is no bound.
pub(super) fn range(min: Option<i64>, max: Option<i64>) -> String {
    let max = max.filter(|max| *max != i64::MAX);
    match (min, max) {
        (Some(min), Some(max)) if min == max => format!("{min}"),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_at_the_end_of_the_doc_comment() {
        assert_eq!(doc_and_default("a wait; default 10s"), ("a wait", "10s"));
        assert_eq!(doc_and_default("default Honor"), ("", "Honor"));
        assert_eq!(doc_and_default("a selector"), ("a selector", "-"));
    }

    #[test]
    fn ranges_have_optional_bounds() {
        assert_eq!(range(Some(0), Some(100)), "0 to 100");
        assert_eq!(range(Some(1), Some(1)), "1");
        assert_eq!(range(Some(1), Some(i64::MAX)), "at least 1");
        assert_eq!(range(None, None), "any");
    }
}
