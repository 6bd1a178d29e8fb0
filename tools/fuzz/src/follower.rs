//! A background task that follows the cluster. When the simulation has settled, the task's state equals the
//! scheduler's.

use std::sync::Arc;

use schedc_core::background::BackgroundClient;
use schedc_core::cache::Base;
use schedc_core::events::{ChangedObject, ObjectEvent};

use crate::injector_state::SharedInjectorState;

/// An update for the task.
enum FollowerUpdate {
    /// A node, and whether it exists.
    Node(String, bool),
    /// The uid of a pod, and its node.
    Pod(Arc<str>, Option<String>),
}

/// Follows the cluster and records its state.
pub(crate) async fn follow(injectors: SharedInjectorState, client: BackgroundClient) {
    let mut watch = client.watch(update);
    loop {
        let update = watch.next().await;
        let follower_state = &mut injectors.lock().follower_state;
        match update {
            FollowerUpdate::Node(node, true) => drop(follower_state.nodes.insert(node)),
            FollowerUpdate::Node(node, false) => drop(follower_state.nodes.remove(&node)),
            FollowerUpdate::Pod(pod, Some(node)) => drop(follower_state.pods.insert(pod, node)),
            FollowerUpdate::Pod(pod, None) => drop(follower_state.pods.remove(&pod)),
        }
    }
}

fn update(event: &ObjectEvent, base: &Base) -> Option<FollowerUpdate> {
    match &event.changed {
        ChangedObject::Node(old, new) => {
            let node = new.as_ref().or(old.as_ref())?;
            Some(FollowerUpdate::Node(base.interner.resolve(node.name).to_owned(), new.is_some()))
        }
        ChangedObject::Pod(old, new) => {
            let pod = &new.as_ref().or(old.as_ref())?.pod;
            let node = new.as_ref().and_then(|pod| pod.node).map(|node| base.interner.resolve(node).to_owned());
            Some(FollowerUpdate::Pod(pod.uid.0.clone(), node))
        }
        ChangedObject::Object(..) => None,
    }
}
