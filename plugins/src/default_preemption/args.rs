//! Arguments: the number of candidates to find.

use schedc_core::args::{Args, Errors, Node, Part};

/// Arguments of DefaultPreemption: the number of candidates after which the search ends.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
#[args(check = check_not_both_zero)]
pub struct DefaultPreemptionArgs {
    /// minimum number of candidates, as a percentage of the nodes where preemption may help; default 10
    #[args(default = 10, range = 0..=100)]
    pub min_candidate_nodes_percentage: i32,
    /// minimum number of candidates; applies if it is higher than the number from the percentage; default 100
    #[args(default = 100, range = 0..)]
    pub min_candidate_nodes_absolute: i32,
}

const fn check_not_both_zero(args: &DefaultPreemptionArgs, node: &Node, errors: &mut Errors) {
    if args.min_candidate_nodes_percentage == 0 && args.min_candidate_nodes_absolute == 0 {
        errors.report(
            node,
            &[
                Part::Name("min-candidate-nodes-percentage"),
                Part::Text(" and "),
                Part::Name("min-candidate-nodes-absolute"),
                Part::Text(" must not both be 0"),
            ],
        );
    }
}

impl DefaultPreemptionArgs {
    /// Returns the number of candidates after which the search ends (`calculateNumCandidates`). `nodes`: number of
    /// nodes where preemption may help.
    pub(super) fn candidate_count(&self, nodes: usize) -> usize {
        let in_percent = nodes * usize::try_from(self.min_candidate_nodes_percentage).unwrap_or(0) / 100;
        let absolute = usize::try_from(self.min_candidate_nodes_absolute).unwrap_or(0);
        in_percent.max(absolute).min(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::args;

    #[test]
    fn the_candidate_count_is_a_percentage_with_a_minimum() {
        for (profile, nodes, candidate_count) in [
            ("", 0, 0),
            ("", 99, 99),
            ("", 500, 100),
            ("", 5000, 500),
            ("min-candidate-nodes-absolute = 0", 99, 9),
            ("min-candidate-nodes-absolute = 0", 9, 0),
            ("min-candidate-nodes-percentage = 100", 5000, 5000),
            ("min-candidate-nodes-percentage = 0", 5000, 100),
        ] {
            let args = args::<DefaultPreemptionArgs>(profile).unwrap();
            assert_eq!(args.candidate_count(nodes), candidate_count, "{profile} {nodes}");
        }
    }

    #[test]
    fn invalid_arguments_are_reported() {
        for (profile, complaint) in [
            (
                "min-candidate-nodes-percentage = 101",
                "p.toml:1:34: `min-candidate-nodes-percentage` is 101, but must be 0..=100",
            ),
            (
                "min-candidate-nodes-absolute = -1",
                "p.toml:1:32: `min-candidate-nodes-absolute` is -1, but must be 0..=2147483647",
            ),
            (
                "min-candidate-nodes-percentage = 0\nmin-candidate-nodes-absolute = 0",
                "p.toml:1:1: `min-candidate-nodes-percentage` and `min-candidate-nodes-absolute` must not both be 0",
            ),
        ] {
            assert_eq!(args::<DefaultPreemptionArgs>(profile), Err(complaint.to_owned()), "{profile}");
        }
    }
}
