//! The kinds of remedies.

use std::fmt;

use serde::Serialize;

use super::change::Change;
use super::fork::Fork;
use super::kinds::affinity_term::RelaxAffinityTerm;
use super::kinds::capacity::FreeCapacity;
use super::kinds::cordon::Uncordon;
use super::kinds::device_claims::{
    ChangeDeviceClass, CreateResourceClaim, LowerDeviceCount, RemoveDeviceSelector, TolerateDevices,
};
use super::kinds::eviction::Evict;
use super::kinds::features::DeclareFeatures;
use super::kinds::gates::RemoveGates;
use super::kinds::host_port::RemoveHostPort;
use super::kinds::new_node::AddNode;
use super::kinds::node_affinity::RemoveNodeAffinity;
use super::kinds::node_labels::LabelNode;
use super::kinds::node_selector::{ChangeNodeSelector, RemoveNodeSelector};
use super::kinds::priority::RaisePriority;
use super::kinds::request::LowerRequest;
use super::kinds::spread::RelaxSpread;
use super::kinds::taints::RemoveTaints;
use super::kinds::tolerations::AddTolerations;
use super::kinds::volumes::{CreateClaim, CreateVolume};
use super::situation::Situation;

macro_rules! remedies {
    ($($kind:ident,)*) => {
        /// A change that makes a pod schedulable.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(tag = "kind")]
        pub enum Remedy {
            $(#[doc = concat!("The change `", stringify!($kind), "`.")] $kind($kind),)*
        }

        $(impl From<$kind> for Remedy {
            fn from(change: $kind) -> Self {
                Remedy::$kind(change)
            }
        })*

        impl Remedy {
            fn change(&self) -> &dyn Change {
                match self {
                    $(Remedy::$kind(change) => change,)*
                }
            }

            fn change_mut(&mut self) -> &mut dyn Change {
                match self {
                    $(Remedy::$kind(change) => change,)*
                }
            }

            /// Returns the changes that have one part less than this change.
            pub(super) fn parts(&self) -> Vec<Remedy> {
                match self {
                    $(Remedy::$kind(change) => change.parts().into_iter().map(Remedy::from).collect(),)*
                }
            }

            /// Returns the changes that may help against the rejections, the least disturbing first.
            pub(super) fn candidates(fork: &mut Fork<'_>, situation: &Situation) -> Vec<Remedy> {
                let mut candidates = Vec::new();
                $($kind::candidates(fork, situation, &mut |change: $kind| candidates.push(change.into()));)*
                candidates.sort_by_key(Remedy::disturbance);
                candidates
            }
        }
    };
}

remedies! {
    RemoveGates, Uncordon, CreateClaim, CreateResourceClaim, CreateVolume, ChangeDeviceClass, ChangeNodeSelector, TolerateDevices,
    RemoveDeviceSelector, LowerDeviceCount, AddTolerations, LowerRequest, RelaxSpread,
    LabelNode, RelaxAffinityTerm, RemoveHostPort, RemoveNodeSelector, RemoveNodeAffinity, RemoveTaints, AddNode, Evict,
    RaisePriority, FreeCapacity, DeclareFeatures,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.change().fmt(f)
    }
}

impl Remedy {
    pub(super) fn apply(&self, fork: &mut Fork<'_>) -> bool {
        self.change().apply(fork)
    }

    pub(super) fn disturbance(&self) -> u32 {
        self.change().disturbance()
    }

    /// Returns whether the change is a variant of `other`, so that one of both is enough. Changes of some kinds have a
    /// variant for each node or class. Changes with parts, such as taints, must have all parts of `other`. Changes of
    /// the other kinds must be equal to `other`.
    pub(super) fn is_variant_of(&self, other: &Remedy) -> bool {
        match (self, other) {
            (Remedy::Uncordon(_), Remedy::Uncordon(_))
            | (Remedy::AddNode(_), Remedy::AddNode(_))
            | (Remedy::Evict(_), Remedy::Evict(_)) => true,
            (Remedy::RemoveTaints(change), Remedy::RemoveTaints(other)) => {
                other.taints.iter().all(|taint| change.taints.contains(taint))
            }
            (Remedy::LabelNode(change), Remedy::LabelNode(other)) => {
                other.labels.keys().all(|key| change.labels.contains_key(key))
            }
            (Remedy::FreeCapacity(change), Remedy::FreeCapacity(other)) => change.resource == other.resource,
            (Remedy::DeclareFeatures(change), Remedy::DeclareFeatures(other)) => {
                other.features.iter().all(|feature| change.features.contains(feature))
            }
            (Remedy::CreateClaim(change), Remedy::CreateClaim(other)) => change.claim == other.claim,
            (Remedy::CreateResourceClaim(change), Remedy::CreateResourceClaim(other)) => change.claim == other.claim,
            _ => self == other,
        }
    }

    pub(super) fn strengths(&self) -> i64 {
        self.change().strengths()
    }

    pub(super) fn with_strength(&self, strength: i64) -> Self {
        let mut weaker = self.clone();
        weaker.change_mut().set_strength(strength);
        weaker
    }
}
