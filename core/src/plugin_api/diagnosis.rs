//! Reasons why no node is feasible, in kube-scheduler's words.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use smallvec::SmallVec;

use crate::model::node_mask::NodeMask;
use crate::plugin_api::status::{Code, Status};

/// Number of bytes for which most messages have room, without the message of PostFilter.
const USUAL_MESSAGE: usize = 192;

/// Result of a failed attempt: kube-scheduler's `FitError` with its `Diagnosis`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// Number of nodes in the cluster.
    pub nodes: usize,
    /// PreFilter's rejection of the pod as a whole.
    pub pre_filter: Option<Status>,
    /// Number of nodes for each reason.
    pub reasons: BTreeMap<String, usize>,
    /// The plugins that rejected the pod in PreFilter or on any node. Their events can make the pod schedulable.
    pub unschedulable_plugins: BTreeSet<&'static str>,
    /// The plugins that rejected the pod with `Pending`: their events cause an attempt without backoff.
    pub pending_plugins: BTreeSet<&'static str>,
    /// Nodes where removing pods may help.
    pub resolvable: NodeMask,
    /// Message of PostFilter.
    pub post_filter: String,
}

impl Diagnosis {
    /// Adds a plugin that rejected the pod: kube-scheduler's `AddPluginStatus`. Rejections without a plugin are
    /// ignored.
    pub(crate) fn add_rejector(&mut self, plugin: &'static str, code: Code) {
        if plugin.is_empty() {
            return;
        }
        self.unschedulable_plugins.insert(plugin);
        if code == Code::Pending {
            self.pending_plugins.insert(plugin);
        }
    }

    /// Adds reasons that apply to this number of nodes.
    pub fn add_reasons<'r>(&mut self, reasons: impl IntoIterator<Item = &'r Cow<'static, str>>, nodes: usize) {
        for reason in reasons {
            match self.reasons.get_mut(&**reason) {
                Some(known) => *known += nodes,
                None => _ = self.reasons.insert(reason.to_string(), nodes),
            }
        }
    }

    /// Returns the text of the pod's `PodScheduled` condition.
    pub fn message(&self) -> String {
        let mut message = String::with_capacity(USUAL_MESSAGE + self.post_filter.len());
        _ = write!(message, "0/{} nodes are available:", self.nodes);
        match &self.pre_filter {
            Some(status) => _ = write!(message, " {}.", status.message()),
            None => self.write_reasons(&mut message),
        }
        if !self.post_filter.is_empty() {
            message += " ";
            message += &self.post_filter;
        }
        message
    }

    fn write_reasons(&self, message: &mut String) {
        let mut reasons: SmallVec<[_; 8]> =
            self.reasons.iter().map(|(reason, nodes)| (*nodes, reason.as_str())).collect();
        if reasons.len() > 1 {
            // As strings including counts, like kube-scheduler.
            reasons.sort_by_cached_key(|(nodes, reason)| format!("{nodes} {reason}"));
        }
        for (at, (nodes, reason)) in reasons.iter().enumerate() {
            let separator = if at == 0 { " " } else { ", " };
            _ = write!(message, "{separator}{nodes} {reason}");
        }
        if !reasons.is_empty() {
            message.push('.');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_sorted_as_strings() {
        let reasons = [("Insufficient cpu", 3), ("node(s) were unschedulable", 10), ("Too many pods", 2)];
        let diagnosis = Diagnosis {
            nodes: 13,
            reasons: reasons.into_iter().map(|(reason, n)| (reason.to_string(), n)).collect(),
            post_filter: "preemption: not helpful".into(),
            ..Diagnosis::default()
        };
        assert_eq!(
            diagnosis.message(),
            "0/13 nodes are available: 10 node(s) were unschedulable, 2 Too many pods, 3 Insufficient cpu. preemption: not helpful"
        );
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
