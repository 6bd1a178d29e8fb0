//! Responses of extenders: the result types of `extender/v1`.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::case_insensitive::case_insensitive;

/// Reasons for rejections, by node name.
pub(crate) type Reasons = BTreeMap<String, Option<String>>;

case_insensitive! {
    /// `ExtenderFilterResult`
    Filtered {
        nodes: Nodes = "Nodes",
        node_names: Vec<Option<String>> = "NodeNames",
        failed: Reasons = "FailedNodes",
        failed_unresolvable: Reasons = "FailedAndUnresolvableNodes",
        error: String = "Error",
    }
    /// `NodeList`, of which only names are read.
    Nodes { items: Vec<Node> = "items", }
    /// A `Node`
    Node { metadata: Metadata = "metadata", }
    /// An `ObjectMeta`
    Metadata { name: String = "name", }
    /// `HostPriority`
    HostPriority {
        host: String = "Host",
        score: i64 = "Score",
    }
    /// `ExtenderPreemptionResult`
    Preempted { victims: BTreeMap<String, Option<Victims>> = "NodeNameToMetaVictims", }
    /// `MetaVictims`
    Victims {
        pods: Vec<Option<Victim>> = "Pods",
        violations: i64 = "NumPDBViolations",
    }
    /// `MetaPod`
    Victim { uid: String = "UID", }
    /// `ExtenderBindingResult`
    Bound { error: String = "Error", }
}

/// Parses the first value of a response, and ignores the rest, as Go's decoder does. `null` counts as an empty result.
pub(crate) fn read<T: DeserializeOwned + Default>(json: &[u8]) -> Result<T, String> {
    let text = String::from_utf8_lossy(json);
    let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Option<T>>();
    match values.next() {
        Some(Ok(answer)) => Ok(answer.unwrap_or_default()),
        Some(Err(error)) => Err(format!("its response cannot be read: {error}")),
        None => Err("its response is empty".to_owned()),
    }
}

impl Filtered {
    /// Returns the names of the remaining nodes, and removes them from this result. As in kube-scheduler, `NodeNames`
    /// is read if the extender received names (`by_name`) and returned this field. Otherwise `Nodes` is read; without
    /// `Nodes`, no node remains.
    pub(crate) fn remaining(&mut self, by_name: bool) -> Vec<String> {
        match (self.node_names.take(), self.nodes.take()) {
            (Some(names), _) if by_name => names.into_iter().map(Option::unwrap_or_default).collect(),
            (_, Some(nodes)) => nodes.items.unwrap_or_default().into_iter().map(Node::name).collect(),
            (_, None) => Vec::new(),
        }
    }
}

impl Node {
    fn name(self) -> String {
        self.metadata.unwrap_or_default().name.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_match_in_any_case() {
        for json in [
            r#"{"NodeNames":["a"],"FailedNodes":{"B":"no"},"Error":"e"}"#,
            r#"{"nodenames":["a"],"failedNodes":{"B":"no"},"error":"e","Other":[{}]}"#,
            r#"{"nodeNames":["x"],"NODENAMES":["a"],"FAILEDNODES":{"B":"no"},"eRROR":"e"} and more"#,
        ] {
            let mut read: Filtered = read(json.as_bytes()).unwrap();
            assert_eq!(read.remaining(true), ["a"]);
            assert_eq!(
                read.failed,
                Some(Reasons::from([("B".into(), Some("no".into()))])),
                "node names are case-sensitive"
            );
            assert_eq!(read.error.as_deref(), Some("e"));
        }
        let json = r#"{"nodes":{"Metadata":{},"ITEMS":[{"Metadata":{"NAME":"a","labels":null},"spec":{}},{}]}}"#;
        assert_eq!(read::<Filtered>(json.as_bytes()).unwrap().remaining(false), ["a", ""]);
    }

    #[test]
    fn null_equals_absent() {
        for json in ["null", "{}", r#"{"Nodes":null,"NodeNames":null,"FailedNodes":null,"Error":null}"#] {
            let mut read: Filtered = read(json.as_bytes()).unwrap();
            assert!(read.remaining(true).is_empty() && read.failed.is_none() && read.error.is_none(), "{json}");
        }
        assert!(read::<Vec<Option<HostPriority>>>(b"null").unwrap().is_empty());
        assert!(
            read::<Filtered>(br#"{"Error":"a","error":null}"#).unwrap().error.is_some(),
            "a later null does not reset a value"
        );
    }

    #[test]
    fn names_take_precedence_over_nodes() {
        let both = br#"{"Nodes":{"items":[{"metadata":{"name":"a"}}]},"NodeNames":["b"]}"#;
        assert_eq!(read::<Filtered>(both).unwrap().remaining(true), ["b"]);
        assert_eq!(read::<Filtered>(both).unwrap().remaining(false), ["a"]);
        let names = br#"{"NodeNames":["b"]}"#;
        assert!(read::<Filtered>(names).unwrap().remaining(false).is_empty(), "names are not read");
    }

    #[test]
    fn malformed_responses_are_errors() {
        for (json, error) in [
            ("", "its response is empty"),
            ("{", "its response cannot be read: EOF while parsing an object at line 1 column 1"),
            ("<html>", "its response cannot be read: expected value at line 1 column 1"),
            (
                r#"{"NodeNames":"a"}"#,
                "its response cannot be read: invalid type: string \"a\", expected a sequence at line 1 column 16",
            ),
        ] {
            assert_eq!(read::<Filtered>(json.as_bytes()).unwrap_err(), error);
        }
        let score = read::<Vec<Option<HostPriority>>>(br#"[{"Host":"a","Score":1.5}]"#);
        assert!(score.unwrap_err().contains("invalid type: floating point `1.5`, expected i64"));
    }
}
