//! An unschedulable pod, and changes of the cluster.

use std::collections::BTreeMap;

use schedc_core::events::EventResource;
use schedc_core::hints::PluginSet;
use schedc_core::profile::Profile;

use crate::hints::scheduler::all::Pipeline;
use crate::hints::test_cluster::{TestCluster, Verdict};

/// An object with this name is added or updated, or deleted if there is no manifest.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) resource: EventResource,
    pub(crate) name: String,
    pub(crate) manifest: Option<String>,
}

/// A step that makes a pod schedulable without an event that queues it.
#[derive(Debug)]
pub(crate) struct Miss {
    /// The plugins that rejected the pod.
    pub(crate) by: Vec<&'static str>,
    /// The pod, before the step.
    pub(crate) pod: String,
    pub(crate) step: Step,
    /// The manifests of all objects before the step, by name, including the pod.
    pub(crate) known: BTreeMap<String, String>,
}

/// Applies all steps. The pod is attempted after the steps in `initial`, whenever an event of a later step queues it,
/// and after a known miss. Returns the number of steps whose events queued the pod, or the first unknown miss.
pub(crate) fn wakes(
    pod: &str,
    initial: &[Step],
    steps: &[Step],
    is_known: impl Fn(&Miss) -> bool,
) -> Result<usize, Box<Miss>> {
    let mut cluster = TestCluster::new(pod);
    let mut known: BTreeMap<String, String> = BTreeMap::from([("me".to_owned(), pod.to_owned())]);
    let mut apply_step = |cluster: &mut TestCluster, step: &Step| {
        let before = known.clone();
        let old = match &step.manifest {
            Some(new) => known.insert(step.name.clone(), new.clone()),
            None => known.remove(&step.name),
        };
        let events = match old == step.manifest {
            true => Vec::new(),
            false => cluster.apply(step.resource, old.as_deref(), step.manifest.as_deref()),
        };
        (before, events)
    };
    for step in initial {
        apply_step(&mut cluster, step);
    }
    let mut wakes = 0;
    let mut parked = rejectors(cluster.attempt());
    for step in steps {
        let (known, events) = apply_step(&mut cluster, step);
        match parked {
            None => parked = rejectors(cluster.attempt()),
            Some(by) if events.iter().any(|event| cluster.wakes(by, *event)) => {
                wakes += 1;
                parked = rejectors(cluster.attempt());
            }
            Some(by) => {
                let by = by.iter().map(|at| Pipeline::PLUGINS[at].name).collect();
                let miss = Miss { by, pod: known["me"].clone(), step: step.clone(), known };
                if is_known(&miss) {
                    parked = rejectors(cluster.attempt());
                } else if matches!(cluster.attempt(), Verdict::Fits) {
                    return Err(Box::new(miss));
                }
            }
        }
    }
    Ok(wakes)
}

/// Returns the plugins that rejected the pod, if it is unschedulable.
fn rejectors(verdict: Verdict) -> Option<PluginSet> {
    match verdict {
        Verdict::Gated(by) | Verdict::Rejected(by) => Some(by).filter(|by| !by.is_empty()),
        Verdict::Fits | Verdict::Broken => None,
    }
}
