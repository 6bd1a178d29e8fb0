//! Templates of objects, and the three forms of their output.
//!
//! A template is YAML, or any other text, with placeholders such as `$name`. The placeholder of a value with several lines
//! follows a key (`tolerations: $tolerations`) or is an item of a sequence (`- $extra_args`).

use std::collections::BTreeMap;

/// Output form of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateForm {
    /// Objects with the values. Fields without a value are omitted.
    Objects,
    /// Helm templates, with expressions instead of values.
    Chart,
    /// Other files with the values. Fields without a value are written as empty.
    File,
}

/// Parameters by name.
#[derive(Clone, Default)]
pub(super) struct Parameters(BTreeMap<&'static str, Parameter>);

/// A value that differs between schedulers, or between installations of one scheduler.
#[derive(Clone)]
struct Parameter {
    value: Value,
    expression: Option<Expression>,
}

#[derive(Clone)]
pub(super) enum Value {
    /// A part of a line.
    Text(String),
    /// The lines of a mapping.
    Mapping(String),
    /// The lines of a sequence.
    Sequence(String),
}

/// Helm expression for a parameter.
#[derive(Clone)]
enum Expression {
    /// Evaluates to text that is inserted unchanged, and is never empty.
    Required(String),
    /// Evaluates to a value, or to nothing: then the field is omitted.
    Optional(String),
}

impl Value {
    fn text(&self) -> &str {
        match self {
            Value::Text(text) | Value::Mapping(text) | Value::Sequence(text) => text,
        }
    }

    fn is_part_of_line(&self) -> bool {
        matches!(self, Value::Text(_))
    }
}

impl Parameters {
    /// Adds a parameter that is equal in all installations.
    pub(super) fn constant(&mut self, name: &'static str, value: Value) {
        self.0.insert(name, Parameter { value, expression: None });
    }

    /// Adds a parameter whose value charts compute with `expression`.
    pub(super) fn computed(&mut self, name: &'static str, value: Value, expression: impl Into<String>) {
        self.0.insert(name, Parameter { value, expression: Some(Expression::Required(expression.into())) });
    }

    /// Adds a parameter for a field that is omitted if the value is empty. Charts compute the value with `expression`.
    pub(super) fn optional(&mut self, name: &'static str, value: Value, expression: impl Into<String>) {
        self.0.insert(name, Parameter { value, expression: Some(Expression::Optional(expression.into())) });
    }

    /// Fills in a template.
    pub(super) fn render(&self, template: &str, form: TemplateForm) -> String {
        template.lines().map(|line| self.line(line, form)).collect()
    }

    fn line(&self, line: &str, form: TemplateForm) -> String {
        let field = line.trim_start();
        let indent = &line[..line.len() - field.len()];
        if let Some((key, Parameter { value, expression })) = self.field(field) {
            match (form, expression) {
                (TemplateForm::Chart, Some(Expression::Optional(expression))) => {
                    let field = optional(indent, key, value);
                    return format!("{indent}{{{{- with {expression} }}}}\n{field}{indent}{{{{- end }}}}\n");
                }
                (TemplateForm::Chart, Some(Expression::Required(expression))) if !value.is_part_of_line() => {
                    return lines_of(indent, key, expression);
                }
                (TemplateForm::Objects, _) if value.text().is_empty() => return String::new(),
                _ => {}
            }
            match value {
                Value::Text(_) => {}
                Value::Mapping(lines) if lines.is_empty() => return format!("{indent}{key}{{}}\n"),
                Value::Sequence(lines) if lines.is_empty() => return format!("{indent}{key}[]\n"),
                Value::Mapping(lines) | Value::Sequence(lines) => return block(indent, key, lines),
            }
        }
        self.text(line, form) + "\n"
    }

    /// Splits a line whose value is one placeholder into `key: ` or `- ` and the parameter.
    fn field<'l>(&self, line: &'l str) -> Option<(&'l str, &Parameter)> {
        let (key, name) = line.split_once('$')?;
        let parameter = self.0.get(name)?;
        (key.ends_with(": ") || key == "- ").then_some((key, parameter))
    }

    /// Replaces the placeholders within a line.
    fn text(&self, line: &str, form: TemplateForm) -> String {
        let mut parts = line.split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_name_character = |letter: char| letter.is_ascii_lowercase() || letter == '_';
            let (name, rest) = part.split_at(part.find(|letter| !is_name_character(letter)).unwrap_or(part.len()));
            match self.0.get(name) {
                None => text.extend(["$", name]),
                Some(Parameter { expression: Some(Expression::Required(expression)), .. })
                    if form == TemplateForm::Chart =>
                {
                    text += &format!("{{{{ {expression} }}}}");
                }
                Some(Parameter { value, .. }) => text += value.text(),
            }
            text += rest;
        }
        text
    }
}

