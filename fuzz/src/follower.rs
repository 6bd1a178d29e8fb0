//! A background task that follows the cluster: when all has settled, it knows what the scheduler knows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schedc_core::background::BackgroundClient;
use schedc_core::cache::Base;
use schedc_core::events::{ChangedObject, ObjectEvent};

use crate::ledger::SharedLedger;

/// What the task knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Followed {
    /// Nodes.
    pub(crate) nodes: BTreeSet<String>,
    /// By the uids of pods that have a node: which.
    pub(crate) pods: BTreeMap<Arc<str>, String>,
}

/// What it is told.
enum Told {
    Node(String, bool),
    Pod(Arc<str>, Option<String>),
}

/// Takes down in the ledger what happens.
pub(crate) async fn follow(ledger: SharedLedger, client: BackgroundClient) {
    let mut watch = client.watch(told);
    loop {
        let told = watch.next().await;
        let followed = &mut ledger.open().followed;
        match told {
            Told::Node(node, true) => drop(followed.nodes.insert(node)),
            Told::Node(node, false) => drop(followed.nodes.remove(&node)),
            Told::Pod(pod, Some(node)) => drop(followed.pods.insert(pod, node)),
            Told::Pod(pod, None) => drop(followed.pods.remove(&pod)),
        }
    }
}

fn told(happened: &ObjectEvent, base: &Base) -> Option<Told> {
    match &happened.changed {
        ChangedObject::Node(old, new) => {
            let node = new.as_ref().or(old.as_ref())?;
            Some(Told::Node(base.interner.resolve(node.name).to_owned(), new.is_some()))
        }
        ChangedObject::Pod(old, new) => {
            let pod = &new.as_ref().or(old.as_ref())?.pod;
            let node = new.as_ref().and_then(|pod| pod.node).map(|node| base.interner.resolve(node).to_owned());
            Some(Told::Pod(pod.uid.0.clone(), node))
        }
        ChangedObject::Object(..) => None,
    }
}
