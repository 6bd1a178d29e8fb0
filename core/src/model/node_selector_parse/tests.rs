use expect_test::{Expect, expect};

use super::*;

fn requirement<'a>(key: &'a str, operator: &'a str, values: &[&'a str]) -> RequirementText<'a> {
    RequirementText { key, operator, values: Some(values.to_vec()) }
}

fn labels(requirement: RequirementText<'_>) -> TermText<'_> {
    TermText { match_expressions: vec![requirement], match_fields: vec![] }
}

fn names<'a>(operator: &'a str, values: &[&'a str]) -> TermText<'a> {
    TermText { match_expressions: vec![], match_fields: vec![requirement("metadata.name", operator, values)] }
}

fn check_error(terms: &[TermText<'_>], expected: Expect) {
    expected.assert_eq(&NodeSelector::parse(terms, &mut Interner::default()).unwrap_err());
}

#[test]
fn errors_are_worded_as_in_kubernetes() {
    check_error(
        &[labels(requirement("zone", "Near", &["a"]))],
        expect![[
            r#"nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt""#
        ]],
    );
    check_error(
        &[TermText::default(), labels(requirement("zone", "In", &[]))],
        expect![
            "nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
        ],
    );
    check_error(
        &[labels(RequirementText { key: "zone", operator: "NotIn", values: None })],
        expect![
            "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        ],
    );
    check_error(
        &[labels(requirement("zone", "Exists", &["a", "b"]))],
        expect![[
            r#"nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: ["a","b"]: values set must be empty for exists and does not exist"#
        ]],
    );
    check_error(
        &[labels(requirement("cores", "Gt", &["many"])), labels(requirement("cores", "Lt", &["1", "2"]))],
        expect![[
            r#"[nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "many": for 'Gt', 'Lt' operators, the value must be an integer, nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: ["1","2"]: for 'Gt', 'Lt' operators, exactly one value is required]"#
        ]],
    );
    check_error(
        &[labels(requirement("zone", "In", &["-a"]))],
        expect![[
            r#"nodeSelectorTerms[0].matchExpressions[0].values[0][zone]: Invalid value: "-a": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"#
        ]],
    );
    check_error(
        &[names("In", &["a", "b"]), names("Exists", &[])],
        expect![[
            r#"[nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["a","b"]: must have one element, nodeSelectorTerms[1].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"]"#
        ]],
    );
}

#[test]
fn invalid_label_keys_have_kubernetes_errors() {
    for good in ["zone", "a", "A.b_c-d", "example.com/zone", "topology.kubernetes.io/zone"] {
        assert!(label_key_problems(good).is_empty(), "{good}");
    }
    for (bad, problem) in [
        ("", "name part must be non-empty"),
        ("/zone", "prefix part must be non-empty"),
        ("a/b/c", "a valid label key must consist of"),
        ("zone-", "name part must consist of"),
        ("Example.com/zone", "prefix part a lowercase RFC 1123 subdomain must"),
        ("a..b/zone", "prefix part a lowercase RFC 1123 subdomain must"),
        (&"x".repeat(64), "name part must be no more than 63 bytes"),
    ] {
        let problems = label_key_problems(bad);
        assert!(problems[0].starts_with(problem), "{bad}: {problems:?}");
    }
}

#[test]
fn every_invalid_preferred_term_reports_the_errors_of_all_terms() {
    let mut interner = Interner::default();
    let terms = [
        (1, labels(requirement("zone", "In", &["a"]))),
        (0, labels(requirement("zone", "Near", &[]))),
        (5, TermText::default()),
        (2, labels(requirement("a b", "Exists", &[]))),
        (3, labels(requirement("zone", "In", &[]))),
    ];
    let parsed = PreferredTerm::parse_all(&terms, &mut interner);
    assert_eq!(
        parsed.iter().map(|term| (term.weight, term.term.is_ok())).collect::<Vec<_>>(),
        [(1, true), (2, false), (3, false)]
    );
    let error = parsed[1].term.as_ref().unwrap_err();
    assert!(error.starts_with(r#"[[3].matchExpressions[0].key: Invalid value: "a b": name part must"#), "{error}");
    assert!(error.contains(", [4].matchExpressions[0].values: Invalid value: []:"), "{error}");
    assert_eq!(parsed[2].term.as_ref().unwrap_err(), error);
}

/// Verifies which nodes of a small cluster match, and which names NodeAffinity's PreFilter finds in the terms.
fn check_lenient(terms: &[TermText<'_>], matching: &[&str], narrowed: Option<&[&str]>) {
    let mut interner = Interner::default();
    let zone = (interner.intern("zone"), interner.intern("a"));
    let selector = NodeSelector::parse_lenient(terms, &mut interner);
    let nodes = ["n1", "n2", "n3"].map(|name| interner.intern(name));
    let matches: Vec<_> =
        nodes.iter().filter(|&&n| selector.matches(n, &[zone], |_| None)).map(|&n| interner.resolve(n)).collect();
    assert_eq!(matches, matching);
    let mut found: Option<Vec<&str>> = Some(vec![]);
    for term in selector.terms.iter() {
        let wanted: Vec<_> = term.match_fields.iter().filter(|f| !f.negated).map(|f| f.name).collect();
        match (wanted.first(), &mut found) {
            (None, _) => found = None,
            (Some(first), Some(found)) if wanted.iter().all(|w| w == first) => found.push(interner.resolve(*first)),
            _ => {}
        }
    }
    if selector.terms.is_empty() {
        found = None;
    }
    assert_eq!(found.as_deref(), narrowed);
}

#[test]
fn a_broken_required_term_matches_nothing() {
    let zone = || labels(requirement("zone", "In", &["a"]));
    let broken = || labels(requirement("zone", "Near", &["a"]));
    check_lenient(&[], &[], None);
    check_lenient(&[zone()], &["n1", "n2", "n3"], None);
    check_lenient(&[broken()], &[], None);
    check_lenient(&[TermText::default()], &[], None);
    check_lenient(&[broken(), zone()], &["n1", "n2", "n3"], None);
}

#[test]
fn pre_filter_reads_the_names_of_broken_terms() {
    let broken = || labels(requirement("zone", "Near", &["a"]));
    check_lenient(&[names("In", &["n1"])], &["n1"], Some(&["n1"]));
    check_lenient(&[names("In", &["n1"]), TermText::default()], &["n1"], None);
    check_lenient(&[names("In", &["n1"]), broken()], &["n1"], None);
    check_lenient(&[names("In", &["n1"]), names("In", &["n3", "n2"])], &["n1"], Some(&["n1", "n2", "n3"]));
    check_lenient(&[names("In", &["n2", "n3"])], &[], Some(&["n2", "n3"]));
    check_lenient(&[names("In", &[])], &[], Some(&[]));
    check_lenient(&[names("NotIn", &["n1"])], &["n2", "n3"], None);
    let both = TermText {
        match_expressions: vec![],
        match_fields: vec![requirement("metadata.name", "In", &["n1"]), requirement("metadata.name", "In", &["n2"])],
    };
    check_lenient(&[both], &[], Some(&[]));
}

#[test]
fn fields_other_than_the_name_are_empty() {
    let field = |operator, value| TermText {
        match_expressions: vec![],
        match_fields: vec![requirement("spec.podCIDR", operator, &[value])],
    };
    let mut interner = Interner::default();
    for (operator, value, matches) in [("In", "x", false), ("In", "", true), ("NotIn", "x", true), ("NotIn", "", false)]
    {
        let selector = NodeSelector::parse(&[field(operator, value)], &mut interner).unwrap();
        let node = interner.intern("n1");
        assert_eq!(selector.matches(node, &[], |_| None), matches, "{operator} {value:?}");
        check_lenient(&[field(operator, value)], if matches { &["n1", "n2", "n3"] } else { &[] }, None);
    }
}

#[test]
fn strings_are_quoted_as_go_does() {
    assert_eq!(quoted("a\"\\\n\u{7}\u{1}ü"), r#""a\"\\\n\a\x01ü""#);
    assert_eq!(json("a\"<\u{1}\n"), r#""a\"\u003c\u0001\n""#);
}
