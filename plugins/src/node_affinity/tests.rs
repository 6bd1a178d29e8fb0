//! Selectors on a few nodes.

use schedc_core::extension_points::CandidateNodes;
use schedc_core::intern::Interner;
use schedc_core::model::NodeIndex;
use schedc_objects::testing::{node, pod};

use super::*;
use crate::testing::{Cluster, args, hint};

const NODES: [&str; 3] = [
    "metadata: {name: n0, labels: {disk: ssd, gen: '4', zone: a}}",
    "metadata: {name: n1, labels: {disk: hdd, gen: '10', zone: b}}",
    "metadata: {name: n2, labels: {gen: new}}",
];

fn required(terms: &str) -> String {
    let terms = format!("requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}");
    format!("spec: {{affinity: {{nodeAffinity: {{{terms}}}}}}}")
}

fn preferred(terms: &str) -> String {
    format!("spec: {{affinity: {{nodeAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: {terms}}}}}}}")
}

const PLAIN: NodeAffinityArgs = NodeAffinityArgs::DEFAULT;

/// Returns arguments that require an ssd or a late generation, and prefer zone a.
fn with_added_affinity() -> &'static NodeAffinityArgs {
    let profile = r#"
        [[added-affinity.required]]
        match-expressions = [{ key = "disk", operator = "In", values = ["ssd"] }]
        [[added-affinity.required]]
        match-expressions = [{ key = "gen", operator = "Gt", values = ["4"] }]
        [[added-affinity.preferred]]
        weight = 30
        preference = { match-expressions = [{ key = "zone", operator = "In", values = ["a"] }] }
    "#;
    args(profile).unwrap()
}

#[test]
fn nodes_must_match_selectors_and_required_terms() {
    let check = |pod: &str, fits: [bool; 3]| {
        let verdicts = Cluster::new(&NODES).filter::<NodeAffinity>(&PLAIN, pod);
        let rejected = ": UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector";
        let expected = [0, 1, 2].map(|n| format!("n{n}{}\n", if fits[n] { "" } else { rejected }));
        assert_eq!(verdicts, expected.concat(), "{pod}");
    };
    let terms = |terms: &str, fits| check(&required(terms), fits);
    let labels = |expression: &str, fits| terms(&format!("[{{matchExpressions: [{expression}]}}]"), fits);

    check("spec: {}", [true, true, true]);
    check("spec: {nodeSelector: {disk: ssd}}", [true, false, false]);
    check("spec: {nodeSelector: {disk: ssd, zone: b}}", [false, false, false]);
    labels("{key: disk, operator: In, values: [ssd, nvme]}", [true, false, false]);
    labels("{key: disk, operator: NotIn, values: [ssd]}", [false, true, true]);
    labels("{key: disk, operator: Exists}", [true, true, false]);
    labels("{key: disk, operator: DoesNotExist}", [false, false, true]);
    labels("{key: gen, operator: Gt, values: ['4']}", [false, true, false]);
    labels("{key: gen, operator: Lt, values: ['10']}", [true, false, false]);
    // If two requirements are in one term, both must match; if they are in two terms, one suffices.
    labels("{key: disk, operator: Exists}, {key: zone, operator: In, values: [b]}", [false, true, false]);
    let [disk, zone] = ["{key: disk, operator: DoesNotExist}", "{key: zone, operator: In, values: [b]}"];
    terms(&format!("[{{matchExpressions: [{disk}]}}, {{matchExpressions: [{zone}]}}]"), [false, true, true]);
    terms("[{matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]}]", [true, false, true]);
    terms("[]", [false, false, false]);
    terms("[{}]", [false, false, false]);
    // An invalid term matches nothing and does not affect the others.
    labels("{key: disk, operator: In, values: []}", [false, false, false]);
    let wrong = "{matchExpressions: [{key: disk, operator: Near, values: [ssd]}]}";
    terms(&format!("[{wrong}, {{matchExpressions: [{zone}]}}]"), [false, true, false]);
}

#[test]
fn added_affinity_is_checked_first() {
    let verdicts =
        Cluster::new(&NODES).filter::<NodeAffinity>(with_added_affinity(), "spec: {nodeSelector: {zone: b}}");
    let expected = [
        "n0: UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector",
        "n1",
        "n2: UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced node affinity\n",
    ];
    assert_eq!(verdicts, expected.join("\n"));
}

