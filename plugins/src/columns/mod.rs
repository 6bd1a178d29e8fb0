//! Columns: the state of each node that plugins read.

mod node_disks;
mod node_features;
mod node_identity;
mod node_images;
mod node_labels;
mod node_ports_in_use;
mod node_resources;
mod node_taints;

pub use node_disks::NodeDisks;
pub(crate) use node_disks::{exclude_each_other, is_disk};
pub use node_features::NodeFeatures;
pub use node_identity::NodeIdentity;
pub use node_images::NodeImages;
pub use node_labels::NodeLabels;
pub use node_ports_in_use::NodePortsInUse;
pub(crate) use node_ports_in_use::collide;
pub use node_resources::{Basics, NodeResources};
pub use node_taints::NodeTaints;
pub(crate) use node_taints::is_hard;

#[cfg(test)]
mod tests;
