//! Devices that are allocated for a resource claim.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{
    DeviceConfiguration, DeviceToleration, FieldRequirement, NodeSelector, NodeSelectorTerm, QualifiedName, RequestRef,
    RequirementText, TermText,
};
use crate::model::intern::{Interner, Symbol};
use crate::model::quantity::Quantity;
use crate::model::symbols::Symbols;

/// `status.allocation` of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Symbols)]
pub struct AllocationResult {
    /// `devices.results`. Most claims have one device.
    pub results: SmallVec<[DeviceRequestAllocationResult; 1]>,
    /// `devices.config`.
    pub config: Arc<[DeviceAllocationConfiguration]>,
    /// `nodeSelector`: nodes where the devices can be used. `None`: all.
    pub nodes: Option<AllocationNodes>,
    /// `allocationTimestamp` in nanoseconds since 1970.
    pub timestamp: Option<i64>,
}

/// One allocated device.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct DeviceRequestAllocationResult {
    /// `request` that it fulfils.
    pub request: RequestRef,
    /// `driver`.
    pub driver: Symbol,
    /// `pool`.
    pub pool: Symbol,
    /// `device`.
    pub device: Symbol,
    /// `adminAccess`.
    pub admin_access: Option<bool>,
    /// `tolerations` of the request.
    pub tolerations: Arc<[DeviceToleration]>,
    /// `bindingConditions` of the device.
    pub binding_conditions: Arc<[Symbol]>,
    /// `bindingFailureConditions` of the device.
    pub binding_failure_conditions: Arc<[Symbol]>,
    /// `shareID`, for a device that several claims share.
    pub share_id: Option<Arc<str>>,
    /// `consumedCapacity`, for a device that several claims share.
    pub consumed_capacity: Arc<[(QualifiedName, Quantity)]>,
}

/// Configuration for the drivers of allocated devices.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct DeviceAllocationConfiguration {
    /// `source`.
    pub source: ConfigurationSource,
    /// `requests` that it applies to; empty: all.
    pub requests: Arc<[RequestRef]>,
    /// The configuration.
    pub configuration: DeviceConfiguration,
}

/// Source of a [`DeviceAllocationConfiguration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Symbols)]
pub enum ConfigurationSource {
    /// `FromClass`.
    Class,
    /// `FromClaim`.
    Claim,
    /// Any other value.
    Other(Symbol),
}

/// Nodes where allocated devices can be used.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub enum AllocationNodes {
    /// A single node: a selector with one term that has one condition, which is on the node's name.
    Node(Symbol),
    /// Any other selector.
    Selector(Arc<DeviceNodeSelector>),
}

impl AllocationNodes {
    /// Converts a node selector.
    pub fn parse(terms: &[TermText<'_>], interner: &mut Interner) -> AllocationNodes {
        let selector = DeviceNodeSelector::parse(terms, interner);
        if let [TermText { match_expressions, match_fields }] = terms
            && let ([], [field]) = (&match_expressions[..], &match_fields[..])
            && field.operator == "In"
            && let Ok(NodeSelector { terms }) = &selector.parsed
            && let [NodeSelectorTerm { match_expressions, match_fields }] = &terms[..]
            && let ([], [FieldRequirement { negated: false, name }]) = (&match_expressions[..], &match_fields[..])
        {
            return AllocationNodes::Node(*name);
        }
        AllocationNodes::Selector(selector.into())
    }
}

/// A node selector of devices: as written, and parsed.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct DeviceNodeSelector {
    /// The terms as written.
    pub terms: Box<[DeviceNodeSelectorTerm]>,
    /// The parsed selector, or its error in Kubernetes' words.
    pub parsed: Result<NodeSelector, Arc<str>>,
}

/// A term of a [`DeviceNodeSelector`] as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceNodeSelectorTerm {
    /// Conditions on labels.
    pub match_expressions: Box<[DeviceNodeRequirement]>,
    /// Conditions on fields.
    pub match_fields: Box<[DeviceNodeRequirement]>,
}

/// A condition of a [`DeviceNodeSelectorTerm`] as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceNodeRequirement {
    /// The label or field.
    pub key: Symbol,
    /// The operator's name.
    pub operator: Symbol,
    /// The values.
    pub values: Box<[Symbol]>,
}

impl DeviceNodeSelector {
    /// Parses a node selector.
    pub fn parse(terms: &[TermText<'_>], interner: &mut Interner) -> DeviceNodeSelector {
        let parsed = NodeSelector::parse(terms, interner).map_err(Arc::from);
        let terms = terms.iter().map(|term| DeviceNodeSelectorTerm {
            match_expressions: requirements(&term.match_expressions, interner),
            match_fields: requirements(&term.match_fields, interner),
        });
        DeviceNodeSelector { terms: terms.collect(), parsed }
    }

    /// Merges the conditions of all selectors into one term, in order and without duplicates. Selectors that did not
    /// parse are left out.
    pub fn merge<'a>(selectors: impl IntoIterator<Item = &'a DeviceNodeSelector>) -> DeviceNodeSelector {
        let (mut expressions, mut fields) = (Vec::new(), Vec::new());
        let (mut parsed_expressions, mut parsed_fields) = (Vec::new(), Vec::new());
        for selector in selectors {
            let Ok(parsed) = &selector.parsed else { continue };
            for term in &selector.terms {
                add_new(&mut expressions, &term.match_expressions);
                add_new(&mut fields, &term.match_fields);
            }
            for term in parsed.terms.iter() {
                add_new(&mut parsed_expressions, &term.match_expressions);
                add_new(&mut parsed_fields, &term.match_fields);
            }
        }
        let term = DeviceNodeSelectorTerm { match_expressions: expressions.into(), match_fields: fields.into() };
        let parsed =
            NodeSelectorTerm { match_expressions: parsed_expressions.into(), match_fields: parsed_fields.into() };
        let is_empty = parsed == NodeSelectorTerm::default();
        let parsed = if is_empty { NodeSelector::default() } else { NodeSelector { terms: [parsed].into() } };
        DeviceNodeSelector { terms: [term].into(), parsed: Ok(parsed) }
    }
}

fn add_new<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for item in from {
        if !to.contains(item) {
            to.push(item.clone());
        }
    }
}

fn requirements(texts: &[RequirementText<'_>], interner: &mut Interner) -> Box<[DeviceNodeRequirement]> {
    let requirement = |text: &RequirementText<'_>| DeviceNodeRequirement {
        key: interner.intern(text.key),
        operator: interner.intern(text.operator),
        values: text.values.iter().flatten().map(|value| interner.intern(value)).collect(),
    };
    texts.iter().map(requirement).collect()
}
