//! Preferred terms.

use schedc_core::extension_points::ScoreError;

use super::*;

/// The raw and the normalized scores of all nodes.
type Scores = ([i64; 6], [i64; 6]);

impl Cluster {
    /// Returns the scores; `None` if PreScore skips.
    fn scores(&mut self, args: &InterPodAffinityArgs, pod: &str) -> Result<Option<Scores>, Status> {
        let pod = self.pod(pod);
        let pod = self.compile(args, &pod);
        let all: NodeMask = self.cache.base.alive().clone();
        let slot = InterPodAffinity::default().pre_score(args, &pod, self.view(), &all)?;
        if slot.skip {
            return Ok(None);
        }
        let raw = [0, 1, 2, 3, 4, 5]
            .map(|node| InterPodAffinity::score(args, &pod, &slot.state, NodeIndex(node)).expect("a score"));
        let mut extent = Extent::EMPTY;
        raw.iter().for_each(|&raw| extent.include(raw));
        Ok(Some((raw, raw.map(|raw| InterPodAffinity::normalize(args, extent, raw)))))
    }
}

fn preferred(terms: &[(i32, &str)]) -> String {
    let terms = terms.iter().map(|(weight, term)| format!("{{weight: {weight}, podAffinityTerm: {term}}}"));
    format!("preferredDuringSchedulingIgnoredDuringExecution: [{}]", terms.collect::<Vec<_>>().join(", "))
}

fn preferred_affinity(terms: &[(i32, &str)]) -> String {
    format!("podAffinity: {{{}}}", preferred(terms))
}

fn preferred_anti_affinity(terms: &[(i32, &str)]) -> String {
    format!("podAntiAffinity: {{{}}}", preferred(terms))
}

fn raw(cluster: Cluster, args: &InterPodAffinityArgs, pod: &str) -> Option<[i64; 6]> {
    let mut cluster = cluster;
    cluster.scores(args, pod).expect("terms are valid").map(|scores| scores.0)
}

#[test]
fn preferred_terms_score_the_domains_of_matching_pods() {
    let cluster = || {
        Cluster::new()
            .with("n0", &pod("web", ""))
            .with("n1", &pod("web", ""))
            .with("n3", &pod("db", ""))
            .with("n5", &pod("log", ""))
    };
    let check =
        |affinity: &str, expected| assert_eq!(raw(cluster(), &DEFAULT, &pod("new", affinity)), expected, "{affinity}");
    let (zone_web, host_web, zone_db) = (&*term("zone", "web"), &*term("host", "web"), &*term("zone", "db"));
    // Every pod counts.
    check(&preferred_affinity(&[(10, zone_web)]), Some([20, 20, 0, 0, 0, 0]));
    check(&preferred_affinity(&[(10, zone_web), (3, host_web), (1, zone_db)]), Some([23, 23, 1, 1, 0, 0]));
    check(&preferred_anti_affinity(&[(10, zone_db)]), Some([0, 0, -10, -10, 0, 0]));
    check(
        &format!("{}, {}", preferred_affinity(&[(5, zone_web)]), preferred_anti_affinity(&[(7, host_web)])),
        Some([3, 3, 0, 0, 0, 0]),
    );
    // PreScore skips if no pod matches. It does not skip because of sums of 0 or weights of 0.
    check(&preferred_affinity(&[(10, &term("zone", "nothing"))]), None);
    check(&preferred_affinity(&[(10, &term("zone", "log"))]), None);
    check(&preferred_affinity(&[(10, &term("rack", "web"))]), None);
    check("", None);
    check(
        &format!("{}, {}", preferred_affinity(&[(5, zone_web)]), preferred_anti_affinity(&[(5, zone_web)])),
        Some([0; 6]),
    );
    check(&preferred_affinity(&[(0, zone_web)]), Some([0; 6]));
    check(
        &preferred_affinity(&[(10, "{topologyKey: zone, labelSelector: {}, namespaceSelector: {}}")]),
        Some([20, 20, 10, 10, 0, 0]),
    );
}

