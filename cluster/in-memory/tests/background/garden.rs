//! A plugin whose background tasks use all features of such tasks: they create a plant for each node, and water it
//! after a delay.

use std::collections::BTreeSet;
use std::time::Duration;

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::background::BackgroundClient;
use schedc_core::cache::Base;
use schedc_core::client::{ApiError, ApiReason, Client, ObjectRef};
use schedc_core::events::{ChangedObject, ObjectEvent};
use schedc_core::extension_points::{PermitPlugin, PermitResult, Placement, PostBindPlugin};
use schedc_core::handle::{Handle, WaitingPods, WriteOperation, WriteRequest};
use schedc_core::model::{PodSpec, Uid};
use schedc_core::plugin::CompileContext;
use serde_json::json;

/// Plugin that creates a plant for each node.
pub struct Gardener {
    handle: Handle,
}

impl Plugin for Gardener {
    const NAME: &'static str = "Gardener";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, handle: &Handle) -> Result<Self, String> {
        handle.spawn(keep_a_garden);
        Ok(Gardener { handle: handle.clone() })
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl PermitPlugin for Gardener {
    /// Lets every pod wait in Permit for five seconds.
    fn permit(&self, _: &NoArgs, placement: &Placement, _: &mut WaitingPods<'_>) -> PermitResult {
        self.handle.spawn(|client| allow_later(self.handle.clone(), placement.pod.uid.clone(), client));
        PermitResult::Wait(Duration::from_secs(60))
    }
}

impl PostBindPlugin for Gardener {
    fn post_bind(&self, _: &NoArgs, placement: &Placement) {
        let (object, pod) = (plant(&placement.node_name), placement.pod.uid.clone());
        let operation = WriteOperation::Patch(json!({"spec": {"visitor": &*placement.pod.name}}));
        self.handle.write(WriteRequest { object, operation, plugin: Self::NAME, pod });
    }
}

async fn allow_later(handle: Handle, pod: Uid, client: BackgroundClient) {
    client.sleep(Duration::from_secs(5)).await;
    handle.allow(pod, Gardener::NAME);
}

async fn keep_a_garden(client: BackgroundClient) {
    let mut watch = client.watch(node);
    let mut planted = BTreeSet::new();
    loop {
        let (node, exists) = watch.next().await;
        let is_new = if exists { planted.insert(node.clone()) } else { planted.remove(&node) };
        if !is_new {
            continue;
        }
        loop {
            let done =
                if exists { grow(&client, &plant(&node)).await } else { client.delete(&plant(&node), None).await };
            match done {
                Err(error) if error.reason == ApiReason::Timeout => client.sleep(Duration::from_secs(1)).await,
                _ => break,
            }
        }
    }
}

/// Returns the name of a node, and whether the node exists.
fn node(event: &ObjectEvent, base: &Base) -> Option<(String, bool)> {
    let ChangedObject::Node(old, new) = &event.changed else { return None };
    let node = new.as_ref().or(old.as_ref())?;
    Some((base.interner.resolve(node.name).to_owned(), new.is_some()))
}

/// Creates a plant and waters it after a delay.
async fn grow(client: &impl Client, plant: &ObjectRef) -> Result<(), ApiError> {
    match client.create(plant, &json!({"spec": {"watered": false}})).await {
        Err(error) if error.reason != ApiReason::AlreadyExists => return Err(error),
        _ => {}
    }
    client.sleep(Duration::from_secs(10)).await;
    client.patch(plant, &json!({"spec": {"watered": true}})).await?;
    let is_watered = client.get(plant).await?["spec"]["watered"] == true;
    client.patch_status(plant, &json!({"status": {"blooms": is_watered}})).await.map(drop)
}

fn plant(name: &str) -> ObjectRef {
    let (api_version, kind) = ("example.com/v1".into(), "Plant".into());
    ObjectRef { api_version, kind, namespace: "".into(), name: name.into() }
}
