//! Check of arguments against their schema.

use crate::diagnostic::Diagnostic;
use crate::fields;
use crate::format;
use crate::messages;
use crate::schema::{FieldSchema, Schema};
use crate::source::Spanned;
use crate::suggest::closest;
use crate::tree::{RawNode, RawTable, RawValue};

/// Checks a plugin's arguments.
pub(super) fn check(args: &RawNode, schema: &Schema, plugin: &str, diagnostics: &mut Vec<Diagnostic>) {
    Checker { plugin, path: String::new(), diagnostics }.value(args, schema);
}

/// Checks arguments of unknown shape: only whether they can be constants.
pub(super) fn constant(args: &RawNode, plugin: &str, diagnostics: &mut Vec<Diagnostic>) {
    match &args.value {
        RawValue::Float(_) | RawValue::Datetime(_) => {
            let subject = format!("an argument of {plugin}");
            diagnostics.push(messages::not_a_constant(args.span, &subject, args.value.kind()));
        }
        RawValue::Int(value) if i64::try_from(*value).is_err() => {
            let subject = format!("an argument of {plugin}");
            diagnostics.push(messages::not_a_constant(args.span, &subject, "an integer of more than 64 bits"));
        }
        RawValue::List(items) => items.iter().for_each(|item| constant(item, plugin, diagnostics)),
        RawValue::Table(table) => table.fields.iter().for_each(|field| constant(&field.value, plugin, diagnostics)),
        RawValue::Bool(_) | RawValue::Int(_) | RawValue::Str(_) => {}
    }
}

