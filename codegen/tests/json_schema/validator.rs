//! Validator for the JSON schema keywords in the schemas of profiles and of outputs, except `pattern`: no test dependency
//! has regular expressions. `.ci/schema` repeats the tests with a complete validator.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use serde_json::Value;

/// Keywords that restrict nothing.
const ANNOTATIONS: [&str; 5] = ["$schema", "title", "description", "default", "format"];

/// Returns the paths of all values that the schema does not allow.
pub(super) fn validate(schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check(schema, value, "", &mut errors);
    errors
}

fn check(schema: &Value, value: &Value, path: &str, errors: &mut Vec<String>) {
    if schema == true {
        return;
    }
    let number = |key: &str| schema[key].as_i64();
    let matching =
        |forms: &Value| forms.as_array().unwrap().iter().filter(|form| validate(form, value).is_empty()).count();
    for (keyword, rule) in schema.as_object().expect("a schema") {
        let mut failed = false;
        match keyword.as_str() {
            "type" if !has_type(value, rule) => failed = true,
            "const" if value != rule => failed = true,
            "enum" if !rule.as_array().unwrap().contains(value) => failed = true,
            "anyOf" if matching(rule) == 0 => failed = true,
            "oneOf" if matching(rule) != 1 => failed = true,
            "minimum" if value.as_i64().is_some_and(|value| Some(value) < number("minimum")) => failed = true,
            "maximum" if value.as_i64().is_some_and(|value| Some(value) > number("maximum")) => failed = true,
            "minLength" if value == "" => failed = true,
            "maxLength" if value.as_str().is_some_and(|text| text.len() as i64 > number("maxLength").unwrap()) => {
                failed = true;
            }
            "minItems" if value.as_array().is_some_and(|items| (items.len() as i64) < number("minItems").unwrap()) => {
                failed = true;
            }
            "maxItems" if value.as_array().is_some_and(|items| items.len() as i64 > number("maxItems").unwrap()) => {
                failed = true;
            }
            "uniqueItems" if value.as_array().is_some_and(|items| has_equal(items)) => failed = true,
            "required" => {
                let Some(fields) = value.as_object() else { continue };
                for field in
                    rule.as_array().unwrap().iter().filter(|field| !fields.contains_key(field.as_str().unwrap()))
                {
                    errors.push(format!("{path}/{}: required", field.as_str().unwrap()));
                }
            }
            "properties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = rule.get(name) {
                        check(schema, value, &format!("{path}/{name}"), errors);
                    }
                }
            }
            "items" => {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(rule, item, &format!("{path}/{at}"), errors);
                }
            }
            "additionalProperties" => {
                let fields = value.as_object().into_iter().flatten();
                for (name, value) in fields.filter(|(name, _)| schema["properties"].get(name).is_none()) {
                    match rule == false {
                        true => errors.push(format!("{path}/{name}: additionalProperties")),
                        false => check(rule, value, &format!("{path}/{name}"), errors),
                    }
                }
            }
            "type" | "const" | "enum" | "anyOf" | "oneOf" | "minimum" | "maximum" | "minLength" | "maxLength"
            | "minItems" | "maxItems" | "uniqueItems" | "pattern" => {}
            other => assert!(ANNOTATIONS.contains(&other), "the keyword {other}"),
        }
        if failed {
            errors.push(format!("{path}: {keyword}"));
        }
    }
}

fn has_type(value: &Value, types: &Value) -> bool {
    let name = match types {
        Value::Array(types) => return types.iter().any(|name| has_type(value, name)),
        name => name.as_str().unwrap(),
    };
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the type {other}"),
    }
}

fn has_equal(items: &[Value]) -> bool {
    items.iter().enumerate().any(|(at, item)| items[..at].contains(item))
}
