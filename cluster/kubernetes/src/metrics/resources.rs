//! Resource requests of each pod: `/metrics/resources`.

use std::sync::Arc;

use schedc_core::erased::AnyScheduler;
use schedc_core::intern::Symbol;
use schedc_core::model::Pod;

use super::exposition::Exposition;
use super::table;

/// Requests of all assigned pods, and of the pending pods of this scheduler.
#[derive(Clone, Debug, Default)]
pub(super) struct PodRequests(Vec<Request>);

#[derive(Clone, Debug)]
struct Request {
    pod: Arc<Pod>,
    node: Arc<str>,
    scheduler: Arc<str>,
    /// Requests of resources other than cpu, memory and ephemeral storage, by name.
    scalars: Vec<(Arc<str>, i64)>,
}

impl PodRequests {
    pub(super) fn of(scheduler: &dyn AnyScheduler) -> Self {
        let interner = &scheduler.base().interner;
        let request = |pod: &Arc<Pod>, node: Symbol| Request {
            pod: pod.clone(),
            node: interner.share(node),
            scheduler: interner.share(pod.spec.scheduler_name),
            scalars: pod.spec.requests.scalars.iter().map(|&(name, amount)| (interner.share(name), amount)).collect(),
        };
        let placed = scheduler.pods().map(|(pod, node, _)| request(pod, node));
        // A pod that is being bound is both assigned and pending.
        let waits = |pod: &&Arc<Pod>| scheduler.pod(&pod.uid).is_none();
        let pending = scheduler.pending_pods().filter(waits).map(|pod| request(pod, Symbol::EMPTY));
        PodRequests(placed.chain(pending).collect())
    }

    pub(super) fn write(&self, exposition: &mut Exposition<'_>) {
        for Request { pod, node, scheduler, scalars } in &self.0 {
            let requests = &pod.spec.requests;
            let priority = pod.spec.priority.to_string();
            let mut write = |resource: &str, unit: &str, amount: f64| {
                if amount != 0.0 {
                    let labels = [&pod.namespace, node, &pod.name, &*priority, resource, scheduler, unit];
                    exposition.number(&table::POD_RESOURCE_REQUEST, &labels, amount);
                }
            };
            write("cpu", "cores", requests.milli_cpu as f64 / 1000.0);
            write("memory", "bytes", requests.memory as f64);
            write("ephemeral-storage", "bytes", requests.ephemeral_storage as f64);
            scalars.iter().for_each(|(name, amount)| write(name, unit(name), *amount as f64));
        }
    }
}

fn unit(resource: &str) -> &'static str {
    if resource.starts_with("hugepages-") {
        "bytes"
    } else if resource.starts_with("attachable-volumes-") {
        "integer"
    } else {
        ""
    }
}
