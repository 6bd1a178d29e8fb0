//! The objects that scheduling looks at, compact: strings interned, quantities as integers.

mod node;
mod node_selector_parse;
mod pod;
mod resources;
mod selector;
mod taint;

pub use node::{ContainerImage, Node, NodeIndex};
pub use node_selector_parse::{
    RequirementText, TermText, dns_subdomain_problems, label_key_problems, label_value_problems,
};
pub use pod::{HostPort, Pod, PodSpec, PodUsage, PreemptionPolicy, PreferredTerm, Protocol, Uid};
pub use resources::{NonZero, Resources};
pub use selector::{
    FieldRequirement, Labels, LabelsExt, NodeSelector, NodeSelectorTerm, Operator, Requirement, label_integer,
};
pub use taint::{Effect, Taint, Toleration, TolerationOperator};
