//! Pod affinity and anti-affinity.

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Pod, PodAffinityTerm};

use super::cluster::{Cluster, Placement};
use super::rule::Rule;
use super::selectors::{affinity_term_matches, value};

/// Number of pods per place. A place is a topology key and one of its values.
type Places = Map<(Symbol, Symbol), u32>;

/// Counts of pods for the terms that were checked. When a term is checked for the first time, all pods are counted.
#[derive(Default)]
pub(super) struct PodAffinityRules {
    /// For each list of required terms: the pods that match all of them. A pod is counted once per term, at the place
    /// for the term's key.
    required: Map<Box<[PodAffinityTerm]>, Places>,
    /// For each anti-affinity term: the pods that match it.
    forbidden: Map<PodAffinityTerm, Places>,
    /// For each anti-affinity term: the pods that have it. `None` until it is needed.
    owners: Option<Map<PodAffinityTerm, Places>>,
}

impl PodAffinityRules {
    /// Counts a pod that was bound to a node (`by` is 1) or left it (-1).
    pub(super) fn count(&mut self, placement: Placement<'_>, by: i32) {
        for (terms, places) in &mut self.required {
            count_required(terms, places, placement, by);
        }
        for (term, places) in &mut self.forbidden {
            if term_matches(term, placement.pod, placement.cluster) {
                count_at(places, term.topology_key, placement, by);
            }
        }
        if let Some(owners) = &mut self.owners {
            count_owners(owners, placement, by);
        }
    }

    /// Checks whether a pod may be bound to a node, given the existing pods.
    pub(super) fn check(&mut self, placement: Placement<'_>, violations: &mut Vec<(Rule, String)>) {
        let Placement { pod, node, cluster, names } = placement;
        let affinity = &pod.spec.affinity;
        let labels = cluster.labels(node);
        let mut report_violation = |what: String| violations.push((Rule::InterPodAffinity, what));
        if !affinity.required.is_empty() {
            let places = self.required.entry(affinity.required.clone()).or_insert_with(|| {
                let mut places = Places::default();
                for (other, at) in cluster.pods.values() {
                    count_required(&affinity.required, &mut places, placement.of(other, *at), 1);
                }
                places
            });
            // The first pod of a group whose pods require each other needs no matching pod, because none exists yet.
            let is_first = places.is_empty() && affinity.required.iter().all(|term| term_matches(term, pod, cluster));
            for term in &affinity.required {
                let key = names.resolve(term.topology_key);
                match value(labels, term.topology_key) {
                    None => report_violation(format!("the node has no label {key}")),
                    Some(place) if is_first || places.contains_key(&(term.topology_key, place)) => {}
                    Some(place) => {
                        report_violation(format!(
                            "{key}={} has no pod that matches the pod's affinity",
                            names.resolve(place)
                        ));
                    }
                }
            }
        }
        for term in &affinity.anti_required {
            let places = self.forbidden.entry(term.clone()).or_insert_with(|| {
                let mut places = Places::default();
                for (other, at) in cluster.pods.values().filter(|(other, _)| term_matches(term, other, cluster)) {
                    count_at(&mut places, term.topology_key, placement.of(other, *at), 1);
                }
                places
            });
            if let Some(place) = value(labels, term.topology_key)
                && places.contains_key(&(term.topology_key, place))
            {
                let (key, place) = (names.resolve(term.topology_key), names.resolve(place));
                report_violation(format!("{key}={place} has a pod that matches the pod's anti-affinity"));
            }
        }
        let owners = self.owners.get_or_insert_with(|| {
            let mut owners = Map::default();
            for (other, at) in cluster.pods.values() {
                count_owners(&mut owners, placement.of(other, *at), 1);
            }
            owners
        });
        for (term, places) in owners {
            if let Some(place) = value(labels, term.topology_key)
                && places.contains_key(&(term.topology_key, place))
                && term_matches(term, pod, cluster)
            {
                let (key, place) = (names.resolve(term.topology_key), names.resolve(place));
                report_violation(format!("{key}={place} has a pod whose anti-affinity matches the pod"));
            }
        }
    }
}

fn term_matches(term: &PodAffinityTerm, pod: &Pod, cluster: &Cluster) -> bool {
    let namespace = pod.spec.namespace;
    affinity_term_matches(term, namespace, &pod.spec.labels, cluster.namespace(namespace))
}

fn count_required(terms: &[PodAffinityTerm], places: &mut Places, placement: Placement<'_>, by: i32) {
    if terms.iter().all(|term| term_matches(term, placement.pod, placement.cluster)) {
        terms.iter().for_each(|term| count_at(places, term.topology_key, placement, by));
    }
}

fn count_owners(owners: &mut Map<PodAffinityTerm, Places>, placement: Placement<'_>, by: i32) {
    for term in &placement.pod.spec.affinity.anti_required {
        if !owners.contains_key(term) {
            owners.insert(term.clone(), Places::default());
        }
        if let Some(places) = owners.get_mut(term) {
            count_at(places, term.topology_key, placement, by);
            if places.is_empty() {
                owners.remove(term);
            }
        }
    }
}

/// Adds to the count of a place. A place without pods has no entry.
fn count_at(places: &mut Places, key: Symbol, placement: Placement<'_>, by: i32) {
    let Some(place) = value(placement.cluster.labels(placement.node), key) else { return };
    let count = places.entry((key, place)).or_default();
    *count = count.saturating_add_signed(by);
    if *count == 0 {
        places.remove(&(key, place));
    }
}
