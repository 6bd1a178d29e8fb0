//! An upper bound of the number of nodes that a plan can empty: the requests of all pods must fit on the other nodes.

use std::collections::{BTreeMap, HashSet};

use schedc_core::column::NodeInfo;

use crate::enforced::EnforcedResources;
use crate::resource_amounts::{Amounts, add, amounts};
use crate::trial::Trial;

/// Returns an upper bound of the number of `candidates` that can be empty together. `movable` are the namespaces and names
/// of the candidates' pods that need room on other nodes.
pub(super) fn at_most(
    trial: &mut Trial,
    candidates: &HashSet<&str>,
    movable: &HashSet<(String, String)>,
    enforced: EnforcedResources,
) -> usize {
    let base = trial.base();
    let mut needed = Amounts::new();
    let mut capacity_of_others = Amounts::new();
    let mut capacities_of_candidates: BTreeMap<String, Vec<i128>> = BTreeMap::new();
    for info in base.infos() {
        let NodeInfo { node: Some(node), pods } = info else { continue };
        let is_candidate = candidates.contains(base.interner.resolve(node.name));
        // A node may be overcommitted. If it is not emptied, its pods stay, so its capacity is at least the amount in
        // use.
        let mut capacity = amounts(&node.allocatable, i128::from(node.allowed_pods), &base.interner);
        let mut used = Amounts::new();
        for pod in pods {
            let requests = amounts(&pod.usage.requests, 1, &base.interner);
            add(&mut used, &requests);
            // Pods that stay on a candidate, such as those of DaemonSets, need no room on other nodes.
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
                true => capacities_of_candidates.entry(resource).or_default().push(amount),
                false => *capacity_of_others.entry(resource).or_default() += amount,
            }
        }
    }
    let kept_candidates =
        needed.into_iter().filter(|(resource, _)| enforced.contains(resource)).map(|(resource, needed)| {
            let mut free = capacity_of_others.get(&resource).copied().unwrap_or_default();
            let mut sizes = capacities_of_candidates.remove(&resource).unwrap_or_default();
            sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
            let enough = sizes.iter().take_while(|size| {
                let is_short = free < needed;
                free += **size;
                is_short
            });
            enough.count()
        });
    candidates.len() - kept_candidates.max().unwrap_or(0).min(candidates.len())
}
