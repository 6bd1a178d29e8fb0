//! Required terms.

use super::*;

impl Cluster {
    /// Returns the result of PreFilter; `None` if it skips.
    fn pre_filter(&mut self, pod: &str) -> Result<Option<(InterPodAffinityPod, InterPodAffinityState)>, Status> {
        let pod = self.pod(pod);
        let pod = self.compile(&DEFAULT, &pod);
        let found = InterPodAffinity::default().pre_filter(&DEFAULT, &pod, self.view())?;
        if let CandidateNodes::Predicted(nodes) = &found.candidates {
            let state = &found.slot.state;
            let missed = self.all().into_iter().find(|node| letter(&pod, state, *node) == '.' && !nodes.contains(node));
            assert_eq!(missed, None, "a feasible node is not predicted");
        }
        Ok((!found.slot.skip).then_some((pod, found.slot.state)))
    }

    /// Returns a letter for each node: `.` passes, `a` affinity, `n` anti-affinity, `e` anti-affinity of existing
    /// pods. Returns `skip` if PreFilter skips.
    fn verdicts(&mut self, pod: &str) -> String {
        match self.pre_filter(pod).expect("terms are valid") {
            Some((pod, state)) => self.all().into_iter().map(|node| letter(&pod, &state, node)).collect(),
            None => "skip".into(),
        }
    }
}

fn letter(pod: &InterPodAffinityPod, state: &InterPodAffinityState, node: NodeIndex) -> char {
    match InterPodAffinity::filter(&DEFAULT, pod, state, node) {
        Ok(()) => '.',
        Err(UnmetAffinity::Affinity) => 'a',
        Err(UnmetAffinity::AntiAffinity) => 'n',
        Err(UnmetAffinity::ExistingAntiAffinity) => 'e',
        Err(UnmetAffinity::NotPrepared) => '!',
    }
}

#[test]
fn affinity_requires_a_matching_pod_in_the_domain() {
    let cluster = || Cluster::new().with("n0", &pod("web", "")).with("n3", &pod("db", "")).with("n4", &pod("log", ""));
    let check =
        |terms: &str, expected| assert_eq!(cluster().verdicts(&pod("new", &with_affinity(terms))), expected, "{terms}");
    check(&term("zone", "web"), "..aaaa");
    check(&term("host", "web"), ".aaaaa");
    // The empty value is a domain, a missing label is not.
    check(&term("zone", "log"), "aaaa.a");
    check(&term("rack", "web"), "aaaaaa");
    check(&term("zone", "nothing"), "aaaaaa");
    // One pod must match all terms.
    check(&format!("{}, {}", term("zone", "web"), term("zone", "db")), "aaaaaa");
    check(&format!("{}, {}", term("zone", "web"), term("host", "web")), ".aaaaa");
    check("{topologyKey: zone}", "aaaaaa");
    check("{topologyKey: zone, labelSelector: {}}", ".....a");
}

#[test]
fn the_first_pod_of_a_group_fits_anywhere() {
    let to_own_group = pod("web", &with_affinity(&term("zone", "web")));
    assert_eq!(Cluster::new().verdicts(&to_own_group), ".....a");
    // On a node without the label, the pod does not count: the next pod is still the first of its group.
    assert_eq!(Cluster::new().with("n5", &pod("web", "")).verdicts(&to_own_group), ".....a");
    assert_eq!(
        Cluster::new().with("n5", &pod("web", "")).with("n2", &pod("web", "")).verdicts(&to_own_group),
        "aa..aa"
    );
    let to_both = pod("web", &with_affinity(&format!("{}, {}", term("zone", "web"), term("host", "db"))));
    assert_eq!(Cluster::new().verdicts(&to_both), "aaaaaa", "the pod is no db");
    let in_bank = "{topologyKey: zone, labelSelector: {}, namespaces: [bank]}";
    assert_eq!(
        Cluster::new().verdicts(&pod("web", &with_affinity(in_bank))),
        "aaaaaa",
        "the pod is in another namespace"
    );
}

