//! PreFilter and Filter.

use super::*;

const ZONE_KEY: &str = "topology.kubernetes.io/zone";

fn hard(key: &str, max_skew: i32, more: &str) -> String {
    constraint("DoNotSchedule", key, max_skew, more)
}

/// Returns Filter's result for each node: `+` feasible, `s` skew, `m` a missing label.
fn verdicts(pod: &PodTopologySpreadPod, cycle: &SpreadCounts, cluster: &Cluster) -> String {
    let verdict = |node| match PodTopologySpread::filter(&DEFAULT, pod, cycle, cluster.view().row(node)) {
        Ok(()) => '+',
        Err(SpreadRejection::Skew) => 's',
        Err(SpreadRejection::MissingLabel) => 'm',
        Err(SpreadRejection::NotPrepared) => '!',
    };
    cluster.cache.base.alive().iter().map(verdict).collect()
}

fn filter_with(args: &'static PodTopologySpreadArgs, cluster: &mut Cluster, pod: &str) -> String {
    let pod = cluster.pod(pod);
    let pod = cluster.compile(args, &pod);
    match PodTopologySpread::default().pre_filter(args, &pod, cluster.view()) {
        Ok(pre_filter) if pre_filter.slot.skip => "skip".into(),
        Ok(pre_filter) => verdicts(&pod, &pre_filter.slot.state, cluster),
        Err(status) => format!("{}: {}", status.code, status.message()),
    }
}

fn check(cluster: &mut Cluster, pod: &str, expected: &str) {
    assert_eq!(filter_with(&DEFAULT, cluster, pod), expected, "{pod}");
}

#[test]
fn domains_beyond_the_skew_are_rejected() {
    let zone = |max_skew| pod(&hard(ZONE_KEY, max_skew, ""), "");
    // Two in zone a, one in b, none in the zone with an empty name.
    let mut cluster = Cluster::new().with("web", [2, 0, 1, 0, 7]).with("db", [0, 0, 0, 9, 0]);
    check(&mut cluster, &zone(1), "sss+m");
    check(&mut cluster, &zone(2), "ss++m");
    check(&mut cluster, &zone(3), "++++m");
    let hostname = |max_skew| pod(&hard("kubernetes.io/hostname", max_skew, ""), "");
    check(&mut cluster, &hostname(1), "s+s+s");
    check(&mut cluster, &hostname(2), "s+++s");
    check(&mut cluster, &pod(&hard("rack", 1, ""), ""), "mmmmm");
}

#[test]
fn a_pod_outside_its_own_selector_adds_nothing() {
    let mut cluster = Cluster::new().with("db", [2, 0, 1, 0, 0]);
    let db = hard(ZONE_KEY, 1, "").replace("web", "db");
    check(&mut cluster, &pod(&db, ""), "ss++m");
}

#[test]
fn all_constraints_must_hold() {
    let mut cluster = Cluster::new().with("web", [1, 0, 1, 1, 0]);
    let (zone, host) = (hard(ZONE_KEY, 1, ""), hard("kubernetes.io/hostname", 1, ""));
    // n4 has no zone, so its host does not count for the minimum.
    check(&mut cluster, &pod(&format!("{zone}, {host}"), ""), "s+ssm");
    check(&mut cluster, &pod(&format!("{host}, {zone}"), ""), "s+ssm");
    cluster.node(1, ", disk: ssd", "{}");
    // A host counts only if it also has the label of the other constraint. Therefore n1 alone determines the minimum.
    check(&mut cluster, &pod(&format!("{host}, {}", hard("disk", 1, "")), ""), "m+mmm");
}

#[test]
fn below_min_domains_the_minimum_is_zero() {
    let mut cluster = Cluster::new().with("web", [1, 0, 1, 1, 0]);
    let check = |cluster: &mut Cluster, domains: i32, expected: &str| {
        check(cluster, &pod(&hard(ZONE_KEY, 1, &format!(", minDomains: {domains}")), ""), expected);
    };
    check(&mut cluster, 3, "++++m");
    check(&mut cluster, 4, "ssssm");
}

