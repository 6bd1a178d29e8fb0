//! Fire-and-forget writes of plugins: one at a time for each object, in order.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::tasks::{Completed, Tasks, Work};
use crate::plugin_api::client::{ApiError, Client, ObjectRef};
use crate::plugin_api::handle::{WriteOperation, WriteRequest};

/// Objects with a write in progress, and their next writes.
#[derive(Default)]
pub(super) struct ObjectWriter {
    busy: BTreeMap<ObjectRef, VecDeque<WriteRequest>>,
}

impl ObjectWriter {
    /// Starts a write, or queues it behind the one in progress.
    pub(super) fn write(&mut self, request: WriteRequest, client: &impl Client, tasks: &mut impl Tasks) {
        match self.busy.get_mut(&request.object) {
            Some(next) => next.push_back(request),
            None => {
                self.busy.insert(request.object.clone(), VecDeque::new());
                spawn(request, client, tasks);
            }
        }
    }

    /// Handles a completed write, successful or not.
    pub(super) fn completed(&mut self, object: &ObjectRef, client: &impl Client, tasks: &mut impl Tasks) {
        match self.busy.get_mut(object).and_then(VecDeque::pop_front) {
            Some(next) => spawn(next, client, tasks),
            None => drop(self.busy.remove(object)),
        }
    }

    /// Returns the number of objects with a write in progress.
    pub(super) fn len(&self) -> usize {
        self.busy.len()
    }
}

fn spawn(request: WriteRequest, client: &impl Client, tasks: &mut impl Tasks) {
    let client = client.clone();
    tasks.spawn(async move {
        let result = run(&request.object, &request.operation, &client).await.map(drop);
        Completed(Work::Written { request, result })
    });
}

/// Runs an operation on an object. Returns the resulting object; `null` after a deletion.
pub(super) async fn run(
    object: &ObjectRef,
    operation: &WriteOperation,
    client: &impl Client,
) -> Result<Value, ApiError> {
    match operation {
        WriteOperation::Create(manifest) => client.create(object, manifest).await,
        WriteOperation::Patch(patch) => client.patch(object, patch).await,
        WriteOperation::PatchStatus(patch) => client.patch_status(object, patch).await,
        WriteOperation::Delete(uid) => client.delete(object, uid.as_ref()).await.map(|()| Value::Null),
    }
}
