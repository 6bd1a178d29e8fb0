//! Classes of nodes with equal scores.

use schedc_core::extension_points::{NormalizeScore, ScoreClass};
use schedc_core::model::NodeIndex;

use super::{ConstraintCounts, SpreadScores, round};
use crate::indexes::Domain;
use crate::pod_topology_spread::{PodTopologySpread, PodTopologySpreadPod};

/// Maximum number of domains of a key if classes contain the domain. With more domains, classes contain the number of
/// pods in the domain; then a change of a pod affects the nodes of its domain instead of all classes.
const MAX_CLASS_DOMAINS: usize = if cfg!(test) { 2 } else { 256 };

/// The part of a node's class for one constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClassKey {
    /// The node's domain.
    Domain,
    /// The number of pods in the node's domain.
    Pods,
}

impl ClassKey {
    pub(super) fn new(is_hostname: bool, domains: usize) -> Self {
        if is_hostname || domains > MAX_CLASS_DOMAINS { ClassKey::Pods } else { ClassKey::Domain }
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        match self {
            ClassKey::Domain => 16,
            ClassKey::Pods => 32,
        }
    }

    /// Returns the mask of a part. As a part, this value represents a node without the label.
    #[inline(always)]
    fn mask(self) -> u64 {
        (1 << self.bits()) - 1
    }
}

/// Returns whether a class has enough bits for the parts of all constraints.
pub(super) fn fit_class_bits(constraints: &[ConstraintCounts]) -> bool {
    constraints.iter().map(|counts| counts.part.bits()).sum::<u32>() <= u64::BITS
}

impl SpreadScores {
    /// Returns the class of a feasible node.
    #[inline(always)]
    pub(in super::super) fn class_of(&self, pod: &PodTopologySpreadPod, node: NodeIndex) -> Option<ScoreClass> {
        if !self.has_class_parts {
            return self.of_node(pod, node).map(|raw| ScoreClass(raw as u64));
        }
        let (mut class, mut shift) = (0, 0);
        for counts in self.constraints.as_ref()? {
            let domain = counts.domain(node);
            let part = match counts.part {
                _ if domain == Domain::NONE => counts.part.mask(),
                ClassKey::Domain => domain.get() as u64,
                ClassKey::Pods => u64::from(counts.pods[counts.index_of(node, domain)] as u32),
            };
            class |= part << shift;
            shift += counts.part.bits();
        }
        Some(ScoreClass(class))
    }

    /// Returns the score of the nodes of a class.
    pub(in super::super) fn of_class(&self, pod: &PodTopologySpreadPod, class: ScoreClass) -> i64 {
        if !self.has_class_parts {
            return class.0 as i64;
        }
        let (mut sum, mut rest) = (0.0, class.0);
        for counts in self.constraints.iter().flatten() {
            let (bits, mask) = (counts.part.bits(), counts.part.mask());
            let part = rest & mask;
            rest >>= bits;
            if part != mask {
                let pods = match counts.part {
                    ClassKey::Domain => counts.pods.get(part as usize).copied().unwrap_or(0),
                    ClassKey::Pods => part as i32,
                };
                sum += counts.score_of(pods);
            } else if pod.requires_all_keys {
                return PodTopologySpread::IGNORED;
            }
        }
        round(sum)
    }
}
