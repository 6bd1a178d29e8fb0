//! Objects as columns: a template, and a list of values for each field that differs.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

/// An error in columns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ColumnError {
    /// There are no columns.
    None,
    /// Columns have different lengths.
    Lengths { column: String, length: usize, first: String, expected: usize },
    /// A column is not named by a JSON pointer.
    NoPointer { column: String },
    /// The template has another value where the column needs an object or a longer list.
    NoPlace { column: String },
}

impl fmt::Display for ColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnError::None => f.write_str("there are no columns; add one with the names, `/metadata/name`"),
            ColumnError::Lengths { column, length, first, expected } => write!(
                f,
                "the column `{column}` has {length} values, and `{first}` has {expected}; each needs one for every object"
            ),
            ColumnError::NoPointer { column } => {
                write!(f, "the column `{column}` has no path such as `/metadata/name`; begin each field with `/`")
            }
            ColumnError::NoPlace { column } => write!(
                f,
                "the template has no place for the column `{column}`: its path needs objects, or list elements that exist"
            ),
        }
    }
}

/// Returns an object for each row: the template, with the value of each column at its JSON pointer. `null` leaves the
/// field as it is.
pub(crate) fn rows(template: &Value, columns: &BTreeMap<String, Vec<Value>>) -> Result<Vec<Value>, ColumnError> {
    let (first, expected) =
        columns.iter().next().map(|(name, values)| (name, values.len())).ok_or(ColumnError::None)?;
    let mut rows = vec![template.clone(); expected];
    for (column, values) in columns {
        if values.len() != expected {
            let (column, first) = (column.clone(), first.clone());
            return Err(ColumnError::Lengths { column, length: values.len(), first, expected });
        }
        let path = column.strip_prefix('/').ok_or_else(|| ColumnError::NoPointer { column: column.clone() })?;
        let path: Vec<String> = path.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
        for (row, value) in rows.iter_mut().zip(values).filter(|(_, value)| !value.is_null()) {
            *place(row, &path).ok_or_else(|| ColumnError::NoPlace { column: column.clone() })? = value.clone();
        }
    }
    Ok(rows)
}

/// Returns the value at a path. Missing objects on the way are created.
fn place<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, part| {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        match value {
            Value::Object(fields) => Some(fields.entry(part.as_str()).or_insert(Value::Null)),
            Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn columns(columns: Value) -> BTreeMap<String, Vec<Value>> {
        serde_json::from_value(columns).unwrap()
    }

    #[test]
    fn a_row_is_the_template_with_its_values() {
        let template = json!({"kind": "Pod", "spec": {"containers": [{"name": "c"}]}});
        let columns = columns(json!({
            "/metadata/name": ["a", "b"],
            "/metadata/labels/example.com~1app": [null, "web"],
            "/spec/containers/0/resources/requests/cpu": ["1", 2],
        }));
        let requests = |cpu: Value| json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]});
        let expected = [
            json!({"kind": "Pod", "metadata": {"name": "a"}, "spec": requests("1".into())}),
            json!({
                "kind": "Pod",
                "metadata": {"name": "b", "labels": {"example.com/app": "web"}},
                "spec": requests(2.into()),
            }),
        ];
        assert_eq!(rows(&template, &columns).unwrap(), expected);
    }

    #[test]
    fn wrong_columns_are_errors() {
        let message = |given: Value| rows(&json!({"kind": "Pod"}), &columns(given)).unwrap_err().to_string();
        assert!(message(json!({})).contains("there are no columns"));
        assert!(message(json!({"/a": [1], "/b": [1, 2]})).contains("`/b` has 2 values, and `/a` has 1"));
        assert!(message(json!({"name": ["a"]})).contains("begin each field with `/`"));
        assert!(message(json!({"/kind/name": ["a"]})).contains("no place for the column `/kind/name`"));
    }
}
