//! Nodes and pods at the API server.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::list;
use crate::resources::Resource;
use crate::transport::Transport;

/// Names of all nodes, and uids of the pods that the scheduler should have: all assigned pods, and the pending pods
/// with its scheduler names.
#[derive(Debug, Default)]
pub(super) struct ApiServerSnapshot {
    pub(super) nodes: BTreeSet<String>,
    pub(super) pods: BTreeSet<String>,
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

/// Lists all objects of a kind.
async fn list<Item: DeserializeOwned>(
    transport: &impl Transport,
    kind: &str,
    mut each: impl FnMut(Item),
) -> Result<(), String> {
    let failed = |why: &str| format!("{kind}s could not be listed: {why}");
    let resource = Resource::of(kind).ok_or_else(|| failed("the kind is unknown"))?;
    let listed = list::list(transport, resource, |items: Vec<Item>| items.into_iter().for_each(&mut each)).await;
    listed.map(drop).map_err(|error| failed(&error.to_string()))
}
