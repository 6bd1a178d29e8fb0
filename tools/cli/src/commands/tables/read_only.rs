//! Output of the read-only modes.

use std::fmt::Write;

use schedc_core::erased::AnyBundle;
use schedc_kubernetes::dry_run::{Decision, DecisionResult};
use schedc_kubernetes::shadow::{Comparison, Disagreement, Finding, ProfileCounts};
use serde::Serialize;

use crate::commands::output::{Columns, heading};

/// Agreement with kube-scheduler.
#[derive(Debug, Serialize)]
pub(crate) struct Agreement {
    agreement: Vec<ProfileAgreement>,
}

#[derive(Debug, Serialize)]
struct ProfileAgreement {
    profile: &'static str,
    #[serde(flatten)]
    counts: ProfileCounts,
}

impl Agreement {
    /// Returns the agreement of the profiles that compared decisions.
    pub(crate) fn of(bundle: &AnyBundle, counts: &[ProfileCounts]) -> Self {
        let compared = bundle.profiles.iter().zip(counts).filter(|(_, counts)| **counts != ProfileCounts::default());
        let agreement = compared.map(|(profile, counts)| ProfileAgreement { profile: profile.name, counts: *counts });
        Agreement { agreement: agreement.collect() }
    }
}

/// Formats a decision in one or two lines.
pub(crate) fn decision(decision: &Decision) -> String {
    let Decision { pod, decided, .. } = decision;
    match decided {
        DecisionResult::Placed { node } => format!("{pod} -> {node}\n"),
        DecisionResult::Failed { message } => format!("{pod}: failed: {message}\n"),
        DecisionResult::Unschedulable { message, nominated_node, victims } => {
            let mut text = format!("{pod}: {message}\n");
            if let Some(node) = nominated_node.as_ref().filter(|_| !victims.is_empty()) {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "  would evict {} from {node}", victims.join(", "));
            }
            text
        }
    }
}

/// Formats a disagreement, with the scores of the nodes if available.
pub(crate) fn disagreement(disagreement: &Disagreement) -> String {
    let Disagreement { pod, finding, .. } = disagreement;
    match finding {
        Finding::LowerScore { node, best, by: 0, .. } => {
            format!("{pod} was bound to {node}, but it was nominated for {}\n", best.join(", "))
        }
        Finding::LowerScore { node, best, by, scores } => {
            format!(
                "{pod} was bound to {node}, but {} better by {by}\n{}",
                nodes_are(best),
                table(scores, best, Some(node))
            )
        }
        Finding::Infeasible { node, reason, best, .. } if best.is_empty() => {
            format!("{pod} was bound to {node}, but is unschedulable: {reason}\n")
        }
        Finding::Infeasible { node, reason, best, scores } => {
            let table = table(scores, best, None);
            format!("{pod} was bound to {node}, which is not feasible: {reason}; {} best\n{table}", nodes_are(best))
        }
        Finding::OtherMessage { theirs, ours } => {
            format!("{pod} is unschedulable\n  kube-scheduler: {theirs}\n  schedc:         {ours}\n")
        }
        Finding::Fits { theirs, best } => {
            format!("{pod} is unschedulable for kube-scheduler ({theirs}), but {} best\n", nodes_are(best))
        }
    }
}

/// Formats the subject and the verb of a sentence about nodes: the first name, the number of other nodes, and "is" or
/// "are".
fn nodes_are(nodes: &[String]) -> String {
    match nodes {
        [] => "no node is".to_owned(),
        [node] => format!("{node} is"),
        [node, others @ ..] => format!("{node} and {} more are", others.len()),
    }
}

/// Returns a table of the weighted scores of the best node and of the bound node, plugin by plugin; empty without scores.
fn table(scores: &[Comparison], best: &[String], bound: Option<&str>) -> String {
    let Some(best) = best.first().filter(|_| !scores.is_empty()) else { return String::new() };
    let names = [best.as_str()].into_iter().chain(bound).map(|node| format!(">{node}")).collect::<Vec<_>>();
    let mut columns = Columns::new(["SCORE", ">WEIGHT"].into_iter().chain(names.iter().map(String::as_str)));
    let (mut of_best, mut of_bound) = (0, 0);
    for Comparison { plugin, weight, best, bound } in scores {
        let mut row = vec![(*plugin).to_owned(), weight.to_string(), best.weighted.to_string()];
        row.extend(bound.map(|bound| bound.weighted.to_string()));
        of_best += best.weighted;
        of_bound += bound.map_or(0, |bound| bound.weighted);
        columns.row(row);
    }
    let mut row = vec!["total".to_owned(), String::new(), of_best.to_string()];
    row.extend(bound.map(|_| of_bound.to_string()));
    columns.row(row);
    columns.text()
}

