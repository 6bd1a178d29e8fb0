//! Originals: objects as an API server writes them, for extenders that receive whole objects.
//!
//! As in kube-scheduler's requests, they have no `apiVersion` and `kind`, and those of pods have no `managedFields`.
//! All other values are kept byte for byte.

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "manifests")]
use schedc_kinds::AnyObject;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Builds the original of an object that does not come from an API server. `None`: it is neither a node nor a pod.
#[cfg(feature = "manifests")]
pub fn original(object: &AnyObject) -> Option<Arc<str>> {
    let (json, is_pod) = match object {
        AnyObject::Node(_) => (object.to_json(), false),
        AnyObject::Pod(_) => (object.to_json(), true),
        _ => return None,
    };
    original_from_json(&json.ok()?.to_string(), is_pod).ok()
}

/// Builds the original from an object's JSON text.
///
/// # Errors
/// Returns an error if the text is not a JSON object.
pub fn original_from_json(json: &str, is_pod: bool) -> Result<Arc<str>, serde_json::Error> {
    without(json, &["apiVersion", "kind"], |key, value| match key {
        "metadata" if is_pod => Ok(Some(without(value, &["managedFields"], |_, _| Ok(None))?)),
        _ => Ok(None),
    })
    .map(Arc::from)
}

/// Returns the JSON text of an object's member. `None`: the member is missing.
///
/// # Errors
/// Returns an error if the text is not a JSON object.
pub fn member<'a>(json: &'a str, key: &str) -> Result<Option<&'a str>, serde_json::Error> {
    let Members(members) = serde_json::from_str(json)?;
    Ok(members.into_iter().find(|(of, _)| of == key).map(|(_, value)| value.get()))
}

/// Returns the JSON texts of a list's elements. `null` is an empty list.
///
/// # Errors
/// Returns an error if the text is not a JSON list.
pub fn elements(json: &str) -> Result<Vec<&str>, serde_json::Error> {
    let elements: Option<Vec<&RawValue>> = serde_json::from_str(json)?;
    Ok(elements.unwrap_or_default().into_iter().map(RawValue::get).collect())
}

/// Returns an object without the members `keys`. For each of the others, `other` returns a replacement of its value, or
/// `None` if the value is kept.
fn without(
    json: &str,
    keys: &[&str],
    other: impl Fn(&str, &str) -> Result<Option<String>, serde_json::Error>,
) -> Result<String, serde_json::Error> {
    let Members(members) = serde_json::from_str(json)?;
    let mut text = String::with_capacity(json.len());
    for (key, value) in members.iter().filter(|(key, _)| !keys.contains(&key.as_str())) {
        text.push(if text.is_empty() { '{' } else { ',' });
        text += &serde_json::to_string(key)?;
        text.push(':');
        match other(key, value.get())? {
            Some(other) => text += &other,
            None => text += value.get(),
        }
    }
    text += if text.is_empty() { "{}" } else { "}" };
    Ok(text)
}

/// The members of an object, in order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::api_object;

    #[test]
    fn originals_leave_out_what_kube_scheduler_leaves_out() {
        let json = r#"{"kind":"X","apiVersion":"v1","metadata":{"name":"a\u003c","managedFields":[{}],"uid":"u"},"spec":{ "b":1.0 }}"#;
        let pod = r#"{"metadata":{"name":"a\u003c","uid":"u"},"spec":{ "b":1.0 }}"#;
        let node = r#"{"metadata":{"name":"a\u003c","managedFields":[{}],"uid":"u"},"spec":{ "b":1.0 }}"#;
        assert_eq!(&*original_from_json(json, true).unwrap(), pod);
        assert_eq!(&*original_from_json(json, false).unwrap(), node);
        assert_eq!(&*original_from_json(r#"{"kind":"X"}"#, false).unwrap(), "{}");
        assert!(original_from_json("[]", false).is_err());
    }

    #[test]
    fn nodes_and_pods_have_originals() {
        let node = api_object("{kind: Node, metadata: {name: n1, annotations: {a: b}}}");
        assert_eq!(original(&node).as_deref(), Some(r#"{"metadata":{"annotations":{"a":"b"},"name":"n1"}}"#));
        assert_eq!(original(&api_object("{kind: Namespace, metadata: {name: n1}}")), None);
    }

    #[test]
    fn members_and_elements_are_json_texts() {
        let list = r#"{"kind":"NodeList","items":[{"metadata":{}}, {}]}"#;
        assert_eq!(elements(member(list, "items").unwrap().unwrap()).unwrap(), [r#"{"metadata":{}}"#, "{}"]);
        assert_eq!((member(list, "none").unwrap(), elements("null").unwrap()), (None, vec![]));
    }
}
