//! PreScore, Score and NormalizeScore.

use schedc_core::extension_points::{Extent, NormalizeScore};

use super::*;

const ZONE_KEY: &str = "topology.kubernetes.io/zone";

fn soft(key: &str, max_skew: i32, more: &str) -> String {
    constraint("ScheduleAnyway", key, max_skew, more)
}

/// Returns the raw and the normalized scores of feasible nodes; `None` if Score is skipped.
fn scores(
    args: &'static PodTopologySpreadArgs,
    cluster: &mut Cluster,
    pod: &str,
    feasible: &[u32],
) -> Option<[Vec<i64>; 2]> {
    let pod = cluster.pod(pod);
    let pod = cluster.compile(args, &pod);
    let feasible: NodeMask = feasible.iter().copied().map(NodeIndex).collect();
    let slot = PodTopologySpread::default().pre_score(args, &pod, cluster.view(), &feasible).expect("a state");
    let score = |node| PodTopologySpread::score(args, &pod, &slot.state, cluster.view().row(node)).expect("a score");
    let raw: Vec<i64> = (!slot.skip).then(|| feasible.iter().map(score).collect())?;
    let mut extent = Extent::EMPTY;
    raw.iter().for_each(|&raw| extent.include_for::<PodTopologySpread>(raw));
    let normalized = raw.iter().map(|&raw| PodTopologySpread::normalize(args, extent, raw)).collect();
    Some([raw, normalized])
}

fn check(cluster: &mut Cluster, pod: &str, feasible: &[u32], raw: &[i64], normalized: &[i64]) {
    let found = scores(&DEFAULT, cluster, pod, feasible);
    assert_eq!(found, Some([raw.to_vec(), normalized.to_vec()]), "{pod} {feasible:?}");
}

const IGNORED_SCORE: i64 = PodTopologySpread::IGNORED;

#[test]
fn domains_with_fewer_pods_are_better() {
    let zone = pod(&soft(ZONE_KEY, 1, ""), "");
    let mut cluster = Cluster::new().with("web", [2, 1, 1, 0, 5]);
    // Three domains: each pod weighs ln(5). The pods of the node without a zone do not count.
    check(&mut cluster, &zone, &[0, 1, 2, 3, 4], &[5, 5, 2, 0, IGNORED_SCORE], &[0, 0, 60, 100, 0]);
    // The pods of infeasible nodes count, their domains do not: each pod weighs ln(4).
    check(&mut cluster, &zone, &[0, 2], &[4, 1], &[25, 100]);
    check(&mut cluster, &zone, &[2], &[1], &[100]);
    check(&mut cluster, &zone, &[3], &[0], &[100]);
    check(&mut cluster, &zone, &[4], &[IGNORED_SCORE], &[0]);
    // A higher maximum skew reduces the difference.
    check(&mut cluster, &pod(&soft(ZONE_KEY, 5, ""), ""), &[0, 2, 3], &[9, 6, 4], &[44, 77, 100]);
}

#[test]
fn hostname_constraints_count_each_feasible_node() {
    let mut cluster = Cluster::new().with("web", [2, 1, 1, 0, 5]);
    let host = pod(&soft("kubernetes.io/hostname", 1, ""), "");
    // Five hosts: each pod weighs ln(7). Two hosts: ln(4).
    check(&mut cluster, &host, &[0, 1, 2, 3, 4], &[4, 2, 2, 0, 10], &[60, 80, 80, 100, 0]);
    check(&mut cluster, &host, &[0, 1], &[3, 1], &[33, 100]);
    // n4 does not have the label of the other constraint: it is not scored, and does not count as a host.
    let both = pod(&format!("{}, {}", soft("kubernetes.io/hostname", 1, ""), soft(ZONE_KEY, 1, "")), "");
    check(&mut cluster, &both, &[0, 4], &[5, IGNORED_SCORE], &[100, 0]);
}

