//! Writes what plugins want written beside everything else: of one object one thing at a time, in order.

use std::collections::{BTreeMap, VecDeque};

use super::tasks::{Completed, Tasks, Work};
use crate::client::{ApiError, Client, ObjectRef};
use crate::handle::{Deed, Errand};

/// Objects of which something is being written, and what is to be written after that.
#[derive(Default)]
pub(super) struct ObjectWriter {
    busy: BTreeMap<ObjectRef, VecDeque<Errand>>,
}

impl ObjectWriter {
    /// Writes, now or when what is being written is.
    pub(super) fn write(&mut self, errand: Errand, client: &impl Client, tasks: &mut impl Tasks) {
        match self.busy.get_mut(&errand.object) {
            Some(next) => next.push_back(errand),
            None => {
                self.busy.insert(errand.object.clone(), VecDeque::new());
                spawn(errand, client, tasks);
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

fn spawn(errand: Errand, client: &impl Client, tasks: &mut impl Tasks) {
    let client = client.clone();
    tasks.spawn(async move {
        let result = run(&errand, &client).await;
        Completed(Work::Written { errand, result })
    });
}

async fn run(errand: &Errand, client: &impl Client) -> Result<(), ApiError> {
    let object = &errand.object;
    match &errand.deed {
        Deed::Create(manifest) => client.create(object, manifest).await.map(drop),
        Deed::Patch(patch) => client.patch(object, patch).await.map(drop),
        Deed::PatchStatus(patch) => client.patch_status(object, patch).await.map(drop),
        Deed::Delete(uid) => client.delete(object, uid.as_ref()).await,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::embedded::{Agreeing, Inline};
    use crate::model::Uid;

    fn errand(name: &str, deed: Deed) -> Errand {
        let object = ObjectRef {
            api_version: "example.com/v1".into(),
            kind: "Shift".into(),
            namespace: "default".into(),
            name: name.into(),
        };
        Errand { object, deed, plugin: "NightShift", pod: Uid("p".into()) }
    }

    /// What was written next, and what came of it.
    fn next(tasks: &mut Inline) -> Option<(Errand, Result<(), ApiError>)> {
        match tasks.pop()?.0 {
            Work::Written { errand, result } => Some((errand, result)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn of_one_object_one_thing_is_written_at_a_time() {
        let (client, mut tasks, mut writer) = (Agreeing, Inline::default(), ObjectWriter::default());
        let [patched, deleted] = [Deed::Patch(json!({})), Deed::Delete(None)].map(|deed| errand("a", deed));
        let created = errand("b", Deed::Create(json!({})));
        for errand in [&patched, &deleted, &created] {
            writer.write(errand.clone(), &client, &mut tasks);
        }
        let (first, result) = next(&mut tasks).unwrap();
        assert_eq!(first, patched);
        assert_eq!(result.unwrap_err().message, "this cluster cannot patch Shift a");
        assert_eq!(next(&mut tasks).map(|(errand, _)| errand), Some(created.clone()));
        assert!(next(&mut tasks).is_none(), "the other waits");
        writer.completed(&first.object, &client, &mut tasks);
        assert_eq!(next(&mut tasks).map(|(errand, _)| errand), Some(deleted));
        assert_eq!(writer.len(), 2);
        writer.completed(&first.object, &client, &mut tasks);
        writer.completed(&created.object, &client, &mut tasks);
        assert_eq!(writer.len(), 0);
    }
}
