use std::collections::BTreeMap;

use proptest::prelude::*;
use schedc_core::intern::Interner;
use schedc_objects::testing::pod;

use super::*;

/// Returns the manifest of a pod with one preferred term and up to four required terms each of affinity and
/// anti-affinity, selected by the bits of `terms`.
fn pod_manifest(name: usize, terms: u8) -> String {
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
    let (affinity, anti_affinity) = (required(terms & 15), required(terms >> 4));
    format!(
        "{{metadata: {{name: p{name}}}, spec: {{affinity: {{
            podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{affinity}],
                preferredDuringSchedulingIgnoredDuringExecution: [
                    {{weight: 3, podAffinityTerm: {{topologyKey: zone, labelSelector: {{matchLabels: {{app: b}}}}}}}}]}},
            podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{anti_affinity}]}}}}}}}}"
    )
}

/// Number of pods for each tag, topology key and node.
type PodCounts = BTreeMap<(Option<ScoredTermKind>, Symbol, u32), u32>;

/// Returns the pod counts of the terms that match a pod, for four pods with different namespaces and labels.
fn matching_pod_counts(affinity_terms: &AffinityTerms, interner: &mut Interner) -> Vec<PodCounts> {
    let app = interner.intern("app");
    let mut all = Vec::new();
    for (namespace, value) in [("default", "a"), ("default", "b"), ("other", "a"), ("other", "c")] {
        let (namespace, labels) = (interner.intern(namespace), [(app, interner.intern(value))]);
        let anti = affinity_terms.anti_required_matching(namespace, &labels);
        let anti = anti.into_iter().filter_map(|id| affinity_terms.anti_required(id));
        let anti = anti.map(|term| (None, term.key(), term.nodes()));
        let scored =
            affinity_terms.scored_matching(namespace, &labels).into_iter().filter_map(|id| affinity_terms.scored(id));
        let scored = scored.map(|term| (Some(term.tag()), term.key(), term.nodes()));
        let mut sums = PodCounts::new();
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
fn equal_terms_share_an_entry() {
    let mut interner = Interner::default();
    let mut affinity_terms = AffinityTerms::default();
    for (name, slot) in [0, 0, 1].into_iter().enumerate() {
        affinity_terms.add_pod(NodeIndex(slot), &pod(&pod_manifest(name, 1), &mut interner));
    }
    let (default, app) = (interner.intern("default"), [(interner.intern("app"), interner.intern("a"))]);
    let [term] = affinity_terms.scored_matching(default, &app)[..] else { panic!("one term") };
    let term = affinity_terms.scored(term).unwrap();
    assert_eq!(term.tag(), ScoredTermKind::Required);
    assert_eq!([0, 1, 2].map(|node| term.nodes().get(NodeIndex(node))), [2, 1, 0]);
    let changes: Vec<_> = term.log().since(0).unwrap().copied().collect();
    assert_eq!(changes, [(NodeIndex(0), 1), (NodeIndex(0), 1), (NodeIndex(1), 1)]);
    assert_eq!(affinity_terms.anti_required_matching(default, &app), []);
}

#[test]
fn namespaces_are_matched_by_current_labels() {
    let mut interner = Interner::default();
    let mut affinity_terms = AffinityTerms::default();
    affinity_terms.add_pod(NodeIndex(0), &pod(&pod_manifest(0, 4 << 4), &mut interner));
    let other = interner.intern("other");
    // Each row: the namespace before and after, the number of matching terms, and whether the epoch changes.
    let (team, none) = (namespace(&[("team", "x")], &mut interner), namespace(&[], &mut interner));
    let rows = [
        (None, None, 0, false),
        (None, Some(&team), 1, true),
        (Some(&team), Some(&team), 1, false),
        (Some(&team), Some(&none), 0, true),
        (Some(&none), None, 0, false),
        (None, Some(&team), 1, true),
        (Some(&team), None, 0, true),
    ];
    for (at, (old, new, matching, epoch_changes)) in rows.into_iter().enumerate() {
        let before = affinity_terms.epoch();
        if at > 0 {
            affinity_terms.set_object(old, new);
        }
        assert_eq!(affinity_terms.anti_required_matching(other, &[]).len(), matching, "row {at}");
        assert_eq!(affinity_terms.epoch() > before, epoch_changes, "row {at}");
    }
}

#[test]
fn unused_terms_are_kept_for_a_while() {
    let mut interner = Interner::default();
    let mut affinity_terms = AffinityTerms::default();
    let (default, app) = (interner.intern("default"), [(interner.intern("app"), interner.intern("a"))]);
    let first = pod(&pod_manifest(0, 1), &mut interner);
    affinity_terms.add_pod(NodeIndex(0), &first);
    let (id, epoch) = (affinity_terms.scored_matching(default, &app)[0], affinity_terms.epoch());
    affinity_terms.remove_pod(NodeIndex(0), &first);
    affinity_terms.set_pending(None, Some(&first));
    assert_eq!(
        (affinity_terms.scored_matching(default, &app), affinity_terms.epoch()),
        (vec![id], epoch),
        "the pod is pending"
    );
    let other = |n: usize, affinity_terms: &mut AffinityTerms, interner: &mut Interner| {
        let term = format!("{{topologyKey: zone, labelSelector: {{matchLabels: {{app: x{n}}}}}}}");
        let affinity = format!("podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}");
        let pod = pod(&format!("{{metadata: {{name: p{n}}}, spec: {{affinity: {{{affinity}}}}}}}"), interner);
        affinity_terms.register(&pod.spec.affinity);
    };
    (0..1100).for_each(|n| other(n, &mut affinity_terms, &mut interner));
    assert_eq!(affinity_terms.scored_matching(default, &app), [id], "the pod is still pending");
    assert!(affinity_terms.scored.entries().count() < 200, "most of the others are forgotten");
    affinity_terms.set_pending(Some(&first), None);
    (2000..3100).for_each(|n| other(n, &mut affinity_terms, &mut interner));
    assert_eq!((affinity_terms.scored_matching(default, &app), affinity_terms.scored(id).is_none()), (vec![], true));
    affinity_terms.add_pod(NodeIndex(0), &first);
    assert!(!affinity_terms.scored_matching(default, &app).contains(&id), "the term has a new id");
}

#[test]
fn a_burst_of_pending_pods_leaves_few_terms() {
    let mut interner = Interner::default();
    let mut affinity_terms = AffinityTerms::default();
    let pods: Vec<_> = (0..4000)
        .map(|n| {
            let term = format!("{{topologyKey: zone, labelSelector: {{matchLabels: {{app: x{n}}}}}}}");
            let affinity = format!("podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}");
            pod(&format!("{{metadata: {{name: p{n}}}, spec: {{affinity: {{{affinity}}}}}}}"), &mut interner)
        })
        .collect();
    pods.iter().for_each(|pod| affinity_terms.set_pending(None, Some(pod)));
    assert_eq!(affinity_terms.scored.len(), 4000);
    pods.iter().for_each(|pod| affinity_terms.set_pending(Some(pod), None));
    assert!(affinity_terms.scored.len() <= 1024, "{} terms", affinity_terms.scored.len());
}

proptest! {
    #[test]
    fn removed_pods_leave_no_trace(
        history in prop::collection::vec((0..6_usize, prop::option::of((0..4_u32, any::<u8>()))), 0..40),
    ) {
        let mut interner = Interner::default();
        let team = namespace(&[("team", "x")], &mut interner);
        let mut updated = AffinityTerms::default();
        updated.set_object(None, Some(&team));
        let mut pods: [Option<(NodeIndex, Pod)>; 6] = Default::default();
        for (name, new) in history {
            let new = new.map(|(slot, terms)| (NodeIndex(slot), pod(&pod_manifest(name, terms), &mut interner)));
            if let Some((slot, old)) = std::mem::replace(&mut pods[name], new) {
                updated.remove_pod(slot, &old);
            }
            if let Some((slot, new)) = &pods[name] {
                updated.add_pod(*slot, new);
            }
            let mut rebuilt = AffinityTerms::default();
            rebuilt.set_object(None, Some(&team));
            pods.iter().flatten().for_each(|(slot, pod)| rebuilt.add_pod(*slot, pod));
            prop_assert_eq!(matching_pod_counts(&updated, &mut interner), matching_pod_counts(&rebuilt, &mut interner));
            let in_use = |affinity_terms: &AffinityTerms| affinity_terms.groups.in_use().collect::<Map<_, _>>();
            prop_assert_eq!(in_use(&updated), in_use(&rebuilt));
        }
    }
}
