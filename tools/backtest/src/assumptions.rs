//! The assumptions of a simulation, in words.

use schedc_core::profile::ProfileInfo;

use crate::workload::{Facts, MAX_SHAPES, Workload};

/// Assumptions that apply to every workload.
const ALWAYS: &[&str] = &[
    "Decisions, bindings, deletions and the start of pods take no time. Only backoff, Permit, scheduling gates and missing capacity delay a pod.",
    "A pod that waits at the end, or was deleted before it had a node, counts with the time that it waited.",
    "Preempted pods and pods of removed nodes are deleted at once. Their owners replace them at the same time; pods without an \
     owner, or of a DaemonSet, are not replaced. Replacements by Jobs run for the full duration again, other replacements for the remaining time.",
    "Unschedulable pods are retried after events that may help them, not every five minutes.",
    "No pod is evicted because of taints, pressure or rescheduling.",
];

/// Assumptions about recordings.
const RECORDED: &[&str] = &[
    "Pods arrive as recorded. After its binding, a pod runs as long as it ran when it was recorded, from its binding to its end or \
     deletion; pods that still ran at the end of the recording stay.",
    "A pod that never had a node when it was recorded, or belongs to a DaemonSet, leaves at the recorded time. Any pod leaves when \
     the next one of its name arrives.",
    "Nodes and all other objects come, change and go as recorded: an autoscaler does not react to the simulation.",
    "Claims that arrive during the workload are created unbound; controllers of the simulation bind them and provision their \
     volumes.",
];

/// Assumptions about traces.
const TRACE: &[&str] = &[
    "Pods arrive at the times of the trace, and run for the durations of the trace after their binding.",
    "All nodes of the trace exist from start to end, and have only the fields that the mapping names.",
];

/// Assumption about profiles with extenders.
const EXTENDERS: &str = "Calls of extenders take no virtual time. All simulations call the same extenders: an extender with state carries it \
     from one simulation to another.";

/// Returns the assumptions of the simulation of a workload with these profiles.
pub fn assumptions<'p>(workload: &Workload, profiles: impl IntoIterator<Item = &'p ProfileInfo>) -> Vec<String> {
    let Facts { preempted, evicted, with_node, other_schedulers, gaps, cut, ignored, is_trace } = &workload.facts;
    let of_source = if *is_trace { TRACE } else { RECORDED };
    let mut all: Vec<String> = of_source.iter().chain(ALWAYS).map(|text| (*text).to_owned()).collect();
    if profiles.into_iter().any(|profile| !profile.extenders.is_empty()) {
        all.push(EXTENDERS.to_owned());
    }
    if *preempted > 0 {
        all.push(format!(
            "{preempted} pods were preempted when they were recorded: in the simulation, they run as long as they ran then, and their recorded \
             replacements arrive as recorded."
        ));
    }
    if *evicted > 0 {
        all.push(format!(
            "{evicted} pods lost their node when they were recorded. If the simulation places such a pod on the same node, the \
             pod is replaced in the simulation as well. The recorded replacement arrives in any case."
        ));
    }
    if *with_node > 0 {
        all.push(format!("{with_node} pods already had a node when they were first recorded, and keep it."));
    }
    if *other_schedulers > 0 {
        all.push(format!(
            "{other_schedulers} pods of other schedulers arrive at their recorded binding, on their recorded node, and are replaced as \
             recorded only."
        ));
    }
    if *gaps > 0 {
        all.push(format!("The recording has {gaps} gaps or restarts: changes in a gap happen at its end."));
    }
    all.extend(cut.iter().map(|place| format!("{place}: the recording ends here without its regular end.")));
    let ignored = ignored.iter().map(|(kind, lines)| format!("{kind}: no plugin reads this kind ({lines} lines)."));
    all.extend(ignored);
    if workload.shapes.len() > MAX_SHAPES {
        all.push(format!(
            "The usable free amount of a resource considers only the {MAX_SHAPES} most frequent requests."
        ));
    }
    all
}
