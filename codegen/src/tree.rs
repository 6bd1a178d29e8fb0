//! TOML as a tree of owned values with locations, the input for profiles and catalogs.

use toml::Spanned as TomlSpanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::{FileId, Files, Span, Spanned};

pub use schedc_profile_rules::tree::{RawField, RawNode, RawTable, RawValue};

/// Parses a file as TOML. Invalid TOML yields its syntax errors and no tree, because further errors could be
/// misleading.
pub(crate) fn read(files: &Files, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Option<RawTable> {
    let text = files.text(file);
    let (document, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Some(table(file, document.get_ref()));
    }
    let mut errors: Vec<(usize, usize, String)> = errors
        .into_iter()
        .map(|error| {
            let span = error.span().unwrap_or(0..0);
            (span.start, span.end, error.message().to_owned())
        })
        .collect();
    errors.sort();
    let is_any_unclosed = errors.iter().any(|(_, _, message)| message.starts_with("unclosed"));
    let mut last_line = None;
    for (start, end, message) in errors {
        let span = Span { file, start, end };
        let line = files.location(span).line;
        if last_line == Some(line) {
            continue;
        }
        last_line = Some(line);
        let diagnostic = messages::syntax(files, span, &message);
        let may_be_caused_by_unclosed =
            ["unclosed", "unexpected", "missing comma"].iter().any(|start| message.starts_with(start));
        if is_any_unclosed && may_be_caused_by_unclosed {
            diagnostics.push(messages::possibly_unclosed(diagnostic));
            break;
        }
        diagnostics.push(diagnostic);
    }
    None
}

fn table(file: FileId, table: &DeTable<'_>) -> RawTable {
    let fields = table.iter().map(|(key, value)| RawField {
        key: Spanned { value: key.get_ref().to_string(), span: span(file, key.span()) },
        value: node(file, value),
    });
    let mut fields: Vec<RawField> = fields.collect();
    fields.sort_by_key(|field| field.key.span.start);
    RawTable { fields }
}

fn node(file: FileId, value: &TomlSpanned<DeValue<'_>>) -> RawNode {
    let raw = match value.get_ref() {
        DeValue::Boolean(value) => RawValue::Bool(*value),
        DeValue::Integer(value) => RawValue::Int(integer(value.as_str(), value.radix())),
        DeValue::Float(value) => RawValue::Float(value.as_str().to_owned()),
        DeValue::String(value) => RawValue::Str(value.to_string()),
        DeValue::Datetime(value) => RawValue::Datetime(value.to_string()),
        DeValue::Array(values) => RawValue::List(values.iter().map(|value| node(file, value)).collect()),
        DeValue::Table(fields) => RawValue::Table(table(file, fields)),
    };
    RawNode { span: span(file, value.span()), value: raw }
}

fn integer(digits: &str, radix: u32) -> i128 {
    let nearest = if digits.starts_with('-') { i128::MIN } else { i128::MAX };
    i128::from_str_radix(digits, radix).unwrap_or(nearest)
}

fn span(file: FileId, range: std::ops::Range<usize>) -> Span {
    Span { file, start: range.start, end: range.end }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expect: Expect) {
        let mut files = Files::default();
        let file = files.add("p.toml", text);
        let mut diagnostics = Vec::new();
        let tree = read(&files, file, &mut diagnostics);
        assert_eq!(tree.is_some(), diagnostics.is_empty());
        let lines: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.one_line(&files)).collect();
        expect.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn several_syntax_errors_are_shown() {
        check(
            "a = yes\nb = 1\nc = \"x\" y\nb = 2\n",
            expect![[r#"
            p.toml:1:5: a string is written in quotes, `yes` is not; put it in quotes
            p.toml:3:9: unexpected key or value
            p.toml:4:1: `b` is written twice"#]],
        );
    }

    #[test]
    fn follow_up_errors_of_an_unclosed_list_are_hidden() {
        check(
            "a = nope\n[plugins]\nfilter = [\"A\", \"B\"\nscore = [\"C\"]\n\n[args.X]\na = 1\n",
            expect![[r#"
            p.toml:1:5: a string is written in quotes, `nope` is not; put it in quotes
            p.toml:4:1: missing comma between array elements"#]],
        );
        check("[plugins\nfilter = []\n", expect!["p.toml:1:9: unclosed table"]);
        check("plugins = {\n a = 1\n", expect!["p.toml:2:7: unclosed inline table"]);
    }

    #[test]
    fn fields_keep_the_order_of_the_file() {
        let mut files = Files::default();
        let file = files.add("p.toml", "z = 1\na = 2\n[m]\nb = 0x10\n");
        let tree = read(&files, file, &mut Vec::new()).unwrap();
        let keys: Vec<&str> = tree.fields.iter().map(|field| field.key.value.as_str()).collect();
        assert_eq!(keys, ["z", "a", "m"]);
        let RawValue::Table(inner) = &tree.get("m").unwrap().value.value else { panic!("a table") };
        assert_eq!(inner.get("b").unwrap().value.value, RawValue::Int(16));
    }
}