#[test]
fn only_nodes_that_the_policies_include_count() {
    let mut cluster = Cluster::new().with("web", [1, 0, 0, 1, 0]);
    cluster.node(
        2,
        ", disk: hdd",
        "{taints: [{key: full, effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}]}",
    );
    let selector = ", nodeSelector: {disk: ssd}";
    let taints = ", nodeTaintsPolicy: Honor";
    for n in [0, 1, 3] {
        cluster.node(n, ", disk: ssd", "{}");
    }
    check(&mut cluster, &pod(&hard(ZONE_KEY, 1, ""), ""), "ss+sm");
    check(&mut cluster, &pod(&hard(ZONE_KEY, 1, ""), selector), "++++m");
    check(&mut cluster, &pod(&hard(ZONE_KEY, 1, ", nodeAffinityPolicy: Ignore"), selector), "ss+sm");
    check(&mut cluster, &pod(&hard(ZONE_KEY, 1, taints), ""), "++++m");
    check(&mut cluster, &pod(&hard(ZONE_KEY, 1, taints), ", tolerations: [{key: full, operator: Exists}]"), "ss+sm");
    let both = format!("{}, {}", hard(ZONE_KEY, 1, taints), hard("kubernetes.io/hostname", 1, ""));
    check(&mut cluster, &pod(&both, ""), "s++sm");
    // No node counts, so there are fewer domains than the default of `minDomains`, 1.
    check(&mut cluster, &pod(&hard(ZONE_KEY, 1, ""), ", nodeSelector: {disk: none}"), "++++m");
}

#[test]
fn terminating_pods_and_other_namespaces_do_not_count() {
    let mut cluster = Cluster::new();
    cluster.add(0, "metadata: {labels: {app: web}, deletionTimestamp: 2026-01-01T00:00:00Z}");
    cluster.add(0, "metadata: {labels: {app: web}, namespace: other}");
    check(&mut cluster, &pod(&hard(ZONE_KEY, 1, ""), ""), "++++m");
    cluster.add(0, "metadata: {labels: {app: web}}");
    check(&mut cluster, &pod(&hard(ZONE_KEY, 1, ""), ""), "ss++m");
    let with_selector = |selector| hard(ZONE_KEY, 1, "").replace("{matchLabels: {app: web}}", selector);
    check(&mut cluster, &pod(&with_selector("{}"), ""), "++++m");
    check(&mut cluster, &pod(&with_selector("{}").replace("maxSkew: 1", "maxSkew: 0"), ""), "ssssm");
    check(&mut cluster, &pod(&with_selector("null").replace("maxSkew: 1", "maxSkew: 0"), ""), "++++m");
}

#[test]
fn pre_filter_skips_without_hard_constraints() {
    let mut cluster = Cluster::new();
    check(&mut cluster, "spec: {}", "skip");
    check(&mut cluster, &pod(&constraint("ScheduleAnyway", ZONE_KEY, 1, ""), ""), "skip");
    check(&mut cluster, &pod(&constraint("Never", ZONE_KEY, 1, ""), ""), "skip");
    let pod = cluster.pod("{}");
    let pod = cluster.compile(&DEFAULT, &pod);
    assert_eq!(verdicts(&pod, &SpreadCounts::default(), &cluster), "!!!!!", "without PreFilter");
}

#[test]
fn an_invalid_selector_fails_the_point_that_uses_it() {
    let mut cluster = Cluster::new();
    let broken = |action| constraint(action, ZONE_KEY, 1, "").replace("{app: web}", "{app: a b}");
    let error = "Error: get constraints from pod: obtaining pod's hard topology spread constraints: values[0][app]: \
                 Invalid value: \"a b\": a valid label must be";
    let found = filter_with(&DEFAULT, &mut cluster, &pod(&broken("DoNotSchedule"), ""));
    assert!(found.starts_with(error), "{found}");
    check(&mut cluster, &pod(&broken("ScheduleAnyway"), ""), "skip");
}

#[test]
fn default_constraints_apply_to_pods_of_workloads() {
    let list = args::<PodTopologySpreadArgs>(
        "defaulting-type = 'List'
         default-constraints = [
             { max-skew = 1, topology-key = 'topology.kubernetes.io/zone', when-unsatisfiable = 'DoNotSchedule' }]",
    )
    .unwrap();
    let mut cluster = Cluster::new().with("web", [1, 0, 0, 0, 0]);
    let plain = "{metadata: {labels: {app: web}}}";
    let owner = "{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}";
    let owned = format!("{{metadata: {{labels: {{app: web}}, ownerReferences: [{owner}]}}}}");
    for pod in [plain, &owned] {
        assert_eq!(filter_with(list, &mut cluster, pod), "skip", "no workload selects the pod");
    }
    cluster.workload(WorkloadKind::ReplicaSet, "web", "web");
    assert_eq!(filter_with(list, &mut cluster, plain), "skip");
    assert_eq!(filter_with(list, &mut cluster, &owned), "ss++m");
    cluster.workload(WorkloadKind::Service, "all", "web");
    assert_eq!(filter_with(list, &mut cluster, plain), "ss++m");
    assert_eq!(filter_with(&DEFAULT, &mut cluster, plain), "skip", "the defaults of Kubernetes are soft");
    let own = pod(&hard(ZONE_KEY, 2, ""), "");
    assert_eq!(filter_with(list, &mut cluster, &own), "++++m", "the pod's constraint replaces the defaults");
}

