//! klog's text: `I1122 12:15:01.123456       1 mod.rs:12] "What" key="value"`.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::{Entry, Severity};

/// Formats a line of process `id`. Times are in UTC.
pub(super) fn line(entry: &Entry, id: u32) -> String {
    let severity = match entry.severity {
        Severity::Info => 'I',
        Severity::Warning => 'W',
        Severity::Error => 'E',
    };
    let nanoseconds = i128::try_from(entry.time.as_nanos()).unwrap_or_default();
    let time = Timestamp::from_nanosecond(nanoseconds).unwrap_or_default();
    let time = time.strftime("%m%d %H:%M:%S%.6f");
    let mut line = format!("{severity}{time} {id:>7} {}:{}] ", entry.file(0), entry.line);
    quote(&mut line, &entry.message);
    for (name, value) in &entry.fields {
        line.push_str(&format!(" {name}="));
        match value {
            Value::String(text) if text.contains('\n') => {
                line.push_str(&format!("<\n\t{}\n >", text.trim_end().replace('\n', "\n\t")));
            }
            Value::String(text) => quote(&mut line, text),
            value => line.push_str(&value.to_string()),
        }
    }
    line.push('\n');
    line
}

/// Quotes a text as Go does.
fn quote(line: &mut String, text: &str) {
    line.push('"');
    for c in text.chars() {
        match c {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            c if c.is_ascii_control() => line.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_control() => line.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => line.push(c),
        }
    }
    line.push('"');
}
