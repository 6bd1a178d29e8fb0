//! The phases of an evaluation, which a full evaluation and the update of a cached answer have in common.

use crate::model::NodeIndex;
use crate::model::node_mask::NodeMask;

/// The evaluation of one pod, as six phases. A full evaluation runs them for all candidate nodes. The update of a cached
/// answer runs them for the nodes that changed, and leaves all other results as they are.
pub(super) trait Phases {
    /// Reason why there is no result.
    type Failure;

    /// Finds the nodes to evaluate.
    fn changes(&mut self) -> Result<(), Self::Failure>;
    /// Runs the filters for the nodes to evaluate.
    fn verdicts(&mut self) -> Result<(), Self::Failure>;
    /// Combines all verdicts into the set of feasible nodes.
    fn feasible_nodes(&mut self) -> Result<(), Self::Failure>;
    /// Computes the raw scores of feasible nodes, if there are at least two: with a single feasible node,
    /// kube-scheduler does not score.
    fn scores(&mut self) -> Result<(), Self::Failure>;
    /// Computes totals from normalised and weighted scores, if there are at least two feasible nodes.
    fn totals(&mut self) -> Result<(), Self::Failure>;
    /// Finds the nodes to choose from.
    fn choice(&self) -> Choice;

    /// Runs all phases.
    #[inline(always)]
    fn run(&mut self) -> Result<Choice, Self::Failure> {
        self.changes()?;
        self.verdicts()?;
        self.feasible_nodes()?;
        self.scores()?;
        self.totals()?;
        Ok(self.choice())
    }
}

/// The nodes to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This node.
    Node(NodeIndex),
    /// One of the nodes with the highest total, by a random draw.
    Best {
        /// Number of these nodes.
        ties: usize,
    },
    /// No node is feasible.
    NoNode,
}

impl Choice {
    /// Returns the choice from `count` feasible nodes; `ties` of them have the highest total.
    #[inline(always)]
    pub(super) fn of(feasible: &NodeMask, count: usize, ties: impl FnOnce() -> usize) -> Choice {
        match count {
            0 => Choice::NoNode,
            1 => feasible.first().map_or(Choice::NoNode, Choice::Node),
            _ => Choice::Best { ties: ties() },
        }
    }
}
