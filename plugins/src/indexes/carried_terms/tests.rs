use std::collections::BTreeMap;

use proptest::prelude::*;
use schedc_core::intern::Interner;
use schedc_objects::testing::pod;

use super::*;

/// Four terms to choose from by the bits of a number, on either side.
fn bearer(name: usize, terms: u8) -> String {
    let required = |terms: u8| {
        let all = [
            "{topologyKey: zone, labelSelector: {matchLabels: {app: a}}}",
            "{topologyKey: zone, labelSelector: {matchExpressions: [{key: app, operator: In, values: [a, b, a]}]}}",
            "{topologyKey: host, labelSelector: {}, namespaceSelector: {matchLabels: {team: x}}}",
            "{topologyKey: host}",
        ];
        let chosen: Vec<_> =
            all.into_iter().enumerate().filter(|(at, _)| terms >> at & 1 == 1).map(|(_, t)| t).collect();
        chosen.join(", ")
    };
    let (near, apart) = (required(terms & 15), required(terms >> 4));
    format!(
        "{{metadata: {{name: p{name}}}, spec: {{affinity: {{
            podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{near}],
                preferredDuringSchedulingIgnoredDuringExecution: [
                    {{weight: 3, podAffinityTerm: {{topologyKey: zone, labelSelector: {{matchLabels: {{app: b}}}}}}}}]}},
            podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{apart}]}}}}}}}}"
    )
}

/// Terms by what they count as, with their topology key and node, and how many pods carry them there.
type Found = BTreeMap<(Option<Stance>, Symbol, u32), u32>;

/// What a pod of each app, in a namespace of each kind, finds.
fn found(carried: &CarriedTerms, interner: &mut Interner) -> Vec<Found> {
    let app = interner.intern("app");
    let mut all = Vec::new();
    for (namespace, value) in [("default", "a"), ("default", "b"), ("other", "a"), ("other", "c")] {
        let (namespace, labels) = (interner.intern(namespace), [(app, interner.intern(value))]);
        let anti = carried.anti_required(namespace, &labels).map(|term| (None, term.key, term.nodes));
        let scored = carried.scored(namespace, &labels).map(|term| (Some(term.tag), term.key, term.nodes));
        let mut sums = Found::new();
        for (tag, key, nodes) in anti.chain(scored) {
            nodes.iter().for_each(|(node, pods)| *sums.entry((tag, key, node.0)).or_default() += pods);
        }
        all.push(sums);
    }
    all
}

fn namespace(labels: &[(&str, &str)], interner: &mut Interner) -> Object {
    let labels = labels.iter().map(|(key, value)| (interner.intern(key), interner.intern(value))).collect();
    Object::Namespace(Arc::new(Namespace { name: interner.intern("other"), labels }))
}

#[test]
fn a_term_is_compared_once_for_all_pods_that_carry_it() {
    let mut interner = Interner::default();
    let mut carried = CarriedTerms::default();
    for (name, slot) in [0, 0, 1].into_iter().enumerate() {
        carried.add_pod(NodeIndex(slot), &pod(&bearer(name, 1), &mut interner));
    }
    let (default, app) = (interner.intern("default"), [(interner.intern("app"), interner.intern("a"))]);
    let terms: Vec<_> = carried.scored(default, &app).map(|term| (term.tag, term.nodes.clone())).collect();
    let [(Stance::Required, nodes)] = &terms[..] else { panic!("{terms:?}") };
    assert_eq!([0, 1, 2].map(|node| nodes.get(NodeIndex(node))), [2, 1, 0]);
    assert_eq!(carried.anti_required(default, &app).count(), 0);
}

#[test]
fn namespaces_are_matched_by_the_labels_that_they_have_now() {
    let mut interner = Interner::default();
    let mut carried = CarriedTerms::default();
    carried.add_pod(NodeIndex(0), &pod(&bearer(0, 4 << 4), &mut interner));
    let other = interner.intern("other");
    assert_eq!(carried.anti_required(other, &[]).count(), 0, "not known");
    let team = namespace(&[("team", "x")], &mut interner);
    carried.set_object(None, Some(&team));
    assert_eq!(carried.anti_required(other, &[]).count(), 1);
    let none = namespace(&[], &mut interner);
    carried.set_object(Some(&team), Some(&none));
    assert_eq!(carried.anti_required(other, &[]).count(), 0, "other labels");
    carried.set_object(Some(&none), Some(&team));
    carried.set_object(Some(&team), None);
    assert_eq!(carried.anti_required(other, &[]).count(), 0, "gone");
}

proptest! {
    #[test]
    fn pods_come_and_go_without_a_trace(
        history in prop::collection::vec((0..6_usize, prop::option::of((0..4_u32, any::<u8>()))), 0..40),
    ) {
        let mut interner = Interner::default();
        let team = namespace(&[("team", "x")], &mut interner);
        let mut kept = CarriedTerms::default();
        kept.set_object(None, Some(&team));
        let mut pods: [Option<(NodeIndex, Pod)>; 6] = Default::default();
        for (name, new) in history {
            let new = new.map(|(slot, terms)| (NodeIndex(slot), pod(&bearer(name, terms), &mut interner)));
            if let Some((slot, old)) = std::mem::replace(&mut pods[name], new) {
                kept.remove_pod(slot, &old);
            }
            if let Some((slot, new)) = &pods[name] {
                kept.add_pod(*slot, new);
            }
            let mut rebuilt = CarriedTerms::default();
            rebuilt.set_object(None, Some(&team));
            pods.iter().flatten().for_each(|(slot, pod)| rebuilt.add_pod(*slot, pod));
            prop_assert_eq!(found(&kept, &mut interner), found(&rebuilt, &mut interner));
            prop_assert_eq!(&kept.keys, &rebuilt.keys);
            prop_assert_eq!(kept.anti_required.entries().count(), rebuilt.anti_required.entries().count());
            prop_assert_eq!(kept.scored.entries().count(), rebuilt.scored.entries().count());
        }
    }
}
