//! Validation of fields that an object's kind does not have, and of CEL expressions.

use std::collections::BTreeMap;

use schedc_kinds::{self as kinds, AnyObject, Kinds, ObjectError, UnknownField, UnknownFields};
use serde_json::{Map, Value};

use crate::expressions::Expressions;
use crate::field_suggestion::FieldSuggestion;
use crate::source_location::SourceLocation;

/// Treatment of fields that an object's kind does not have, of kinds that their API does not have, and of wrong CEL
/// expressions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// `Strict` for handwritten manifests, `Warn` for objects from a cluster: those have a `metadata.uid`, a
    /// `metadata.resourceVersion` or `metadata.managedFields`.
    #[default]
    Auto,
    /// Errors.
    Strict,
    /// Ignored, with a warning.
    Warn,
    /// Ignored.
    Ignore,
}

/// Returns whether an API server stored this object; otherwise the manifest is handwritten.
///
/// `creationTimestamp` is no evidence: manifests may set it to determine the queue order.
fn is_from_cluster(object: &Map<String, Value>) -> bool {
    let Some(metadata) = object.get("metadata") else { return false };
    let has_text = |field: &str| metadata.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let is_managed = metadata.get("managedFields").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    has_text("uid") || has_text("resourceVersion") || is_managed
}

/// Errors that were ignored: wrong expressions, and unknown fields. For each kind and path of an unknown field, they
/// have the number of objects with this field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoredErrors {
    fields: BTreeMap<(String, String), usize>,
    objects: usize,
    expressions: Vec<IgnoredExpression>,
}

/// A wrong expression that was ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IgnoredExpression {
    pub(crate) place: Option<SourceLocation>,
    pub(crate) error: ObjectError,
}

/// Maximum number of fields and of expressions in the warnings.
const NAMED: usize = 5;

impl IgnoredErrors {
    /// Returns whether no error was ignored.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.expressions.is_empty()
    }

    /// Adds the ignored errors of other objects.
    pub fn extend(&mut self, other: IgnoredErrors) {
        self.objects += other.objects;
        for (field, count) in other.fields {
            *self.fields.entry(field).or_default() += count;
        }
        self.expressions.extend(other.expressions);
    }

    /// Sets the location of the expressions that have none.
    pub fn set_place(&mut self, place: &SourceLocation) {
        for expression in self.expressions.iter_mut().rev().take_while(|expression| expression.place.is_none()) {
            expression.place = Some(place.clone());
        }
    }

    pub(crate) fn expressions(&mut self) -> &mut Vec<IgnoredExpression> {
        &mut self.expressions
    }

    /// Returns the warnings: one for all fields, and one for each of the first expressions.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = (!self.fields.is_empty()).then(|| self.fields_warning()).into_iter().collect();
        warnings.extend(self.expressions.iter().take(NAMED).map(|IgnoredExpression { place, error }| match place {
            Some(place) => format!("{place}: {error}"),
            None => error.to_string(),
        }));
        match self.expressions.len().saturating_sub(NAMED) {
            0 => {}
            1 => warnings.push("1 more CEL expression is wrong".to_owned()),
            more => warnings.push(format!("{more} more CEL expressions are wrong")),
        }
        warnings
    }

    /// Returns the warning about unknown fields: the number of objects that have any, and the most frequent fields.
    fn fields_warning(&self) -> String {
        let mut fields: Vec<_> = self.fields.iter().collect();
        fields.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let objects =
            if self.objects == 1 { "1 object has".to_owned() } else { format!("{} objects have", self.objects) };
        let named = fields.iter().take(NAMED).map(|((kind, path), count)| format!("{kind} {path} ({count})"));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = match fields.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{objects} unknown fields, which are ignored: {named}{more}")
    }

    fn add(&mut self, kind: &str, unknown: &[UnknownField]) {
        // If several items of a list have the field, it counts once for the object.
        let mut paths: Vec<String> = unknown.iter().map(|field| without_indices(&field.path())).collect();
        paths.sort_unstable();
        paths.dedup();
        self.objects += usize::from(!paths.is_empty());
        for path in paths {
            *self.fields.entry((kind.to_owned(), path)).or_default() += 1;
        }
    }
}

/// Returns `spec.containers[].image` for the path of any container's image.
fn without_indices(path: &str) -> String {
    let mut text = String::new();
    for (i, part) in path.split('[').enumerate() {
        match part.split_once(']').filter(|(index, _)| i > 0 && index.bytes().all(|byte| byte.is_ascii_digit())) {
            Some((_, rest)) => text.extend(["[]", rest]),
            None if i > 0 => text.extend(["[", part]),
            None => text.push_str(part),
        }
    }
    text
}

/// Reads objects, and validates their fields and CEL expressions.
#[derive(Clone, Debug, Default)]
pub struct ObjectReader {
    /// The kinds that plugins declare.
    pub kinds: Kinds,
    /// Treatment of unknown fields and wrong expressions.
    pub validation: Validation,
    /// Whether wrong expressions are warnings even if unknown fields are errors. A scheduler accepts objects with wrong
    /// expressions.
    pub allow_wrong_expressions: bool,
    /// Errors that were ignored so far and deserve a warning.
    pub ignored: IgnoredErrors,
    expressions: Expressions,
}

