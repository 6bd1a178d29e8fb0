//! Paths and queries of list and watch requests.

use super::reflector_state::ListWatchRequest;
use crate::resources::Resource;

/// Number of objects on a page: client-go's `defaultPageSize`.
const PAGE_SIZE: u32 = 500;

/// Field selector that excludes finished pods: `status.phase!=Succeeded,status.phase!=Failed`.
const UNFINISHED: &str = "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

/// Returns the path and query of a request. The server ends a watch after `seconds`.
pub fn query(resource: &Resource, request: &ListWatchRequest, seconds: u32) -> String {
    let mut parts = Vec::new();
    let is_list = matches!(request, ListWatchRequest::Page { .. });
    if !is_list {
        parts.push("allowWatchBookmarks=true".to_owned());
    }
    if let ListWatchRequest::Page { continue_token: Some(token) } = request {
        parts.push(format!("continue={}", escaped(token)));
    }
    if resource.kind == "Pod" {
        parts.push(format!("fieldSelector={UNFINISHED}"));
    }
    match request {
        ListWatchRequest::Page { .. } => parts.push(format!("limit={PAGE_SIZE}")),
        ListWatchRequest::Stream => {
            parts.push("resourceVersionMatch=NotOlderThan".to_owned());
            parts.push("sendInitialEvents=true".to_owned());
        }
        ListWatchRequest::Watch { version } => parts.push(format!("resourceVersion={}", escaped(version))),
    }
    if !is_list {
        parts.push(format!("timeoutSeconds={seconds}"));
        parts.push("watch=true".to_owned());
    }
    format!("{}?{}", resource.all(), parts.join("&"))
}

/// Encodes a query value: all but letters, digits and `-_.~` are percent-encoded.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let escape = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_str};

    use super::*;
    use crate::resources::RESOURCES;

    #[test]
    fn queries_contain_page_and_watch_parameters() {
        let pods = Resource::of("Pod").unwrap();
        let nodes = Resource::of("Node").unwrap();
        assert_eq!(query(nodes, &ListWatchRequest::Page { continue_token: None }, 300), "/api/v1/nodes?limit=500");
        assert_eq!(
            query(pods, &ListWatchRequest::Page { continue_token: Some("a+b/c==".into()) }, 300),
            format!("/api/v1/pods?continue=a%2Bb%2Fc%3D%3D&fieldSelector={UNFINISHED}&limit=500")
        );
        assert_eq!(
            query(nodes, &ListWatchRequest::Watch { version: "12".into() }, 300),
            "/api/v1/nodes?allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=300&watch=true"
        );
    }

    /// The first requests equal kube-scheduler's; the recording omits timeouts.
    #[test]
    fn the_first_watches_equal_those_of_kube_scheduler() {
        let recording = include_str!("../../tests/recordings/requests.jsonl");
        let requests = recording.lines().map(|line| from_str::<Value>(line).unwrap());
        let watches = requests.filter(|request| request["verb"] == "watch");
        let mut recorded: Vec<String> = watches.map(|r| r["path"].as_str().unwrap().to_owned()).collect();
        recorded.sort();
        let watched = RESOURCES.iter().filter(|resource| resource.is_watched());
        let mut queries: Vec<_> = watched
            .map(|resource| query(resource, &ListWatchRequest::Stream, 300).replace("timeoutSeconds=300&", ""))
            .collect();
        queries.sort();
        assert_eq!(queries, recorded);
    }
}