#[test]
fn pre_filter_skips_narrows_down_or_rejects() {
    #[derive(Debug, PartialEq)]
    enum Answer {
        Skip,
        All,
        Only(Vec<u32>),
        Rejected(Status),
    }
    let check = |args: &'static NodeAffinityArgs, pod: &str, expected: Answer| {
        let mut cluster = Cluster::new(&NODES);
        let compiled = cluster.compile::<NodeAffinity>(args, pod);
        let answer = cluster.plugin::<NodeAffinity>(args).pre_filter(args, &compiled, cluster.view());
        let answer = match answer {
            Err(status) => Answer::Rejected(status),
            Ok(answer) if answer.slot.skip => Answer::Skip,
            Ok(answer) => match answer.candidates {
                CandidateNodes::All | CandidateNodes::Predicted(_) => Answer::All,
                CandidateNodes::Pinned => panic!("the terms are not withheld"),
                CandidateNodes::Only { nodes, .. } => {
                    let nodes: NodeMask = nodes.into_iter().collect();
                    Answer::Only(nodes.iter().map(|node| node.0).collect())
                }
                CandidateNodes::None(status) => Answer::Rejected(status),
            },
        };
        assert_eq!(answer, expected, "{pod}");
    };
    let named = |names: &[&str]| {
        let fields = names.iter().map(|name| format!("{{key: metadata.name, operator: In, values: [{name}]}}"));
        format!("{{matchFields: [{}]}}", fields.collect::<Vec<_>>().join(", "))
    };
    let terms = |terms: &[String]| required(&format!("[{}]", terms.join(", ")));
    let labels = "{matchExpressions: [{key: disk, operator: Exists}]}".to_owned();
    let conflict = || Answer::Rejected(Status::unresolvable("pod affinity terms conflict"));

    check(&PLAIN, "spec: {}", Answer::Skip);
    check(with_added_affinity(), "spec: {}", Answer::All);
    check(&PLAIN, "spec: {nodeSelector: {disk: ssd}}", Answer::All);
    check(&PLAIN, &preferred("[{weight: 1, preference: {}}]"), Answer::Skip);
    check(&PLAIN, &required("[]"), Answer::All);
    check(&PLAIN, &terms(&[named(&["n2"])]), Answer::Only(vec![2]));
    check(&PLAIN, &terms(&[named(&["n2"]), named(&["n0"])]), Answer::Only(vec![0, 2]));
    check(&PLAIN, &terms(&[named(&["n2"]), named(&["gone"])]), Answer::Only(vec![2]));
    check(&PLAIN, &terms(&[named(&["n2"]), labels]), Answer::All);
    check(&PLAIN, &terms(&[named(&["n1", "n2"])]), conflict());
    check(&PLAIN, &terms(&[named(&["n1", "n2"]), named(&["n1", "n1"])]), Answer::Only(vec![1]));
}

#[test]
fn scores_are_the_weights_of_terms_that_match() {
    let check = |args: &NodeAffinityArgs, pod: &str, expected: [i64; 3], normalized: [i64; 3]| {
        let scores = Cluster::new(&NODES).scores::<NodeAffinity>(args, pod);
        assert_eq!(scores, expected, "{pod}");
        let mut extent = Extent::EMPTY;
        scores.iter().for_each(|&score| extent.include(score));
        assert_eq!(expected.map(|raw| NodeAffinity::normalize(args, extent, raw)), normalized, "{pod}");
    };
    let terms = "[
        {weight: 10, preference: {matchExpressions: [{key: disk, operator: Exists}]}},
        {weight: 5, preference: {matchExpressions: [{key: zone, operator: NotIn, values: [b]}]}},
        {weight: 50, preference: {}},
    ]";
    check(&PLAIN, &preferred(terms), [15, 10, 5], [100, 66, 33]);
    check(with_added_affinity(), &preferred(terms), [45, 10, 5], [100, 22, 11]);
    check(with_added_affinity(), "spec: {}", [30, 0, 0], [100, 0, 0]);
    let nowhere = "[{weight: 10, preference: {matchExpressions: [{key: disk, operator: In, values: [tape]}]}}]";
    check(&PLAIN, &preferred(nowhere), [0, 0, 0], [0, 0, 0]);
}

