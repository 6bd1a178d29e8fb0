//! Lists of resource amounts, added at full precision and rounded once.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use schedc_core::intern::Interner;
use schedc_core::model::{Resources, label_key_problems};
use schedc_core::quantity::Quantity;
use smallvec::SmallVec;

/// Kubernetes' `ResourceList`: amounts by resource name. The entries are few, so a vector is enough.
#[derive(Clone, Debug, Default)]
pub(super) struct Amounts<'a>(SmallVec<[(&'a str, Quantity); 4]>);

pub(crate) type ResourceList = BTreeMap<String, Text>;

impl<'a> Amounts<'a> {
    pub(super) fn new(written: Option<&'a ResourceList>) -> Amounts<'a> {
        let parsed = |(name, text): (&'a String, &Text)| (name.as_str(), quantity(text));
        Amounts(written.into_iter().flatten().map(parsed).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<Quantity> {
        self.0.iter().find(|amount| amount.0 == name).map(|amount| amount.1)
    }

    pub(super) fn set(&mut self, name: &'a str, quantity: Quantity) {
        match self.slot(name) {
            Some(slot) => *slot = quantity,
            None => self.0.push((name, quantity)),
        }
    }

    pub(super) fn add(&mut self, other: &Amounts<'a>) {
        for &(name, quantity) in &other.0 {
            match self.slot(name) {
                Some(slot) => slot.add(quantity),
                None => self.0.push((name, quantity)),
            }
        }
    }

    /// Raises every resource to the larger of both amounts.
    pub(super) fn raise_to(&mut self, other: &Amounts<'a>) {
        for &(name, quantity) in &other.0 {
            match self.slot(name) {
                Some(slot) => slot.raise_to(quantity),
                None => self.0.push((name, quantity)),
            }
        }
    }

    /// Adds defaults for missing resources. An explicit 0 stays.
    pub(super) fn fill(&mut self, defaults: &Amounts<'a>) {
        for &(name, quantity) in &defaults.0 {
            if self.slot(name).is_none() {
                self.0.push((name, quantity));
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, Quantity)> {
        self.0.iter().copied()
    }

    #[cfg(feature = "manifests")]
    pub(super) fn into_iter(self) -> impl Iterator<Item = (&'a str, Quantity)> {
        self.0.into_iter()
    }

    fn slot(&mut self, name: &str) -> Option<&mut Quantity> {
        self.0.iter_mut().find(|amount| amount.0 == name).map(|amount| &mut amount.1)
    }

    /// Rounds up to whole units, cpu to millicores. Drops unknown resources and `pods` (kube-scheduler's
    /// `Resource.Add`).
    pub(super) fn to_resources(&self, interner: &mut Interner) -> Resources {
        let mut resources = Resources::default();
        for (name, quantity) in self.iter() {
            match name {
                "cpu" => resources.milli_cpu = quantity.milli_value(),
                "memory" => resources.memory = quantity.value(),
                "ephemeral-storage" => resources.ephemeral_storage = quantity.value(),
                _ if is_scalar(name) => *resources.scalar_mut(interner.intern(name)) = quantity.value(),
                _ => {}
            }
        }
        resources
    }
}

/// Parses a quantity; a wrong one counts as 0.
pub(super) fn quantity(text: &Text) -> Quantity {
    Quantity::parse(&text.0).unwrap_or_default()
}

/// Returns whether a resource is an extended resource (`IsExtendedResourceName`).
pub(super) fn is_extended(name: &str) -> bool {
    name.contains('/')
        && !is_native(name)
        && !name.starts_with("requests.")
        && label_key_problems(&format!("requests.{name}")).is_empty()
}

fn is_native(name: &str) -> bool {
    name.contains("kubernetes.io/")
}

/// Returns whether kube-scheduler counts a resource other than cpu, memory and ephemeral storage
/// (`IsScalarResourceName`).
fn is_scalar(name: &str) -> bool {
    is_extended(name) || is_native(name) || name.starts_with("hugepages-") || name.starts_with("attachable-volumes-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalar_resources_are_recognized_by_name() {
        for (name, scalar) in [
            ("example.com/gpu", true),
            ("hugepages-2Mi", true),
            ("kubernetes.io/batch", true),
            ("sub.kubernetes.io/x", true),
            ("attachable-volumes-csi-x", true),
            ("gpu", false),
            ("pods", false),
            ("storage", false),
            ("requests.example.com/gpu", false),
            ("Example.com/gpu", false),
            ("a/b/c", false),
        ] {
            assert_eq!(is_scalar(name), scalar, "{name}");
        }
    }
}