#[test]
fn nodes_near_few_partners_are_predicted() {
    let check = |terms: &str, expected: Option<&[u32]>| {
        let mut cluster =
            Cluster::new().with("n0", &pod("web", "")).with("n3", &pod("web", "")).with("n5", &pod("db", ""));
        let pod = cluster.pod(&pod("new", &with_affinity(terms)));
        let compiled = cluster.compile(&DEFAULT, &pod);
        let found =
            InterPodAffinity::default().pre_filter(&DEFAULT, &compiled, cluster.view()).expect("terms are valid");
        let nodes = match found.candidates {
            CandidateNodes::Predicted(nodes) => {
                let mut nodes: Vec<u32> = nodes.iter().map(|node| node.0).collect();
                nodes.sort_unstable();
                Some(nodes)
            }
            _ => None,
        };
        assert_eq!(nodes.as_deref(), expected, "{terms}");
    };
    check(&term("host", "web"), Some(&[0, 3]));
    check(&term("zone", "web"), Some(&[0, 1, 2, 3]));
    check(&term("zone", "nothing"), Some(&[]));
    // Without the label, there is no domain.
    check(&term("zone", "db"), Some(&[]));
    // The first pod of a group fits anywhere.
    check(&term("zone", "new"), None);
}

#[test]
fn anti_affinity_excludes_domains_with_matching_pods() {
    let cluster = || Cluster::new().with("n0", &pod("web", "")).with("n3", &pod("db", "")).with("n4", &pod("log", ""));
    let check = |terms: &str, expected| {
        assert_eq!(cluster().verdicts(&pod("new", &with_anti_affinity(terms))), expected, "{terms}")
    };
    check(&term("zone", "web"), "nn....");
    check(&term("host", "web"), "n.....");
    check(&term("zone", "log"), "....n.");
    check(&term("rack", "web"), "......");
    // One matching term suffices.
    check(&format!("{}, {}", term("zone", "web"), term("host", "db")), "nn.n..");
    let both = format!("{}, {}", with_affinity(&term("zone", "web")), with_anti_affinity(&term("host", "web")));
    assert_eq!(cluster().verdicts(&pod("new", &both)), "n.aaaa");
}

#[test]
fn existing_anti_affinity_excludes_matching_pods() {
    let against = |key, app| pod("old", &with_anti_affinity(&term(key, app)));
    let cluster = || Cluster::new().with("n0", &against("zone", "web")).with("n3", &against("host", "db"));
    assert_eq!(cluster().verdicts(&pod("web", "")), "ee....");
    assert_eq!(cluster().verdicts(&pod("db", "")), "...e..");
    assert_eq!(cluster().verdicts(&pod("log", "")), "skip");
    assert_eq!(cluster().with("n5", &against("zone", "log")).verdicts(&pod("log", "")), "skip", "n5 is in no zone");
    // The pod's own affinity is checked first.
    assert_eq!(cluster().verdicts(&pod("web", &with_affinity(&term("zone", "old")))), "ee..aa");
    assert_eq!(cluster().verdicts(&pod("web", &with_anti_affinity(&term("host", "old")))), "ne.n..");
}

