//! Reasons why no node is feasible, in kube-scheduler's words.

use std::cmp::Ordering;
use std::fmt::Write;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::node_mask::NodeMask;
use crate::plugin_api::plugin_names::PluginNames;
use crate::plugin_api::status::{Code, Reason, ReasonList, Status};

/// Number of bytes that suffices for most messages, without PostFilter's part.
const USUAL_MESSAGE: usize = 192;

/// Result of a failed attempt: kube-scheduler's `FitError` with its `Diagnosis`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// Number of nodes in the cluster.
    pub nodes: usize,
    /// PreFilter's rejection of the pod as a whole.
    pub pre_filter: Option<Status>,
    /// Number of nodes for each reason.
    pub reasons: ReasonCounts,
    /// The plugins that rejected the pod in PreFilter or on any node. Their events can make the pod schedulable.
    pub unschedulable_plugins: PluginNames,
    /// The plugins that rejected the pod with `Pending`: their events cause an attempt without backoff.
    pub pending_plugins: PluginNames,
    /// Nodes where removing pods may help.
    pub resolvable: Arc<NodeMask>,
    /// Message of PostFilter.
    pub post_filter: ReasonList,
}

impl Diagnosis {
    /// Makes a diagnosis without reasons. In contrast to the default value, it shares a set of nodes and needs no
    /// allocation.
    pub(crate) fn new(nodes: usize, resolvable: Arc<NodeMask>) -> Self {
        Diagnosis {
            nodes,
            pre_filter: None,
            reasons: ReasonCounts::default(),
            unschedulable_plugins: PluginNames::default(),
            pending_plugins: PluginNames::default(),
            resolvable,
            post_filter: ReasonList::new(),
        }
    }

    /// Adds a plugin that rejected the pod: kube-scheduler's `AddPluginStatus`. Rejections without a plugin are
    /// ignored.
    pub(crate) fn add_rejector(&mut self, plugin: &'static str, code: Code) {
        self.unschedulable_plugins.insert(plugin);
        if code == Code::Pending {
            self.pending_plugins.insert(plugin);
        }
    }

    /// Returns the text of the pod's `PodScheduled` condition.
    pub fn message(&self) -> String {
        let length = self.post_filter.iter().map(|reason| reason.len() + 2).sum::<usize>();
        let mut message = String::with_capacity(USUAL_MESSAGE + length);
        match &self.pre_filter {
            Some(status) => {
                _ = write!(message, "0/{} nodes are available: {}.", self.nodes, status.message());
            }
            None => self.reasons.write_message(self.nodes, &mut message),
        }
        // A single empty reason adds nothing.
        if length > 2 {
            for (at, reason) in self.post_filter.iter().enumerate() {
                message += if at == 0 { " " } else { ", " };
                message += reason;
            }
        }
        message
    }
}

/// Number of nodes for each reason, sorted by the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReasonCounts(SmallVec<[(Reason, usize); 4]>);

impl ReasonCounts {
    /// Adds `nodes` to the number of nodes with this reason.
    pub fn add(&mut self, reason: &Reason, nodes: usize) {
        match self.0.binary_search_by(|(known, _)| known.cmp(reason)) {
            Ok(at) => self.0[at].1 += nodes,
            Err(at) => self.0.insert(at, (reason.clone(), nodes)),
        }
    }

    /// Returns the reasons with their numbers of nodes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Reason, usize)> {
        self.0.iter().map(|(reason, nodes)| (reason, *nodes))
    }

    /// Returns whether there is no reason.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends kube-scheduler's message for a pod for which none of `nodes` nodes is feasible.
    pub fn write_message(&self, nodes: usize, message: &mut String) {
        _ = write!(message, "0/{nodes} nodes are available:");
        let mut reasons: SmallVec<[(usize, &str); 8]> = self.iter().map(|(reason, nodes)| (nodes, &**reason)).collect();
        // Sorted as strings that begin with the count, as in kube-scheduler.
        reasons.sort_unstable_by(|(n, a), (m, b)| compare_counts(*n, *m).then_with(|| a.cmp(b)));
        for (at, (nodes, reason)) in reasons.iter().enumerate() {
            let separator = if at == 0 { " " } else { ", " };
            _ = write!(message, "{separator}{nodes} {reason}");
        }
        if !reasons.is_empty() {
            message.push('.');
        }
    }
}

impl FromIterator<(Reason, usize)> for ReasonCounts {
    fn from_iter<I: IntoIterator<Item = (Reason, usize)>>(reasons: I) -> Self {
        let mut counts = ReasonCounts::default();
        reasons.into_iter().for_each(|(reason, nodes)| counts.add(&reason, nodes));
        counts
    }
}

/// Compares two counts as strings. A count precedes longer ones that begin with its digits: in messages, a space
/// follows the count, and a space sorts before digits.
fn compare_counts(n: usize, m: usize) -> Ordering {
    let digits = |number: usize| number.checked_ilog10().unwrap_or(0);
    let (n_digits, m_digits) = (digits(n), digits(m));
    let longest = n_digits.max(m_digits);
    let aligned = |number: usize, digits: u32| number as u128 * 10_u128.pow(longest - digits);
    (aligned(n, n_digits), n_digits).cmp(&(aligned(m, m_digits), m_digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_sorted_as_strings() {
        let reasons = [("Insufficient cpu", 3), ("node(s) were unschedulable", 10), ("Too many pods", 2)];
        let diagnosis = Diagnosis {
            nodes: 13,
            reasons: reasons.into_iter().map(|(reason, n)| (reason.into(), n)).collect(),
            post_filter: ReasonList::from_iter(["preemption: not helpful".into()]),
            ..Diagnosis::default()
        };
        assert_eq!(
            diagnosis.message(),
            "0/13 nodes are available: 10 node(s) were unschedulable, 2 Too many pods, 3 Insufficient cpu. preemption: not helpful"
        );
    }

    #[test]
    fn numbers_are_compared_as_strings() {
        let mut numbers = [2, 10, 1, 100, 19, 0, 20, 3, 1000];
        numbers.sort_by(|n, m| compare_counts(*n, *m));
        let mut expected = numbers.map(|number| format!("{number} "));
        expected.sort_unstable();
        assert_eq!(numbers.map(|number| format!("{number} ")), expected);
    }

    #[test]
    fn a_rejection_in_pre_filter_stands_for_all_nodes() {
        let diagnosis = Diagnosis {
            nodes: 2,
            pre_filter: Some(Status::unresolvable("pod affinity terms conflict")),
            ..Diagnosis::default()
        };
        assert_eq!(diagnosis.message(), "0/2 nodes are available: pod affinity terms conflict.");
    }
}
