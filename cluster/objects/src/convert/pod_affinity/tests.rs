use schedc_core::model::Pod;

use super::*;
use crate::testing::pod;

/// Returns a pod in namespace `shop` with this affinity.
fn read(affinity: &str, interner: &mut Interner) -> Pod {
    pod(&format!("{{metadata: {{name: a, namespace: shop}}, spec: {{affinity: {affinity}}}}}"), interner)
}

fn required(terms: &str) -> String {
    format!("{{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}}}")
}

#[test]
fn terms_match_in_listed_and_selected_namespaces() {
    let mut interner = Interner::default();
    let team = [(interner.intern("team"), interner.intern("x"))];
    let [shop, bank, web] = ["shop", "bank", "web"].map(|text| interner.intern(text));
    let app = [(interner.intern("app"), web)];
    // Takes a term without its topology key. `expected` is whether the term matches a pod with label app=web in these
    // namespaces: shop; bank without labels; bank with label team=x.
    let mut check = |term: &str, expected: [bool; 3]| {
        let pod = read(&required(&format!("[{{topologyKey: zone, {term}}}]")), &mut interner);
        let term = &pod.spec.affinity.required[0];
        let matches =
            [(shop, &[][..]), (bank, &[]), (bank, &team)].map(|(namespace, of)| term.matches(namespace, &app, of));
        assert_eq!(matches, expected, "{term:?}");
        assert_eq!(term.topology_key, interner.intern("zone"));
    };
    let web = "labelSelector: {matchLabels: {app: web}}";
    check(web, [true, false, false]);
    check(&format!("{web}, namespaces: [bank, shop, bank]"), [true, true, true]);
    check(&format!("{web}, namespaces: [bank]"), [false, true, true]);
    check(&format!("{web}, namespaceSelector: {{}}"), [true, true, true]);
    check(&format!("{web}, namespaceSelector: {{matchLabels: {{team: x}}}}"), [false, false, true]);
    check(&format!("{web}, namespaces: [shop], namespaceSelector: {{matchLabels: {{team: x}}}}"), [true, false, true]);
    check("labelSelector: {}", [true, false, false]);
    check("labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}", [false; 3]);
    check("namespaceSelector: {}", [false; 3]);
    check(&format!("{web}, matchLabelKeys: [color]"), [true, false, false]);
}

#[test]
fn preferred_terms_have_weights() {
    let mut interner = Interner::default();
    let terms = "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, podAffinityTerm: {topologyKey: zone}}]";
    let pod = read(&format!("{{podAffinity: {{{terms}}}, podAntiAffinity: {{{terms}}}}}"), &mut interner);
    let affinity = &pod.spec.affinity;
    assert_eq!((affinity.preferred[0].weight, &affinity.preferred), (7, &affinity.anti_preferred));
    assert!(read("{}", &mut interner).spec.affinity.is_empty());
}

#[test]
fn an_invalid_term_makes_its_list_empty() {
    let mut interner = Interner::default();
    let broken = "{topologyKey: zone, labelSelector: {matchExpressions: [{key: app, operator: Near}]}}";
    let valid = "{topologyKey: zone, labelSelector: {}}";
    let one = read(
        &format!(
            "{{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{valid}, {broken}]}},
              podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{valid}]}}}}"
        ),
        &mut interner,
    );
    let affinity = &one.spec.affinity;
    assert_eq!((affinity.required.len(), affinity.anti_required.len()), (0, 1));
    let problem = "\"Near\" is not a valid label selector operator";
    assert_eq!(affinity.broken.as_deref(), Some(&*format!("requiredAffinityTerms: {problem}")));
    let two = read(
        &format!(
            "{{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{broken}],
                preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 1, podAffinityTerm: {broken}}}]}}}}"
        ),
        &mut interner,
    );
    let both = format!("[requiredAffinityTerms: {problem}, preferredAffinityTerms: {problem}]");
    assert_eq!(two.spec.affinity.broken.as_deref(), Some(&*both));
}
