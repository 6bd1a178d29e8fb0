//! Support for `#[derive(Args)]`, not for direct use: plugin authors report errors with [`Errors::report`].

pub use super::errors::Decoding;
use super::errors::Part::{self, Bounds, Name, Names, Number, Quoted, Quotes, Subject, Text, Within};
use super::text::eq;
use super::{Decode, Errors, Format, Node, Schema, Seq, Value};

/// Limits on the entries of a list.
pub struct Entries {
    /// Minimum number.
    pub min: usize,
    /// Maximum number.
    pub max: Option<usize>,
    /// See [`Schema::List`].
    pub unique: Option<&'static str>,
    /// See [`Schema::List`].
    pub increasing: Option<&'static str>,
}

/// Returns the index of `name` in `names`.
const fn position(names: &[&str], name: &str) -> Option<usize> {
    let mut i = 0;
    while i < names.len() {
        if eq(names[i], name) {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// Reports that the value does not have the kind `wanted`, a noun with its article.
pub const fn wrong_kind(node: &Node, wanted: &str, errors: &mut Errors) {
    errors.report(node, &[Subject, Text(" is "), Text(node.value.kind()), Text(", but must be "), Text(wanted)]);
}

/// Reads a boolean.
pub const fn boolean(node: &Node, errors: &mut Errors) -> bool {
    match node.value {
        Value::Bool(value) => value,
        _ => {
            wrong_kind(node, "true or false", errors);
            false
        }
    }
}

/// Reads an integer within bounds.
pub const fn integer(node: &Node, min: Option<i64>, max: Option<i64>, errors: &mut Errors) -> i64 {
    let Value::Int(value) = node.value else {
        wrong_kind(node, "an integer", errors);
        return 0;
    };
    let too_small = matches!(min, Some(min) if value < min);
    let too_large = matches!(max, Some(max) if value > max);
    if too_small || too_large {
        errors.report(node, &[Subject, Text(" is "), Number(value), Text(", but must be "), Bounds(min, max)]);
    }
    value
}

/// Reads a string of a format.
pub const fn string(node: &Node, format: Format, errors: &mut Errors) -> &'static str {
    let Value::Str(value) = node.value else {
        wrong_kind(node, "a string", errors);
        return "";
    };
    if !format.accepts(value) {
        let format = format.description();
        errors.report(node, &[Subject, Text(" is "), Quoted(value), Text(", but must be "), Text(format)]);
    }
    value
}

/// Reads one of `names`, and returns its index.
pub const fn variant(node: &Node, names: &[&str], errors: &mut Errors) -> usize {
    let actual = match node.value {
        Value::Str(value) => match position(names, value) {
            Some(place) => return place,
            None => Quoted(value),
        },
        _ => Text(node.value.kind()),
    };
    errors.report(node, &[Subject, Text(" is "), actual, Text(", but must be one of "), Quotes(names)]);
    0
}

/// Returns the entries of a table.
pub const fn table(node: &Node, errors: &mut Errors) -> &'static [(&'static str, Node)] {
    match node.value {
        Value::Table(entries) => entries,
        _ => {
            wrong_kind(node, "a table", errors);
            &[]
        }
    }
}

/// Returns the position in `known` of the key of `entries[index]`. Reports unknown and repeated keys.
pub const fn field(entries: &[(&str, Node)], index: usize, known: &[&str], errors: &mut Errors) -> Option<usize> {
    let (key, value) = &entries[index];
    let Some(place) = position(known, key) else {
        errors.report(value, &[Text("unknown argument "), Name(key), Within, Text("; known are "), Names(known)]);
        return None;
    };
    let mut i = 0;
    while i < index {
        if eq(entries[i].0, key) {
            errors.report(value, &[Name(key), Text(" is given twice"), Within]);
            return None;
        }
        i += 1;
    }
    Some(place)
}

/// Reports that the table at `node` lacks the field `name`.
pub const fn missing(node: &Node, name: &str, errors: &mut Errors) {
    // For any other value, the wrong kind has been reported already.
    if let Value::Table(_) = node.value {
        errors.report(node, &[Name(name), Text(" is missing"), Within]);
    }
}

