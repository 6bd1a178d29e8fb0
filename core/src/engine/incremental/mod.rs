//! Incremental evaluation: cached answers for pods of one template, updated by the changes since the last pod.
//!
//! A cached answer consists of a [`NodeMask`] of passing nodes for each filter, the raw scores, the totals, and a tree
//! of the best totals. A plugin whose state depends on the cluster updates this state and returns the affected nodes
//! ([`Incremental`](crate::incremental::Incremental)). Kernels run again for these nodes and for nodes whose columns
//! changed. The result equals that of a full evaluation.
//!
//! Pods share an answer if their compiled forms are equal. Their [`ExcludedFromSignature`] parts may differ: plugins
//! and kernels always receive the current compiled pod, never an equal earlier one.

mod best_by_group;
mod best_tree;
mod cached_answer;
mod cached_diagnosis;
mod flipping_nodes;
mod nominated_nodes;
mod reusable_scores;
pub(crate) mod sample;
mod signatures;
mod update;
mod verdict_counts;

pub(crate) use cached_answer::CachedAnswer;
pub(crate) use cached_diagnosis::{CachedDiagnosis, NodeVerdicts};
pub use nominated_nodes::NominatedNodes;
pub(crate) use signatures::{CompiledPod, LatestAnswer, SignatureId, Signatures, compile};
pub use verdict_counts::VerdictCounts;
