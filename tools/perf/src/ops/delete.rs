//! The operation that deletes pods.

use std::collections::VecDeque;

use schedc_in_memory::server::{Key, Request};
use schedc_objects::AnyObject;

use super::interval;
use crate::Error;
use crate::background::{BackgroundTask, PeriodicTask};
use crate::config::DeletePods;
use crate::probe::has;
use crate::run::Runner;

impl Runner<'_> {
    pub(super) fn delete_pods(&mut self, op: &DeletePods) -> Result<(), Error> {
        let pods = self.simulator.server.list_in("Pod", &op.namespace);
        let is_selected = |object: &AnyObject| matches!(object, AnyObject::Pod(pod) if has(&op.label_selector, pod));
        let pods: VecDeque<Key> = pods.filter(|object| is_selected(object)).map(|object| Key::of(object)).collect();
        if op.delete_pods_per_second == 0 {
            for pod in pods {
                self.request(Request::Delete(pod, None)).map_err(Error::new)?;
            }
            return Ok(());
        }
        if pods.is_empty() {
            return Ok(());
        }
        let interval = interval(op.delete_pods_per_second);
        let time = interval.saturating_mul(i64::try_from(pods.len()).unwrap_or(i64::MAX));
        self.background.push(PeriodicTask::new(self.clock.now(), interval, BackgroundTask::Deletions { pods }));
        match op.skip_wait_to_completion {
            true => Ok(()),
            false => self.run_until(time, |_| false).map(drop),
        }
    }
}