#[test]
fn namespace_selectors_select_by_namespace_labels() {
    let of = |selector: &str| format!("{{topologyKey: zone, labelSelector: {{}}, namespaceSelector: {{{selector}}}}}");
    let team = |team: &str| of(&format!("matchLabels: {{team: {team}}}"));
    let not_red = of("matchExpressions: [{key: team, operator: NotIn, values: [red]}]");
    let pod_in = |namespace: &str| format!("metadata: {{name: p, namespace: {namespace}, labels: {{app: web}}}}");
    let cluster = || Cluster::new().with("n0", &pod_in("shop")).with("n2", &pod_in("bank")).with("n4", &pod_in("lost"));
    let check = |term: &str, expected| {
        assert_eq!(cluster().verdicts(&pod("new", &with_anti_affinity(term))), expected, "{term}")
    };
    check(&team("red"), "nn....");
    check(&team("blue"), "..nn..");
    check(&of(""), "nnnnn.");
    // The selector matches an empty label set, to which kube-scheduler also applies it: every namespace is selected.
    check(&not_red, "nnnnn.");
    // Terms of existing pods are applied to the labels of the new pod's namespace. An unknown namespace has no labels.
    let verdicts_with_existing_term = |term: &str, namespace| {
        let mut cluster = Cluster::new().with("n0", &pod("old", &with_anti_affinity(term)));
        cluster.verdicts(&pod_in(namespace))
    };
    assert_eq!(verdicts_with_existing_term(&team("red"), "shop"), "ee....");
    assert_eq!(verdicts_with_existing_term(&team("red"), "bank"), "skip");
    assert_eq!(verdicts_with_existing_term(&not_red, "shop"), "skip");
    assert_eq!(verdicts_with_existing_term(&not_red, "bank"), "ee....");
    assert_eq!(verdicts_with_existing_term(&not_red, "lost"), "ee....");
    assert_eq!(verdicts_with_existing_term(&team("red"), "lost"), "skip");
    assert_eq!(verdicts_with_existing_term(&of(""), "lost"), "ee....");
}

#[test]
fn a_pod_with_invalid_terms_is_rejected() {
    let broken = "{topologyKey: zone, labelSelector: {matchExpressions: [{key: app, operator: Near}]}}";
    let status = Cluster::new().pre_filter(&pod("web", &with_affinity(broken))).unwrap_err();
    let expected = "parsing pod: requiredAffinityTerms: \"Near\" is not a valid label selector operator";
    assert_eq!(status, Status::unresolvable(expected));
    // The valid terms of a running pod still apply.
    let old = pod("old", &format!("{}, {}", with_affinity(broken), with_anti_affinity(&term("zone", "web"))));
    assert_eq!(Cluster::new().with("n0", &old).verdicts(&pod("web", "")), "ee....");
}

#[test]
fn rejections_have_the_messages_of_kube_scheduler() {
    let mut cluster =
        Cluster::new().with("n1", &pod("db", &with_anti_affinity(&term("host", "web")))).with("n0", &pod("db", ""));
    let new =
        pod("web", &format!("{}, {}", with_affinity(&term("zone", "db")), with_anti_affinity(&term("host", "db"))));
    let (new, state) = cluster.pre_filter(&new).unwrap().unwrap();
    let describe = |unmet| {
        let mut reasons = Reasons::new(&cluster.cache.base.interner);
        InterPodAffinity::explain(&DEFAULT, &new, &state, NodeIndex(0), unmet, &mut reasons);
        format!("{}: {}", InterPodAffinity::code(&unmet), reasons.into_list().join(", "))
    };
    let [own, others] = [UnmetAffinity::AntiAffinity, UnmetAffinity::ExistingAntiAffinity];
    let all = [UnmetAffinity::Affinity, own, others, UnmetAffinity::NotPrepared].map(describe);
    let expected = [
        "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules",
        "Unschedulable: node(s) didn't match pod anti-affinity rules",
        "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules",
        "Error: error reading \"PreFilterInterPodAffinity\" from cycleState: not found",
    ];
    assert_eq!(all, expected);
}

#[test]
fn without_pre_filter_the_attempt_fails() {
    let mut cluster = Cluster::new();
    let new = cluster.pod(&pod("web", ""));
    let new = cluster.compile(&DEFAULT, &new);
    assert_eq!(letter(&new, &InterPodAffinityState::default(), NodeIndex(0)), '!');
}

