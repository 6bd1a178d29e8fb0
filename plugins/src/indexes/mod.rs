//! Indexes: cluster-wide state that plugins read.

mod affinity_terms;
mod attached_volumes;
mod device_classes;
mod disruption_budgets;
mod epoch;
mod image_nodes;
mod node_counts;
mod registry;
mod resource_claims;
mod resource_slices;
mod selector_counts;
mod topology;
mod volumes;
mod workload_selectors;

pub use affinity_terms::{AffinityTermEntry, AffinityTerms, ScoredTermKind, TermId};
pub use attached_volumes::{AttachedVolumes, CountedVolume, DriverNodes};
pub use device_classes::DeviceClasses;
pub use disruption_budgets::{BudgetsVersion, DisruptionBudgets};
pub use epoch::Epoch;
pub use image_nodes::ImageNodes;
pub use node_counts::NodeCounts;
pub use resource_claims::ResourceClaims;
pub use resource_slices::ResourceSlices;
pub use selector_counts::{PodQuery, PodQueryId, PodTerm, SelectorCounts};
pub use topology::{Domain, DomainNodes, Topology, TopologyKey};
pub use volumes::{ClaimKey, Volumes};
pub use workload_selectors::WorkloadSelectors;
