//! Cluster-wide state that plugins read.

mod image_nodes;

pub use image_nodes::ImageNodes;
