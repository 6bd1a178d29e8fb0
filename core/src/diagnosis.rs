//! Why a pod fits nowhere, in kube-scheduler's words.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::node_mask::NodeMask;
use crate::status::{Code, Status};

/// What a failed attempt found: kube-scheduler's `FitError` with its `Diagnosis`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// Number of nodes in the cluster.
    pub nodes: usize,
    /// PreFilter's rejection of the pod as a whole.
    pub pre_filter: Option<Status>,
    /// How many nodes gave each reason.
    pub reasons: BTreeMap<String, usize>,
    /// The plugins that rejected the pod in PreFilter or on any node: their events may wake it.
    pub unschedulable_plugins: BTreeSet<&'static str>,
    /// Those of them that said `Pending`: what they wait for wakes the pod without backoff.
    pub pending_plugins: BTreeSet<&'static str>,
    /// Nodes where removing pods may help.
    pub resolvable: NodeMask,
    /// What PostFilter said.
    pub post_filter: String,
}

impl Diagnosis {
    /// Takes down who rejected the pod: kube-scheduler's `AddPluginStatus`. Rejections without a plugin are nobody's.
    pub fn add_rejector(&mut self, plugin: &'static str, code: Code) {
        if plugin.is_empty() {
            return;
        }
        self.unschedulable_plugins.insert(plugin);
        if code == Code::Pending {
            self.pending_plugins.insert(plugin);
        }
    }

    /// Takes down that each of so many nodes gave each of these reasons.
    pub fn add_reasons<'r>(&mut self, reasons: impl IntoIterator<Item = &'r Cow<'static, str>>, nodes: usize) {
        for reason in reasons {
            match self.reasons.get_mut(&**reason) {
                Some(known) => *known += nodes,
                None => _ = self.reasons.insert(reason.to_string(), nodes),
            }
        }
    }

    /// The text of the pod's `PodScheduled` condition.
    pub fn message(&self) -> String {
        let mut message = format!("0/{} nodes are available:", self.nodes);
        match &self.pre_filter {
            Some(status) => message += &format!(" {}.", status.message()),
            None => {
                let mut reasons: Vec<_> = self.reasons.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
                // As strings, counts included: so does kube-scheduler.
                reasons.sort_unstable();
                if !reasons.is_empty() {
                    message += &format!(" {}.", reasons.join(", "));
                }
            }
        }
        if !self.post_filter.is_empty() {
            message += " ";
            message += &self.post_filter;
        }
        message
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
