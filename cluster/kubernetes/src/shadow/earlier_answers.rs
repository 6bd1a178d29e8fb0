//! Answers for pending pods, computed before a scheduler wrote a claim for the pod.
//!
//! A scheduler writes a pod's claims before it binds the pod. After the write, only the chosen node is feasible, so the
//! choice cannot be compared any more.

use std::hash::Hash;

use schedc_core::explain::Explanation;
use schedc_core::map::Map;

/// For each pod, the answer that was computed before the first write of a claim for the pod, and this claim. `P`
/// identifies pods, `C` claims.
#[derive(Debug)]
pub struct EarlierAnswers<P, C>(Map<P, (C, Explanation)>);

/// Write of a claim.
#[derive(Clone, Debug)]
pub struct ClaimWrite<P, C> {
    /// The claim.
    pub claim: C,
    /// The pod for whose extended resources the claim is created, if any.
    pub created_for: Option<P>,
    /// Whether the written claim is allocated.
    pub is_allocated: bool,
    /// The pods for which the written claim is reserved.
    pub reserved_for: Vec<P>,
}

impl<P, C> Default for EarlierAnswers<P, C> {
    fn default() -> Self {
        EarlierAnswers(Map::default())
    }
}

impl<P: Clone + Eq + Hash, C: Clone + PartialEq> EarlierAnswers<P, C> {
    /// Evaluates the pods of a claim before it is written, except for those that were evaluated before an earlier
    /// write.
    pub fn before_write(&mut self, write: ClaimWrite<P, C>, mut explain: impl FnMut(&P) -> Option<Explanation>) {
        let ClaimWrite { claim, created_for, is_allocated, reserved_for } = write;
        let reserved_for = reserved_for.into_iter().filter(|_| is_allocated);
        let pods: Vec<P> = created_for.into_iter().chain(reserved_for).collect();
        // If the claim is no longer reserved for a pod, the pod's attempt has ended. Without the old answer,
        // the pod is evaluated again in its next attempt.
        self.0.retain(|pod, (written, _)| *written != claim || pods.contains(pod));
        for pod in pods {
            if !self.0.contains_key(&pod)
                && let Some(found) = explain(&pod)
            {
                self.0.insert(pod, (claim.clone(), found));
            }
        }
    }

    /// Removes the answers that were computed before a write of this claim. Call it when the claim is deleted.
    pub fn delete_claim(&mut self, claim: &C) {
        self.0.retain(|_, (written, _)| written != claim);
    }

    /// Removes the answer for a pod, and returns it.
    pub fn take(&mut self, pod: &P) -> Option<Explanation> {
        self.0.remove(pod).map(|(_, found)| found)
    }
}
