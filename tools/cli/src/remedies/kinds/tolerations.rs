//! Tolerations of the pod.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::core::v1::{Node as ApiNode, Pod as ApiPod, Taint as ApiTaint, Toleration};
use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::{CONDITION_TAINTS, CORDONED, Situation, hard_taints};

/// Maximum number of sets of taints that are tried. Sets of more nodes are tried first.
const MAX_SETS: usize = 32;

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Taint {
    /// The key.
    pub key: String,
    /// The value, possibly empty.
    pub value: String,
    /// The effect.
    pub effect: String,
}

impl Taint {
    pub(super) fn new(key: &str, value: Option<&str>, effect: &str) -> Self {
        Taint { key: key.to_owned(), value: value.unwrap_or_default().to_owned(), effect: effect.to_owned() }
    }
}

/// Adds tolerations to the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AddTolerations {
    /// The tolerated taints.
    pub taints: Vec<Taint>,
}

impl AddTolerations {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let pod = fork.subject();
        let mut sets: BTreeMap<Vec<Taint>, usize> = BTreeMap::new();
        for node in situation.all_nodes("TaintToleration").filter_map(|name| fork.node(name)) {
            *sets.entry(untolerated(&pod, node)).or_default() += 1;
        }
        let mut sets: Vec<(Vec<Taint>, usize)> = sets.into_iter().filter(|(taints, _)| !taints.is_empty()).collect();
        sets.sort_by_key(|(_, nodes)| Reverse(*nodes));
        sets.into_iter().take(MAX_SETS).for_each(|(taints, _)| add(AddTolerations { taints }));
    }
}

impl Change for AddTolerations {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let tolerations = pod.spec.get_or_insert_default().tolerations.get_or_insert_default();
        tolerations.extend(self.taints.iter().map(|Taint { key, value, effect }| Toleration {
            key: Some(key.clone()),
            operator: Some(if value.is_empty() { "Exists" } else { "Equal" }.to_owned()),
            value: Some(value.clone()).filter(|value| !value.is_empty()),
            effect: Some(effect.clone()),
            ..Toleration::default()
        }));
        fork.set(pod);
        true
    }

    fn disturbance(&self) -> u32 {
        let is_condition = self.taints.iter().any(|taint| taint.key.starts_with(CONDITION_TAINTS));
        19 + self.taints.len() as u32 + if is_condition { 200 } else { 0 }
    }

    fn parts(&self) -> Vec<Self> {
        let without = |at: usize| {
            let mut taints = self.taints.clone();
            taints.remove(at);
            AddTolerations { taints }
        };
        if self.taints.len() < 2 { Vec::new() } else { (0..self.taints.len()).map(without).collect() }
    }
}

/// Returns the taints of a node that keep the pod away. The taint of a cordoned node is left out.
pub(super) fn untolerated(pod: &ApiPod, node: &ApiNode) -> Vec<Taint> {
    let tolerations = || pod.spec.iter().flat_map(|spec| spec.tolerations.iter().flatten());
    let taints = hard_taints(node).filter(|taint| taint.key != CORDONED);
    let taints = taints.filter(|taint| !tolerations().any(|toleration| tolerates(toleration, taint)));
    let mut taints: Vec<Taint> =
        taints.map(|taint| Taint::new(&taint.key, taint.value.as_deref(), &taint.effect)).collect();
    taints.sort_unstable();
    taints
}

/// Returns whether a toleration tolerates a taint. Operators that compare numbers count as not tolerating.
fn tolerates(toleration: &Toleration, taint: &ApiTaint) -> bool {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (key, effect) = (text(&toleration.key), text(&toleration.effect));
    let is_equal = || text(&toleration.value) == text(&taint.value);
    (key.is_empty() || key == taint.key)
        && (effect.is_empty() || effect == taint.effect)
        && match toleration.operator.as_deref() {
            Some("Exists") => true,
            None | Some("" | "Equal") => is_equal(),
            Some(_) => false,
        }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Taint { key, value, effect } = self;
        if value.is_empty() { write!(f, "{key}:{effect}") } else { write!(f, "{key}={value}:{effect}") }
    }
}

/// Writes a list of taints.
pub(super) fn write_taints(f: &mut fmt::Formatter<'_>, taints: &[Taint]) -> fmt::Result {
    f.write_str(if taints.len() == 1 { "taint" } else { "taints" })?;
    taints.iter().enumerate().try_for_each(|(at, taint)| write!(f, "{} {taint}", if at > 0 { "," } else { "" }))
}

impl fmt::Display for AddTolerations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tolerate the ")?;
        write_taints(f, &self.taints)
    }
}