#[test]
fn terms_of_running_pods_score_their_domains() {
    let cluster = || {
        Cluster::new()
            .with("n0", &pod("a", &preferred_affinity(&[(10, &term("zone", "new"))])))
            .with("n2", &pod("b", &preferred_anti_affinity(&[(4, &term("host", "new"))])))
            .with("n3", &pod("c", &with_affinity(&term("zone", "new"))))
            .with("n3", &pod("c", &with_affinity(&term("zone", "new"))))
            .with("n4", &pod("d", &with_anti_affinity(&term("zone", "new"))))
    };
    let with = |weight, ignore| InterPodAffinityArgs {
        hard_pod_affinity_weight: weight,
        ignore_preferred_terms_of_existing_pods: ignore,
    };
    assert_eq!(raw(cluster(), &DEFAULT, &pod("new", "")), Some([10, 10, -2, 2, 0, 0]));
    assert_eq!(raw(cluster(), &with(0, false), &pod("new", "")), Some([10, 10, -4, 0, 0, 0]));
    assert_eq!(raw(cluster(), &with(40, false), &pod("new", "")), Some([10, 10, 76, 80, 0, 0]));
    assert_eq!(raw(cluster(), &DEFAULT, &pod("other", "")), None);
    // The terms of existing pods are ignored, except for a pod with preferred terms.
    assert_eq!(raw(cluster(), &with(1, true), &pod("new", "")), None);
    let b = preferred_affinity(&[(100, &term("host", "b"))]);
    assert_eq!(raw(cluster(), &with(1, true), &pod("new", &b)), Some([10, 10, 98, 2, 0, 0]));
    let hard = || Cluster::new().with("n3", &pod("c", &with_affinity(&term("zone", "new"))));
    assert_eq!(raw(hard(), &with(0, false), &pod("new", "")), None);
}

#[test]
fn scores_are_normalized_from_lowest_to_highest() {
    let normalized = |affinity: &str| {
        let mut cluster =
            Cluster::new().with("n0", &pod("web", "")).with("n2", &pod("web", "")).with("n4", &pod("db", ""));
        cluster.scores(&DEFAULT, &pod("new", affinity)).unwrap().unwrap()
    };
    let (zone, host) = (term("zone", "web"), term("host", "web"));
    assert_eq!(
        normalized(&preferred_affinity(&[(2, &zone), (1, &host)])),
        ([3, 2, 3, 2, 0, 0], [100, 66, 100, 66, 0, 0])
    );
    assert_eq!(
        normalized(&preferred_anti_affinity(&[(2, &zone), (1, &host)])),
        ([-3, -2, -3, -2, 0, 0], [0, 33, 0, 33, 100, 100])
    );
    assert_eq!(normalized(&preferred_affinity(&[(0, &zone)])), ([0; 6], [0; 6]));
    // 100 * (29 / 100) is a little less than 29 in double precision.
    assert_eq!(
        normalized(&preferred_affinity(&[(100, &term("host", "db")), (29, &zone)])),
        ([29, 29, 29, 29, 100, 0], [28, 28, 28, 28, 100, 0])
    );
}

#[test]
fn without_pre_filter_broken_terms_fail() {
    let broken = "{topologyKey: zone, labelSelector: {matchExpressions: [{key: app, operator: Near}]}}";
    let status = Cluster::new().scores(&DEFAULT, &pod("web", &preferred_affinity(&[(1, broken)]))).unwrap_err();
    let expected = "failed to parse pod: preferredAffinityTerms: \"Near\" is not a valid label selector operator";
    assert_eq!(status, Status::error(expected));
}

#[test]
fn without_pre_score_the_attempt_fails() {
    let mut cluster = Cluster::new();
    let new = cluster.pod(&pod("web", ""));
    let new = cluster.compile(&DEFAULT, &new);
    let score = InterPodAffinity::score(&DEFAULT, &new, &InterPodAffinityScores::default(), NodeIndex(0));
    let expected = "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found";
    assert_eq!(score, Err(ScoreError(expected)));
}