/// Returns a table of the agreement.
pub(crate) fn agreement(agreement: &Agreement) -> String {
    if agreement.agreement.is_empty() {
        return "kube-scheduler has made no decision\n".to_owned();
    }
    let mut columns = Columns::new(["PROFILE", "KUBE-SCHEDULER", "SCHEDC", ">PODS", ">%"]);
    for ProfileAgreement { profile, counts } in &agreement.agreement {
        let lower = format!("a lower total, by {} at most", counts.largest_difference);
        let (bound, unschedulable) = (counts.bound(), counts.unschedulable());
        for (recorded, evaluated, pods, all) in [
            ("bound to", "one of the best nodes", counts.same_best, bound),
            ("bound to", &lower, counts.lower_score, bound),
            ("bound to", "not feasible", counts.infeasible, bound),
            ("unschedulable", "same message", counts.same_message, unschedulable),
            ("unschedulable", "other message", counts.other_message, unschedulable),
            ("unschedulable", "feasible", counts.fits, unschedulable),
            ("any decision", "not compared: incomplete data", counts.not_judged, 0),
        ] {
            if pods > 0 {
                let share = if all > 0 { format!("{:.2}", pods as f64 * 100.0 / all as f64) } else { String::new() };
                columns.row([profile, recorded, evaluated, &pods.to_string(), &share]);
            }
        }
    }
    heading("Agreement with kube-scheduler") + "\n" + &columns.text()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use schedc_kubernetes::shadow::NodeScore;

    use super::*;

    fn text_of(finding: Finding) -> String {
        disagreement(&Disagreement { pod: "default/p".into(), profile: "default", finding })
    }

    fn points(weighted: i64) -> NodeScore {
        NodeScore { raw: weighted, normalized: weighted, weighted }
    }

    #[test]
    fn a_disagreement_comes_with_the_scores() {
        let score = |plugin, best, bound| Comparison { plugin, weight: 1, best: points(best), bound };
        let scores = vec![
            score("NodeResourcesFit", 70, Some(points(60))),
            score("NodeResourcesBalancedAllocation", 90, Some(points(95))),
        ];
        let best = vec!["n1".to_owned(), "n3".to_owned()];
        expect![[r#"
            default/p was bound to n2, but n1 and 1 more are better by 5
              SCORE                            WEIGHT   n1   n2
              NodeResourcesFit                      1   70   60
              NodeResourcesBalancedAllocation       1   90   95
              total                                    160  155
        "#]]
        .assert_eq(&text_of(Finding::LowerScore { node: "n2".into(), best: best.clone(), by: 5, scores }));
        let scores = vec![score("NodeResourcesFit", 70, None)];
        let reason = "NodeName: node(s) didn't match".to_owned();
        expect![[r#"
            default/p was bound to n2, which is not feasible: NodeName: node(s) didn't match; n1 and 1 more are best
              SCORE             WEIGHT  n1
              NodeResourcesFit       1  70
              total                     70
        "#]]
        .assert_eq(&text_of(Finding::Infeasible { node: "n2".into(), reason, best, scores }));
    }

    #[test]
    fn the_agreement_has_a_row_for_each_result() {
        let counts = ProfileCounts {
            same_best: 199,
            lower_score: 1,
            largest_difference: 3,
            same_message: 7,
            not_judged: 2,
            ..ProfileCounts::default()
        };
        let all = Agreement { agreement: vec![ProfileAgreement { profile: "default", counts }] };
        let rows: Vec<_> = agreement(&all).lines().skip(1).map(|row| row.trim_start().to_owned()).collect();
        expect![[r#"
            PROFILE  KUBE-SCHEDULER  SCHEDC                         PODS       %
            default  bound to        one of the best nodes           199   99.50
            default  bound to        a lower total, by 3 at most       1    0.50
            default  unschedulable   same message                      7  100.00
            default  any decision    not compared: incomplete data     2"#]]
        .assert_eq(&rows.join("\n"));
    }
}