#[test]
fn hypothetical_pods_change_verdicts() {
    let new =
        pod("web", &format!("{}, {}", with_affinity(&term("zone", "db")), with_anti_affinity(&term("host", "log"))));
    // Each row: the added pod, the node, and the verdicts afterwards.
    let rows = [
        (pod("db", ""), 2, "n..naa"),
        (pod("log", ""), 1, "nnaaaa"),
        (pod("other", &with_anti_affinity(&term("zone", "web"))), 0, "neaaaa"),
        (pod("other", &with_anti_affinity(&term("rack", "web"))), 0, "n.aaaa"),
        (pod("other", &with_anti_affinity(&term("host", "web"))), 1, "neaaaa"),
    ];
    for (new_pod, node, expected) in rows {
        let mut cluster =
            Cluster::new().with("n0", &pod("db", "")).with("n0", &pod("log", "")).with("n3", &pod("log", ""));
        let (new, state) = cluster.pre_filter(&new).unwrap().unwrap();
        let other = cluster.pod(&new_pod);
        let mut changed = state.clone();
        InterPodAffinity::add_pod(&new, &mut changed, &other, cluster.view(), NodeIndex(node));
        let letters: String = cluster.all().into_iter().map(|node| letter(&new, &changed, node)).collect();
        assert_eq!(letters, expected, "{new_pod}");
        InterPodAffinity::remove_pod(&new, &mut changed, &other, cluster.view(), NodeIndex(node));
        assert_eq!(changed, state, "{new_pod}");
    }
}

/// Returns a strategy for pods with required affinity and anti-affinity.
fn any_pod() -> impl Strategy<Value = String> {
    let apps = ["a", "b", "c"];
    let terms = (prop::sample::select(vec!["zone", "host", "rack"]), prop::sample::select(apps.to_vec()))
        .prop_map(|(key, app)| term(key, app));
    let terms = prop::collection::vec(terms, 0..3).prop_map(|terms| terms.join(", "));
    (prop::sample::select(apps.to_vec()), terms.clone(), terms).prop_map(|(app, together, against)| {
        pod(app, &format!("{}, {}", with_affinity(&together), with_anti_affinity(&against)))
    })
}

proptest! {
    /// The state after hypothetical changes equals the state of a cluster with these changes. Undoing the changes
    /// restores the first state.
    #[test]
    fn hypothetical_state_equals_actual_state(
        before in prop::collection::vec((0..6_u32, any_pod()), 0..6),
        after in prop::collection::vec((0..6_u32, any_pod()), 0..4),
        removed_count in 0..6_usize,
        new in any_pod(),
    ) {
        let mut cluster = before.iter().fold(Cluster::new(), |cluster, (node, pod)| cluster.with(&format!("n{node}"), pod));
        if let Some((compiled, state)) = cluster.pre_filter(&new).unwrap() {
            let mut changed = state.clone();
            let removed_count = removed_count.min(before.len());
            let coming: Vec<_> = after.iter().map(|(node, pod)| (NodeIndex(*node), cluster.pod(pod))).collect();
            let leaving = before[..removed_count].iter();
            let leaving: Vec<_> = leaving.map(|(node, pod)| (NodeIndex(*node), cluster.pod(pod))).collect();
            for (node, pod) in &coming {
                InterPodAffinity::add_pod(&compiled, &mut changed, pod, cluster.view(), *node);
            }
            for (node, pod) in &leaving {
                InterPodAffinity::remove_pod(&compiled, &mut changed, pod, cluster.view(), *node);
            }
            let actual = before[removed_count..].iter().chain(&after);
            let mut actual = actual.fold(Cluster::new(), |cluster, (node, pod)| cluster.with(&format!("n{node}"), pod));
            let expected = actual.verdicts(&new);
            let letters: String = cluster.all().into_iter().map(|node| letter(&compiled, &changed, node)).collect();
            prop_assert_eq!(letters, if expected == "skip" { "......".to_string() } else { expected });
            for (node, pod) in &leaving {
                InterPodAffinity::add_pod(&compiled, &mut changed, pod, cluster.view(), *node);
            }
            for (node, pod) in &coming {
                InterPodAffinity::remove_pod(&compiled, &mut changed, pod, cluster.view(), *node);
            }
            prop_assert_eq!(changed, state);
        }
    }
}
