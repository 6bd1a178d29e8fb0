//! Writes what plugins want written beside everything else: of one object one thing at a time, in order.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::tasks::{Completed, Tasks, Work};
use crate::client::{ApiError, Client, ObjectRef};
use crate::handle::{WriteOperation, WriteRequest};

/// Objects of which something is being written, and what is to be written after that.
#[derive(Default)]
pub(super) struct ObjectWriter {
    busy: BTreeMap<ObjectRef, VecDeque<WriteRequest>>,
}

impl ObjectWriter {
    /// Writes, now or when what is being written is.
    pub(super) fn write(&mut self, request: WriteRequest, client: &impl Client, tasks: &mut impl Tasks) {
        match self.busy.get_mut(&request.object) {
            Some(next) => next.push_back(request),
            None => {
                self.busy.insert(request.object.clone(), VecDeque::new());
                spawn(request, client, tasks);
            }
        }
    }

    /// Something was written, or could not be.
    pub(super) fn completed(&mut self, object: &ObjectRef, client: &impl Client, tasks: &mut impl Tasks) {
        match self.busy.get_mut(object).and_then(VecDeque::pop_front) {
            Some(next) => spawn(next, client, tasks),
            None => drop(self.busy.remove(object)),
        }
    }

    /// Number of objects of which something is being written.
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

/// Does something to an object. Returns it as it is then; nothing of one that is deleted.
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