#[test]
fn pre_score_skips_or_fails() {
    let check = |args: &'static NodeAffinityArgs, pod: &str, expected: Result<bool, &'static str>| {
        let mut cluster = Cluster::new(&NODES);
        let compiled = cluster.compile::<NodeAffinity>(args, pod);
        let feasible: NodeMask = [NodeIndex(0)].into_iter().collect();
        let answer = cluster.plugin::<NodeAffinity>(args).pre_score(args, &compiled, cluster.view(), &feasible);
        assert_eq!(answer.map(|slot| slot.skip), expected.map_err(Status::error), "{pod}");
    };
    check(&PLAIN, "spec: {}", Ok(true));
    check(with_added_affinity(), "spec: {}", Ok(false));
    let terms = "[{weight: 10, preference: {matchExpressions: [{key: disk, operator: Exists}]}}]";
    check(&PLAIN, &preferred(terms), Ok(false));
    // An empty preference still counts as a preference: every node gets 0.
    check(&PLAIN, &preferred("[{weight: 10, preference: {}}]"), Ok(false));
    let wrong = "[{weight: 1, preference: {matchExpressions: [{key: disk, operator: Gt, values: [x]}]}}]";
    let error = "[0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an \
                 integer";
    check(&PLAIN, &preferred(wrong), Err(error));
}

#[test]
fn a_node_wakes_pods_that_it_matches_now() {
    let mut interner = Interner::default();
    let waiting = pod("spec: {nodeSelector: {zone: a}}", &mut interner);
    let [in_a, old_in_a, in_b] = [
        "metadata: {labels: {zone: a, disk: ssd}}",
        "metadata: {labels: {zone: a, disk: hdd, gen: '3'}}",
        "metadata: {labels: {zone: b, disk: ssd}}",
    ]
    .map(|node_yaml| node(node_yaml, &mut interner));
    let check = |args: &'static NodeAffinityArgs, old: Option<&Node>, new: &Node, expected: QueueingHint| {
        let object = EventObject::Node(old, Some(new));
        assert_eq!(hint::<NodeAffinity>(args, &waiting, object, &interner), expected, "{object:?}");
    };
    check(&PLAIN, None, &in_a, QueueingHint::Queue);
    check(&PLAIN, None, &in_b, QueueingHint::Skip);
    check(&PLAIN, Some(&in_b), &in_a, QueueingHint::Queue);
    check(&PLAIN, Some(&old_in_a), &in_a, QueueingHint::Skip);
    check(with_added_affinity(), None, &in_a, QueueingHint::Queue);
    check(with_added_affinity(), None, &old_in_a, QueueingHint::Skip);
    check(with_added_affinity(), Some(&in_b), &old_in_a, QueueingHint::Skip);
}

#[test]
fn invalid_added_affinity_is_reported() {
    let check = |expression: &str, expected: &str| {
        let profile = format!("added-affinity.required = [{{ match-expressions = [{{ {expression} }}] }}]");
        let problem = args::<NodeAffinityArgs>(&profile).and_then(NodeAffinityArgs::check);
        assert_eq!(problem.err().unwrap_or_default(), expected, "{expression}");
    };
    check(r#"key = "a", operator = "Exists""#, "");
    check(r#"key = "a", operator = "In""#, "p.toml:1:51: In and NotIn need at least one value");
    check(
        r#"key = "a", operator = "DoesNotExist", values = ["x"]"#,
        "p.toml:1:51: Exists and DoesNotExist take no values",
    );
    check(r#"key = "a", operator = "Gt", values = ["x"]"#, "p.toml:1:51: Gt and Lt need one value, an integer");
    check(r#"key = "a", operator = "Gt", values = ["1", "2"]"#, "p.toml:1:51: Gt and Lt need one value, an integer");
    let check = |field: &str, expected: &str| {
        let profile = format!("added-affinity.required = [{{ match-fields = [{{ {field} }}] }}]");
        let problem = args::<NodeAffinityArgs>(&profile).and_then(NodeAffinityArgs::check);
        assert_eq!(problem.err().unwrap_or_default(), expected, "{field}");
    };
    check(r#"key = "metadata.name", operator = "In", values = ["n1"]"#, "");
    let one_value = "p.toml:1:46: a field is compared with exactly one value";
    check(r#"key = "metadata.name", operator = "In", values = ["n1", "n2"]"#, one_value);
    check(r#"key = "metadata.name", operator = "NotIn""#, one_value);
    check(
        r#"key = "metadata.uid", operator = "In", values = ["n1"]"#,
        "p.toml:1:46: nodes can be selected by the field metadata.name only",
    );
}
