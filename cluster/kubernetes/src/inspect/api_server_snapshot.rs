//! Nodes and pods at the API server.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::resources::Resource;
use crate::transport::{ApiRequest, RequestClass, StatusError, Transport, Verb, call_with_retry_after};
use crate::watch::query::query;
use crate::watch::reflector_state::ListWatchRequest;

/// Nodes by name, and by uid the pods of the scheduler: assigned ones, and pending ones with its scheduler name.
#[derive(Debug, Default)]
pub(super) struct ApiServerSnapshot {
    pub(super) nodes: BTreeSet<String>,
    pub(super) pods: BTreeSet<String>,
}

#[derive(Deserialize)]
struct List<Item> {
    metadata: ListMeta,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct ListMeta {
    #[serde(rename = "continue")]
    rest: Option<Box<str>>,
}

#[derive(Deserialize)]
struct Node {
    metadata: Meta,
}

#[derive(Deserialize)]
struct Pod {
    metadata: Meta,
    spec: Spec,
}

#[derive(Deserialize)]
struct Meta {
    name: String,
    #[serde(default)]
    uid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
    scheduler_name: Option<String>,
}

impl ApiServerSnapshot {
    pub(super) async fn list(transport: &impl Transport, schedulers: &[&str]) -> Result<Self, String> {
        let mut actual = ApiServerSnapshot::default();
        list(transport, "Node", |node: Node| {
            actual.nodes.insert(node.metadata.name);
        })
        .await?;
        let is_ours = |spec: &Spec| {
            let has_node = spec.node_name.as_ref().is_some_and(|node| !node.is_empty());
            has_node || spec.scheduler_name.as_deref().is_some_and(|name| schedulers.contains(&name))
        };
        list(transport, "Pod", |pod: Pod| {
            if is_ours(&pod.spec) {
                actual.pods.insert(pod.metadata.uid);
            }
        })
        .await?;
        Ok(actual)
    }
}

/// Lists all objects of a kind in pages, with the same query as reflectors.
async fn list<Item: DeserializeOwned>(
    transport: &impl Transport,
    kind: &str,
    mut each: impl FnMut(Item),
) -> Result<(), String> {
    let failed = |why: &str| format!("{kind}s could not be listed: {why}");
    let resource = Resource::of(kind).ok_or_else(|| failed("the kind is unknown"))?;
    let mut rest = None;
    loop {
        let call = ApiRequest {
            verb: Verb::Get,
            path: query(resource, &ListWatchRequest::Page { rest }, 0),
            body: Bytes::new(),
        };
        let answer = call_with_retry_after(transport, RequestClass::Watch, &call)
            .await
            .map_err(|error| failed(&error.into_message()))?;
        if !answer.is_success() {
            return Err(failed(&StatusError::new(&answer).message));
        }
        let page: List<Item> = serde_json::from_slice(&answer.body).map_err(|error| failed(&error.to_string()))?;
        page.items.into_iter().for_each(&mut each);
        rest = page.metadata.rest.filter(|rest| !rest.is_empty());
        if rest.is_none() {
            return Ok(());
        }
    }
}
