//! Amounts of resources by name, for sums over nodes and pods.

use std::collections::BTreeMap;

use schedc_core::intern::Interner;
use schedc_core::model::Resources;

/// Amounts by the name of the resource; `cpu` in thousandths.
pub(crate) type Amounts = BTreeMap<String, i128>;

/// Returns the amounts of requests, or of the resources of a node; `pods` is the amount of the resource `pods`.
pub(crate) fn amounts(resources: &Resources, pods: i128, interner: &Interner) -> Amounts {
    let Resources { milli_cpu, memory, ephemeral_storage, scalars } = resources;
    let mut amounts = Amounts::from([
        ("cpu".to_owned(), i128::from(*milli_cpu)),
        ("memory".to_owned(), i128::from(*memory)),
        ("ephemeral-storage".to_owned(), i128::from(*ephemeral_storage)),
        ("pods".to_owned(), pods),
    ]);
    amounts.extend(scalars.iter().map(|(name, amount)| (interner.resolve(*name).to_owned(), i128::from(*amount))));
    amounts
}

/// Adds amounts to sums.
pub(crate) fn add(sums: &mut Amounts, amounts: &Amounts) {
    for (resource, amount) in amounts {
        match sums.get_mut(resource) {
            Some(sum) => *sum += amount,
            None => drop(sums.insert(resource.clone(), *amount)),
        }
    }
}