/// Returns a field with the value of the enclosing `with`, a block of Helm templates.
fn optional(indent: &str, key: &str, value: &Value) -> String {
    match value {
        Value::Text(_) => format!("{indent}{key}{{{{ . }}}}\n"),
        Value::Mapping(_) | Value::Sequence(_) => lines_of(indent, key, "toYaml ."),
    }
}

/// Returns a field whose value is the lines of an expression.
fn lines_of(indent: &str, key: &str, expression: &str) -> String {
    let (key, inner) = begin_field(indent, key);
    format!("{key}{inner}{{{{- {expression} | nindent {} }}}}\n", inner.len())
}

/// Returns a field with a value of several lines.
fn block(indent: &str, key: &str, lines: &str) -> String {
    let (key, inner) = begin_field(indent, key);
    lines.lines().fold(key, |block, line| format!("{block}{inner}{line}\n"))
}

/// Returns the line of the key and the indentation of its value. Items of sequences have no key.
fn begin_field(indent: &str, key: &str) -> (String, String) {
    match key {
        "- " => (String::new(), indent.to_owned()),
        _ => (format!("{indent}{}\n", key.trim_end()), format!("{indent}  ")),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const TEMPLATE: &str = "name: $name-x\nimage: $image\nargs:\n  - run\n  - $args\nnodes: $nodes\nrules: $rules\n";

    fn check(template: &str, form: TemplateForm, given: &str, expected: Expect) {
        let mut parameters = Parameters::default();
        parameters.computed("name", Value::Text("edge".into()), "include \"name\" .");
        parameters.optional("image", Value::Text(given.into()), ".Values.image");
        parameters.optional("args", Value::Sequence(given.into()), ".Values.args");
        parameters.optional("nodes", Value::Mapping(given.into()), ".Values.nodes");
        parameters.constant("rules", Value::Sequence("- a\n- b\n".into()));
        expected.assert_eq(&parameters.render(template, form));
    }

    #[test]
    fn objects_have_no_empty_fields() {
        let expected = expect![[r#"
            name: edge-x
            args:
              - run
            rules:
              - a
              - b
        "#]];
        check(TEMPLATE, TemplateForm::Objects, "", expected);
        let expected = expect![[r#"
            name: edge-x
            image: given
            args:
              - run
              given
            nodes:
              given
            rules:
              - a
              - b
        "#]];
        check(TEMPLATE, TemplateForm::Objects, "given", expected);
    }

    #[test]
    fn charts_have_expressions() {
        let expected = expect![[r#"
            name: {{ include "name" . }}-x
            {{- with .Values.image }}
            image: {{ . }}
            {{- end }}
            args:
              - run
              {{- with .Values.args }}
              {{- toYaml . | nindent 2 }}
              {{- end }}
            {{- with .Values.nodes }}
            nodes:
              {{- toYaml . | nindent 2 }}
            {{- end }}
            rules:
              - a
              - b
        "#]];
        check(TEMPLATE, TemplateForm::Chart, "given", expected);
    }

    #[test]
    fn other_files_have_empty_fields() {
        let expected = expect![[r#"
            image: ""
            args: []
            nodes: {}
        "#]];
        check("image: \"$image\"\nargs: $args\nnodes: $nodes\n", TemplateForm::File, "", expected);
    }
}
