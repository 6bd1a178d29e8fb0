//! The number of nodes that no plan can exceed: the requests of all pods must fit on the other nodes.

use std::collections::{BTreeMap, HashSet};

use schedc_core::column::NodeInfo;
use schedc_core::intern::Symbol;
use schedc_core::model::Resources;

use crate::enforced::EnforcedResources;
use crate::trial::Trial;

/// A resource: cpu, memory, storage, number of pods, or another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Resource {
    Cpu,
    Memory,
    Storage,
    Pods,
    Scalar(Symbol),
}

/// Returns the largest number of `candidates` that can be empty together. `movable` are the pods that run elsewhere then.
pub(super) fn at_most(
    trial: &mut Trial,
    candidates: &HashSet<&str>,
    movable: &HashSet<(String, String)>,
    enforced: EnforcedResources,
) -> usize {
    let base = trial.base();
    let mut needed: BTreeMap<Resource, i128> = BTreeMap::new();
    let mut of_others: BTreeMap<Resource, i128> = BTreeMap::new();
    let mut of_candidates: BTreeMap<Resource, Vec<i128>> = BTreeMap::new();
    for info in base.infos() {
        let NodeInfo { node: Some(node), pods } = info else { continue };
        let is_candidate = candidates.contains(base.interner.resolve(node.name));
        // A node may have more pods than allowed, which stay if it is not emptied.
        let mut capacity = amounts(&node.allocatable, i128::from(node.allowed_pods));
        let mut used: BTreeMap<Resource, i128> = BTreeMap::new();
        for pod in pods {
            let requests = amounts(&pod.usage.requests, 1);
            add(&mut used, &requests);
            // Pods that stay on their node, such as those of DaemonSets, are on it in any plan.
            if !is_candidate || movable.contains(&(pod.namespace.to_string(), pod.name.to_string())) {
                add(&mut needed, &requests);
            }
        }
        for (resource, used) in used {
            let capacity = capacity.entry(resource).or_default();
            *capacity = used.max(*capacity);
        }
        for (resource, amount) in capacity {
            match is_candidate {
                true => of_candidates.entry(resource).or_default().push(amount),
                false => *of_others.entry(resource).or_default() += amount,
            }
        }
    }
    let base = trial.base();
    let is_enforced = |resource: Resource| match resource {
        Resource::Cpu => enforced.contains("cpu"),
        Resource::Memory => enforced.contains("memory"),
        Resource::Storage => enforced.contains("ephemeral-storage"),
        Resource::Pods => enforced.contains("pods"),
        Resource::Scalar(name) => enforced.contains(base.interner.resolve(name)),
    };
    let kept = needed.into_iter().filter(|(resource, _)| is_enforced(*resource)).map(|(resource, needed)| {
        let mut room = of_others.get(&resource).copied().unwrap_or_default();
        let mut sizes = of_candidates.remove(&resource).unwrap_or_default();
        sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
        let enough = sizes.iter().take_while(|size| {
            let is_short = room < needed;
            room += **size;
            is_short
        });
        enough.count()
    });
    candidates.len() - kept.max().unwrap_or(0).min(candidates.len())
}

fn amounts(resources: &Resources, pods: i128) -> BTreeMap<Resource, i128> {
    let Resources { milli_cpu, memory, ephemeral_storage, scalars } = resources;
    let mut amounts = BTreeMap::from([
        (Resource::Cpu, i128::from(*milli_cpu)),
        (Resource::Memory, i128::from(*memory)),
        (Resource::Storage, i128::from(*ephemeral_storage)),
        (Resource::Pods, pods),
    ]);
    amounts.extend(scalars.iter().map(|(name, amount)| (Resource::Scalar(*name), i128::from(*amount))));
    amounts
}

fn add(sums: &mut BTreeMap<Resource, i128>, amounts: &BTreeMap<Resource, i128>) {
    for (resource, amount) in amounts {
        *sums.entry(*resource).or_default() += amount;
    }
}
