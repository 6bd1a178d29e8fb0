//! Counts of agreement with kube-scheduler.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::finding::Finding;

/// Counts of one profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileCounts {
    /// Pods that were bound to one of the best nodes.
    pub same_best: u64,
    /// Pods that were bound to a feasible node with a lower total score than the best nodes.
    pub lower_score: u64,
    /// Largest difference between the total scores of a best node and of the node to which the pod was bound.
    pub largest_difference: i64,
    /// Pods that were bound to an infeasible node.
    pub infeasible: u64,
    /// Pods that both schedulers found unschedulable, with the same message.
    pub same_message: u64,
    /// Pods that both schedulers found unschedulable, with different messages.
    pub other_message: u64,
    /// Pods that only kube-scheduler found unschedulable.
    pub fits: u64,
    /// Pods that were bound before the informers synced, and therefore not compared.
    pub not_judged: u64,
}

impl ProfileCounts {
    /// Counts a pod that was bound. `finding`: how the decisions of the two schedulers differ, if at all.
    pub fn count_bound(&mut self, finding: Option<&Finding>) {
        match finding {
            None => self.same_best += 1,
            Some(Finding::LowerScore { by, .. }) => {
                self.lower_score += 1;
                self.largest_difference = self.largest_difference.max(*by);
            }
            Some(_) => self.infeasible += 1,
        }
    }

    /// Counts a pod that was reported as unschedulable. `finding`: how the results of the two schedulers differ, if at
    /// all.
    pub fn count_rejected(&mut self, finding: Option<&Finding>) {
        match finding {
            None => self.same_message += 1,
            Some(Finding::Fits { .. }) => self.fits += 1,
            Some(_) => self.other_message += 1,
        }
    }

    /// Returns the number of bound pods that were compared.
    pub fn bound(&self) -> u64 {
        self.same_best + self.lower_score + self.infeasible
    }

    /// Returns each count with its label value in metrics.
    pub(crate) fn results(&self) -> [(&'static str, u64); 7] {
        [
            ("same_best", self.same_best),
            ("lower_score", self.lower_score),
            ("infeasible", self.infeasible),
            ("same_message", self.same_message),
            ("other_message", self.other_message),
            ("fits", self.fits),
            ("not_judged", self.not_judged),
        ]
    }

    /// Returns the number of unschedulable pods that were compared.
    pub fn unschedulable(&self) -> u64 {
        self.same_message + self.other_message + self.fits
    }
}

/// Counts of all profiles. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ShadowCounts(Arc<Mutex<Vec<ProfileCounts>>>);

impl ShadowCounts {
    /// Returns the counts by profile index. Trailing profiles without counts may be missing.
    pub fn counts(&self) -> Vec<ProfileCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self, profile: usize, count: impl FnOnce(&mut ProfileCounts)) {
        let mut profiles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if profiles.len() <= profile {
            profiles.resize(profile + 1, ProfileCounts::default());
        }
        count(&mut profiles[profile]);
    }
}