#[test]
fn terminating_pods_count_when_removed_hypothetically() {
    let mut cluster = Cluster::new().with("web", [1, 0, 0, 1, 0]);
    let terminating = cluster.pod("metadata: {labels: {app: web}, deletionTimestamp: 2026-01-01T00:00:00Z}");
    let pod = cluster.pod(&pod(&hard(ZONE_KEY, 1, ""), ""));
    let pod = cluster.compile(&DEFAULT, &pod);
    let mut cycle = PodTopologySpread::default().pre_filter(&DEFAULT, &pod, cluster.view()).unwrap().slot.state;
    assert_eq!(verdicts(&pod, &cycle, &cluster), "ss+sm");
    PodTopologySpread::remove_pod(&pod, &mut cycle, &terminating, cluster.view(), NodeIndex(2));
    assert_eq!(verdicts(&pod, &cycle, &cluster), "ss+sm", "zone b has -1 pods");
    PodTopologySpread::remove_pod(&pod, &mut cycle, &terminating, cluster.view(), NodeIndex(0));
    assert_eq!(verdicts(&pod, &cycle, &cluster), "ss+sm");
    PodTopologySpread::add_pod(&pod, &mut cycle, &terminating, cluster.view(), NodeIndex(2));
    assert_eq!(verdicts(&pod, &cycle, &cluster), "+++sm");
}

proptest! {
    #[test]
    fn hypothetical_pods_count_like_actual_pods(
        counts in prop::array::uniform5(0..3usize),
        history in prop::collection::vec((any::<bool>(), 0..5usize, prop::sample::select(vec!["web", "db"])), 0..12),
        max_skew in 1..4,
        min_domains in 1..5,
        taints: bool,
    ) {
        let mut cluster = Cluster::new().with("web", counts);
        cluster.node(1, "", "{taints: [{key: full, effect: NoSchedule}]}");
        let more = if taints { ", nodeTaintsPolicy: Honor" } else { "" };
        let zone = hard(ZONE_KEY, max_skew, &format!(", minDomains: {min_domains}{more}"));
        let yaml = pod(&format!("{zone}, {}", hard("kubernetes.io/hostname", max_skew, more)), "");
        let pod = cluster.pod(&yaml);
        let compiled = cluster.compile(&DEFAULT, &pod);
        let start = PodTopologySpread::default().pre_filter(&DEFAULT, &compiled, cluster.view()).unwrap().slot.state;
        let mut cycle = start.clone();
        let mut steps = vec![start];
        let others = ["web", "db"].map(|app| cluster.pod(&format!("metadata: {{labels: {{app: {app}}}}}")));
        let other = |app| if app == "web" { &others[0] } else { &others[1] };
        for &(is_added, node, app) in &history {
            let change = if is_added { PodTopologySpread::add_pod } else { PodTopologySpread::remove_pod };
            change(&compiled, &mut cycle, other(app), cluster.view(), NodeIndex(node as u32));
            steps.push(cycle.clone());
        }
        let end = steps.pop();
        for &(is_added, node, app) in history.iter().rev() {
            let undo = if is_added { PodTopologySpread::remove_pod } else { PodTopologySpread::add_pod };
            undo(&compiled, &mut cycle, other(app), cluster.view(), NodeIndex(node as u32));
            let before = steps.pop();
            prop_assert_eq!(Some(&cycle), before.as_ref(), "undone exactly");
        }
        let mut actual = counts.map(|count| count as i32);
        for &(is_added, node, _) in history.iter().filter(|step| step.2 == "web") {
            actual[node] += if is_added { 1 } else { -1 };
        }
        if let Some(end) = end && actual.iter().all(|count| *count >= 0) {
            let mut actual = Cluster::new().with("web", actual.map(|count| count as usize));
            actual.node(1, "", "{taints: [{key: full, effect: NoSchedule}]}");
            let found = filter_with(&DEFAULT, &mut actual, &yaml);
            prop_assert_eq!(verdicts(&compiled, &end, &cluster), found);
        }
    }
}