/// Returns the entries of a list, at most the maximum number.
pub const fn list(node: &Node, allowed: &Entries, errors: &mut Errors) -> &'static [Node] {
    let Value::List(entries) = node.value else {
        wrong_kind(node, "a list", errors);
        return &[];
    };
    if entries.len() < allowed.min {
        wrong_count(node, entries.len(), ", but must have at least ", allowed.min, errors);
    }
    if let Some(field) = allowed.unique {
        unique(entries, field, errors);
    }
    if let Some(field) = allowed.increasing {
        increasing(entries, field, errors);
    }
    match allowed.max {
        Some(max) if entries.len() > max => {
            wrong_count(node, entries.len(), ", but may have at most ", max, errors);
            entries.split_at(max).0
        }
        _ => entries,
    }
}

const fn wrong_count(node: &Node, count: usize, but: &str, bound: usize, errors: &mut Errors) {
    let entries = if count == 1 { " entry" } else { " entries" };
    let (count, bound) = (count as i64, bound as i64);
    errors.report(node, &[Subject, Text(" has "), Number(count), Text(entries), Text(but), Number(bound)]);
}

/// Returns the value that `unique` or `increasing` refers to.
const fn part_of(entry: &'static Node, field: &str) -> Option<&'static Node> {
    if field.is_empty() { Some(entry) } else { entry.get(field) }
}

const fn unique(entries: &'static [Node], field: &'static str, errors: &mut Errors) {
    let mut i = 1;
    while i < entries.len() {
        if let Some(later) = part_of(&entries[i], field) {
            let mut k = 0;
            while k < i {
                if let Some(earlier) = part_of(&entries[k], field) {
                    let equal = match (earlier.value, later.value) {
                        (Value::Str(a), Value::Str(b)) if eq(a, b) => Some(Quoted(b)),
                        (Value::Int(a), Value::Int(b)) if a == b => Some(Number(b)),
                        _ => None,
                    };
                    if let Some(value) = equal {
                        repeated(later, field, value, errors);
                        break;
                    }
                }
                k += 1;
            }
        }
        i += 1;
    }
}

const fn repeated(node: &Node, field: &str, value: Part<'_>, errors: &mut Errors) {
    if field.is_empty() {
        errors.report(node, &[Subject, Text(" has "), value, Text(" twice")]);
    } else {
        errors.report(node, &[Subject, Text(" has two entries whose "), Name(field), Text(" is "), value]);
    }
}

const fn increasing(entries: &'static [Node], field: &'static str, errors: &mut Errors) {
    let mut before = None;
    let mut i = 0;
    while i < entries.len() {
        if let Some(part) = part_of(&entries[i], field)
            && let Value::Int(value) = part.value
        {
            if let Some(before) = before
                && value <= before
            {
                let what = if field.is_empty() { Subject } else { Name(field) };
                let (must, previous) = (Text(", but must be greater than "), Text(", the value of the previous entry"));
                errors.report(part, &[what, Text(" is "), Number(value), must, Number(before), previous]);
            }
            before = Some(value);
        }
        i += 1;
    }
}

impl Decode for bool {
    const SCHEMA: Schema = Schema::Boolean;

    fn decode_value(node: &Node, errors: &mut Errors) -> Self {
        boolean(node, errors)
    }
}

impl Decode for i64 {
    const SCHEMA: Schema = Schema::Integer { min: None, max: None };

    fn decode_value(node: &Node, errors: &mut Errors) -> Self {
        integer(node, None, None, errors)
    }
}

impl Decode for i32 {
    const SCHEMA: Schema = Schema::Integer { min: Some(i32::MIN as i64), max: Some(i32::MAX as i64) };

    fn decode_value(node: &Node, errors: &mut Errors) -> Self {
        integer(node, Some(i32::MIN.into()), Some(i32::MAX.into()), errors) as i32
    }
}

impl Decode for &'static str {
    const SCHEMA: Schema = Schema::String(Format::Any);

    fn decode_value(node: &Node, errors: &mut Errors) -> Self {
        string(node, Format::Any, errors)
    }
}

impl<T: Decode> Decode for Seq<T> {
    const SCHEMA: Schema = Schema::List { element: &T::SCHEMA, min: 0, max: None, unique: None, increasing: None };

    fn decode_value(node: &Node, errors: &mut Errors) -> Self {
        let entries = list(node, &Entries { min: 0, max: None, unique: None, increasing: None }, errors);
        for entry in entries {
            T::decode_value(entry, errors);
        }
        Seq::from_checked(entries)
    }
}
