//! JSON logs as Kubernetes components write them: one object per line.

use serde_json::{Value, json};

use super::{Entry, Severity};

/// Formats a line: time in milliseconds, caller, message, verbosity and fields.
pub(super) fn line(entry: &Entry) -> String {
    let caller = format!("{}:{}", entry.file(1), entry.line);
    let (milliseconds, microseconds) = (entry.time.as_millis(), entry.time.subsec_micros() % 1000);
    let mut line = format!(
        r#"{{"ts":{milliseconds}.{microseconds:03},"caller":{},"msg":{}"#,
        Value::from(caller),
        Value::from(entry.message.as_str()),
    );
    if entry.severity != Severity::Error {
        line.push_str(&format!(r#","v":{}"#, entry.verbosity));
    }
    for (name, value) in &entry.fields {
        line.push_str(&format!(",{}:{}", Value::from(*name), object(name, value)));
    }
    line.push_str("}\n");
    line
}

/// Returns a field's value. Pods become objects with name and namespace.
fn object(name: &str, value: &Value) -> Value {
    match (name, value.as_str().and_then(|text| text.split_once('/'))) {
        ("pod", Some((namespace, name))) => json!({"name": name, "namespace": namespace}),
        _ => value.clone(),
    }
}