struct Checker<'a> {
    plugin: &'a str,
    /// Path of the value in the plugin's table: `scoring-strategy.resources[1].weight`.
    path: String,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn value(&mut self, node: &RawNode, schema: &Schema) {
        match (schema, &node.value) {
            (Schema::Table { fields }, RawValue::Table(table)) => self.table(node, table, fields),
            (Schema::Integer { min, max }, RawValue::Int(value)) => {
                let at_least = i128::from(min.unwrap_or(i64::MIN));
                let at_most = i128::from(max.unwrap_or(i64::MAX));
                if !(at_least..=at_most).contains(value) {
                    self.diagnostics.push(messages::argument_out_of_range(
                        node.span,
                        &self.subject(),
                        *value,
                        *min,
                        *max,
                    ));
                }
            }
            (Schema::String { format }, RawValue::Str(value)) => {
                if !format::matches(*format, value) {
                    let value = Spanned { value: value.clone(), span: node.span };
                    self.diagnostics.push(messages::argument_format(&value, &self.subject(), *format));
                }
            }
            (Schema::Enum { values }, RawValue::Str(value)) => {
                if !values.contains(value) {
                    let value = Spanned { value: value.clone(), span: node.span };
                    let known: Vec<&str> = values.iter().map(String::as_str).collect();
                    self.diagnostics.push(messages::argument_not_one_of(&value, &self.subject(), &known));
                }
            }
            (Schema::Boolean, RawValue::Bool(_)) => {}
            (Schema::List { .. }, RawValue::List(items)) => self.list(node, items, schema),
            (_, other) => {
                let kind = other.kind();
                self.diagnostics.push(messages::argument_kind(node.span, &self.subject(), expected(schema), kind));
            }
        }
    }

    fn table(&mut self, node: &RawNode, table: &RawTable, fields: &[FieldSchema]) {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let misspelt = fields::misspelt(table, &names);
        for field in &table.fields {
            let mut name = field.key.value.as_str();
            if !names.contains(&name) {
                let diagnostic = messages::unknown_argument(&field.key, &self.owner(), &names);
                self.diagnostics.push(diagnostic);
                let suggestion = misspelt.iter().find(|(_, misspelt)| misspelt.key == field.key);
                name = suggestion.map_or(name, |(suggestion, _)| suggestion);
            }
            if let Some(known) = fields.iter().find(|known| known.name == name) {
                let written = &field.key.value;
                let step = if self.path.is_empty() { written.clone() } else { format!(".{written}") };
                self.below(&step, |checker| checker.value(&field.value, &known.schema));
            }
        }
        let unknown = || table.fields.iter().filter(|field| !fields.iter().any(|known| known.name == field.key.value));
        for field in fields.iter().filter(|field| field.required && table.get(&field.name).is_none()) {
            if unknown().any(|unknown| closest(&unknown.key.value, [field.name.as_str()]).is_some()) {
                continue;
            }
            let diagnostic = messages::missing_argument(node.span, &self.owner(), &field.name, &field.doc);
            self.diagnostics.push(diagnostic);
        }
    }

    fn list(&mut self, node: &RawNode, items: &[RawNode], schema: &Schema) {
        let Schema::List { element, min, max, unique, increasing } = schema else { return };
        if let Some(min) = min.filter(|min| items.len() < *min) {
            self.diagnostics.push(messages::list_too_short(node.span, &self.subject(), min, items.len()));
        }
        if let Some(max) = max.filter(|max| items.len() > *max) {
            self.diagnostics.push(messages::list_too_long(node.span, &self.subject(), max, items.len()));
        }
        for (index, item) in items.iter().enumerate() {
            self.below(&format!("[{index}]"), |checker| checker.value(item, element));
        }
        if let Some(field) = unique {
            self.unique(items, field);
        }
        if let Some(field) = increasing {
            self.increasing(items, field);
        }
    }

    fn unique(&mut self, items: &[RawNode], field: &str) {
        let mut seen: Vec<&RawNode> = Vec::new();
        for value in items.iter().filter_map(|item| part(item, field)) {
            match seen.iter().find(|other| other.value == value.value) {
                Some(first) => {
                    let shown = match &value.value {
                        RawValue::Str(text) => format!("`{text}`"),
                        RawValue::Int(value) => value.to_string(),
                        _ => "a value".to_owned(),
                    };
                    let diagnostic = messages::element_repeated(value.span, first.span, &self.subject(), &shown);
                    self.diagnostics.push(diagnostic);
                }
                None => seen.push(value),
            }
        }
    }

    fn increasing(&mut self, items: &[RawNode], field: &str) {
        let values = items.iter().filter_map(|item| match part(item, field) {
            Some(RawNode { span, value: RawValue::Int(value) }) => Some((*span, *value)),
            _ => None,
        });
        let values: Vec<_> = values.collect();
        let subject = if field.is_empty() { self.subject() } else { format!("`{field}` in {}", self.subject()) };
        for pair in values.windows(2) {
            if pair[1].1 <= pair[0].1 {
                self.diagnostics.push(messages::not_increasing(pair[1].0, pair[0].0, &subject, pair[1].1, pair[0].1));
            }
        }
    }

    fn below(&mut self, step: &str, check: impl FnOnce(&mut Self)) {
        let len = self.path.len();
        self.path.push_str(step);
        check(self);
        self.path.truncate(len);
    }

    /// Returns a description of the value.
    fn subject(&self) -> String {
        format!("`{}` of {}", self.path, self.plugin)
    }

    /// Returns a description of the table, as the owner of arguments.
    fn owner(&self) -> String {
        if self.path.is_empty() { self.plugin.to_owned() } else { self.subject() }
    }
}

/// Returns a field of an element, or the element itself if `field` is empty.
fn part<'n>(item: &'n RawNode, field: &str) -> Option<&'n RawNode> {
    match &item.value {
        _ if field.is_empty() => Some(item),
        RawValue::Table(table) => table.get(field).map(|field| &field.value),
        _ => None,
    }
}

fn expected(schema: &Schema) -> &'static str {
    match schema {
        Schema::Table { .. } => "a table",
        Schema::Integer { .. } => "an integer",
        Schema::String { .. } | Schema::Enum { .. } => "a string",
        Schema::Boolean => "`true` or `false`",
        Schema::List { .. } => "a list",
    }
}
