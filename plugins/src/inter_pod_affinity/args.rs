//! Arguments: the weight of existing pods' terms.

use schedc_core::args::Args;

/// Arguments of InterPodAffinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct InterPodAffinityArgs {
    /// weight of an existing pod's required affinity terms in the score of a pod that they match; default 1
    #[args(default = 1, range = 0..=100)]
    pub hard_pod_affinity_weight: i32,
    /// whether the terms of existing pods are ignored for a pod without preferred terms; default false
    #[args(default = false)]
    pub ignore_preferred_terms_of_existing_pods: bool,
}