#[test]
fn only_included_nodes_and_running_pods_count() {
    let mut cluster = Cluster::new().with("web", [1, 3, 1, 0, 0]);
    cluster.node(1, "", "{taints: [{key: full, effect: NoExecute}]}");
    cluster.node(0, ", disk: ssd", "{}");
    let taints = ", nodeTaintsPolicy: Honor";
    check(&mut cluster, &pod(&soft(ZONE_KEY, 1, ""), ""), &[0, 2], &[6, 1], &[16, 100]);
    check(&mut cluster, &pod(&soft(ZONE_KEY, 1, taints), ""), &[0, 2], &[1, 1], &[100, 100]);
    check(&mut cluster, &pod(&soft(ZONE_KEY, 1, ""), ", nodeSelector: {disk: ssd}"), &[0, 2], &[1, 0], &[0, 100]);
    let host = pod(&soft("kubernetes.io/hostname", 1, taints), "");
    check(&mut cluster, &host, &[0, 1], &[1, 4], &[100, 25]);
    cluster.add(0, "metadata: {labels: {app: web}, deletionTimestamp: 2026-01-01T00:00:00Z}");
    cluster.add(0, "metadata: {labels: {app: web}, namespace: other}");
    check(&mut cluster, &pod(&soft(ZONE_KEY, 1, taints), ""), &[0, 2], &[1, 1], &[100, 100]);
    let everything = soft(ZONE_KEY, 1, "").replace("{matchLabels: {app: web}}", "{}");
    check(&mut cluster, &pod(&everything, ""), &[0, 2], &[0, 0], &[100, 100]);
}

#[test]
fn system_defaults_spread_pods_of_workloads() {
    let mut cluster = Cluster::new().with("web", [1, 0, 0, 0, 1]);
    let web = "{metadata: {labels: {app: web}}}";
    assert_eq!(scores(&DEFAULT, &mut cluster, web, &[0, 1]), None, "no workload selects the pod");
    cluster.workload(WorkloadKind::Service, "web", "web");
    // Host: ln(5) for each pod, plus 2. Zone: ln(4) for each pod, plus 4. A node without a zone is scored by host
    // alone, but counts as a zone with an empty name.
    check(&mut cluster, web, &[0, 1, 4], &[9, 7, 4], &[44, 66, 100]);
    // If a zone with an empty name exists, it also has the pods of nodes without a zone.
    check(&mut cluster, web, &[3, 4], &[7, 3], &[42, 100]);
    let own = pod(&constraint("DoNotSchedule", ZONE_KEY, 1, ""), "");
    assert_eq!(scores(&DEFAULT, &mut cluster, &own, &[0, 1]), None, "the pod's constraint replaces the defaults");
}

#[test]
fn scores_of_minus_one_are_ignored() {
    let mut cluster = Cluster::new().with("web", [0, 0, 2, 0, 0]);
    let zone = pod(&soft(ZONE_KEY, 0, ""), "");
    // n0 scores -1, with which kube-scheduler marks excluded nodes; n2 scores 2 * ln(4) - 1, rounded.
    check(&mut cluster, &zone, &[0, 2], &[-1, 2], &[0, -50]);
}

#[test]
fn without_pre_score_scoring_fails() {
    let mut cluster = Cluster::new();
    let pod = cluster.pod("{}");
    let pod = cluster.compile(&DEFAULT, &pod);
    let row = cluster.view().row(NodeIndex(0));
    let error = PodTopologySpread::score(&DEFAULT, &pod, &SpreadScores::default(), row).map_err(|error| error.0);
    assert_eq!(error, Err("error reading \"PreScorePodTopologySpread\" from cycleState: not found"));
}

#[test]
fn an_invalid_selector_fails_the_attempt() {
    let mut cluster = Cluster::new();
    let broken =
        soft(ZONE_KEY, 1, "").replace("matchLabels: {app: web}", "matchExpressions: [{key: a, operator: Near}]");
    let pod = cluster.pod(&pod(&broken, ""));
    let pod = cluster.compile(&DEFAULT, &pod);
    let status =
        PodTopologySpread::default().pre_score(&DEFAULT, &pod, cluster.view(), &NodeMask::default()).unwrap_err();
    let error = "calculating preScoreState: obtaining pod's soft topology spread constraints: \
                 \"Near\" is not a valid label selector operator";
    assert_eq!((status.code, &*status.message()), (Code::Error, error));
}