impl ObjectReader {
    /// Returns a reader for objects of all built-in kinds and of those that plugins declare.
    pub fn new(kinds: Kinds, validation: Validation) -> ObjectReader {
        ObjectReader { kinds, validation, ..ObjectReader::default() }
    }

    /// Reads an object of this API version and kind. `None`: schedulers ignore the kind.
    ///
    /// # Errors
    /// Returns all unknown fields and wrong CEL expressions, if they are errors; a misspelt API or kind; and all fields
    /// with a wrong type or an invalid quantity.
    pub fn read(&mut self, api_version: &str, kind: &str, value: Value) -> Result<Option<AnyObject>, Vec<ObjectError>> {
        let is_strict = value.as_object().is_none_or(|fields| self.is_strict(fields));
        self.read_as(api_version, kind, value, is_strict)
    }

    /// Returns whether unknown fields, misspelt kinds and wrong expressions of this object are errors.
    pub fn is_strict(&self, object: &Map<String, Value>) -> bool {
        match self.validation {
            Validation::Auto => !is_from_cluster(object),
            Validation::Strict => true,
            Validation::Warn | Validation::Ignore => false,
        }
    }

    /// Reads an object like [`read`](ObjectReader::read), where unknown fields and wrong expressions are errors if
    /// `is_strict`.
    ///
    /// # Errors
    /// Returns the errors of [`read`](ObjectReader::read).
    pub fn read_as(
        &mut self,
        api_version: &str,
        kind: &str,
        value: Value,
        is_strict: bool,
    ) -> Result<Option<AnyObject>, Vec<ObjectError>> {
        let object = kinds::describe(kind, &value);
        let mut unknown = UnknownFields { follow: is_strict, ..UnknownFields::default() };
        let result = self.kinds.read_collecting_unknown(api_version, kind, value, &mut unknown);
        let mut errors = Vec::new();
        if is_strict {
            errors.extend(self.unknown_fields(kind, &object, &unknown.found));
        } else if self.validation != Validation::Ignore {
            self.ignored.add(kind, &unknown.found);
        }
        let read = match result {
            Ok(read) => read,
            Err(wrong) => {
                errors.extend(wrong);
                None
            }
        };
        if let Some(read) = &read
            && self.validation != Validation::Ignore
        {
            let wrong = self.expressions.errors(read).into_iter();
            let wrong = wrong.map(|(path, message)| ObjectError { object: object.clone(), field: Some(path), message });
            if is_strict && !self.allow_wrong_expressions {
                errors.extend(wrong);
            } else {
                let expressions = wrong.map(|error| IgnoredExpression { place: None, error });
                self.ignored.expressions.extend(expressions);
            }
        }
        if is_strict
            && errors.is_empty()
            && read.is_none()
            && let Some((field, message)) = kinds::misspelt(api_version, kind)
        {
            errors.push(ObjectError { object, field: Some(field.to_owned()), message });
        }
        if errors.is_empty() { Ok(read) } else { Err(errors) }
    }

    /// Validates a list of objects. Returns an error for each unknown field, if they are errors, and for a wrong type
    /// of `items`. `None`: the API is custom, and a custom kind that ends with `List` may be an ordinary object.
    pub fn list(&mut self, api_version: &str, kind: &str, fields: &Map<String, Value>) -> Option<Vec<ObjectError>> {
        if kinds::is_custom(api_version) {
            return None;
        }
        let names = fields.keys().filter(|name| !LIST.contains(&name.as_str()));
        let unknown = |name: &String| UnknownField { parent: String::new(), name: name.clone(), known: LIST };
        let unknown: Vec<UnknownField> = names.map(unknown).collect();
        let mut errors = self.report_or_ignore(kind, &unknown, self.is_strict(fields));
        let items = fields.get("items").filter(|items| !items.is_null()).and_then(kinds::problem_of_list);
        let wrong = |message| ObjectError { object: kind.to_owned(), field: Some("items".to_owned()), message };
        errors.extend(items.map(wrong));
        Some(errors)
    }

    /// Validates the fields of a handwritten document that is not an object. Returns an error for each unknown field,
    /// if they are errors.
    pub fn other_fields(&mut self, kind: &str, unknown: &[UnknownField]) -> Vec<ObjectError> {
        self.report_or_ignore(kind, unknown, matches!(self.validation, Validation::Auto | Validation::Strict))
    }

    fn report_or_ignore(&mut self, kind: &str, unknown: &[UnknownField], is_strict: bool) -> Vec<ObjectError> {
        if is_strict {
            return self.unknown_fields(kind, kind, unknown);
        }
        if self.validation != Validation::Ignore {
            self.ignored.add(kind, unknown);
        }
        Vec::new()
    }

    fn unknown_fields(&self, kind: &str, object: &str, unknown: &[UnknownField]) -> Vec<ObjectError> {
        if unknown.is_empty() {
            return Vec::new();
        }
        let schema = kinds::schema(kind);
        let error = |field: &UnknownField| ObjectError {
            object: object.to_owned(),
            field: Some(field.path()),
            message: format!("unknown field; {}", FieldSuggestion { field, schema }),
        };
        unknown.iter().map(error).collect()
    }
}

/// The fields of a list of objects.
const LIST: &[&str] = &["apiVersion", "kind", "metadata", "items"];
