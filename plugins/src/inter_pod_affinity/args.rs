//! Arguments: the weight of existing pods' terms.

use schedc_core::args::Args;

/// Arguments of InterPodAffinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct InterPodAffinityArgs {
    /// the weight of a running pod's required affinity terms, which count as preferred ones for a pod that they match;
    /// default 1
    #[args(default = 1, range = 0..=100)]
    pub hard_pod_affinity_weight: i32,
    /// whether a pod without preferred terms is scored without regard to the terms of running pods; default false
    #[args(default = false)]
    pub ignore_preferred_terms_of_existing_pods: bool,
}
