//! Arguments of plugins.

use serde_json::{Value, json};

use super::{described, table};
use crate::schema::{Format, Schema};

/// Pattern of a DNS subdomain.
pub(super) const SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/// Pattern of the name in a qualified name.
const NAME: &str = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";

/// Pattern of one number with its unit in a duration.
const DURATION: &str = "([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|\u{b5}s|\u{3bc}s|ms|s|m|h)";

pub(super) fn schema(schema: &Schema) -> Value {
    match schema {
        Schema::Table { fields } => {
            let required: Vec<&str> =
                fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
            let fields =
                fields.iter().map(|field| (field.name.as_str(), described(self::schema(&field.schema), &field.doc)));
            table(fields, &required)
        }
        Schema::Integer { min, max } => integer(*min, *max),
        Schema::String { format } => string(*format),
        Schema::Boolean => json!({ "type": "boolean" }),
        Schema::Enum { values } => json!({ "enum": values }),
        Schema::List { element, min, max, unique, .. } => {
            let mut list = json!({ "type": "array", "items": self::schema(element) });
            if let Some(list) = list.as_object_mut() {
                list.extend(min.map(|min| ("minItems".to_owned(), min.into())));
                list.extend(max.map(|max| ("maxItems".to_owned(), max.into())));
                // A schema cannot express that one field differs in all elements.
                let are_elements_unique = unique.as_ref().is_some_and(String::is_empty);
                list.extend(are_elements_unique.then(|| ("uniqueItems".to_owned(), true.into())));
            }
            list
        }
    }
}

pub(super) fn integer(min: Option<i64>, max: Option<i64>) -> Value {
    let mut schema = json!({ "type": "integer" });
    if let Some(schema) = schema.as_object_mut() {
        schema.extend(min.map(|min| ("minimum".to_owned(), min.into())));
        // Tools that read numbers as floats cannot represent the largest integers.
        schema.extend(max.filter(|max| *max < i64::MAX).map(|max| ("maximum".to_owned(), max.into())));
    }
    schema
}

pub(super) fn string(format: Format) -> Value {
    match format {
        Format::Any => json!({ "type": "string" }),
        Format::NonEmpty => json!({ "type": "string", "minLength": 1 }),
        Format::QualifiedName => json!({ "type": "string", "pattern": format!("^({SUBDOMAIN}/)?{NAME}$") }),
        Format::NamePrefix => json!({ "type": "string", "pattern": format!("^{NAME}$") }),
        Format::LabelValue => json!({ "type": "string", "pattern": format!("^({NAME})?$") }),
        Format::Duration => json!({ "type": "string", "pattern": format!("^\\+?(0|({DURATION})+)$") }),
    }
}
