//! Features that nodes declare.

use std::fmt;

use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Upgrades a node to a version that declares features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DeclareFeatures {
    /// The node.
    pub node: String,
    /// The features that the node lacks.
    pub features: Vec<String>,
}

impl DeclareFeatures {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let pod = fork.pod();
        let base = fork.base();
        let mut required: Vec<String> =
            pod.spec.required_features.iter().map(|feature| base.interner.resolve(*feature).to_owned()).collect();
        required.sort_unstable();
        for name in situation.nodes("NodeDeclaredFeatures") {
            let declared =
                fork.node(name).and_then(|node| node.status.as_ref()?.declared_features.clone()).unwrap_or_default();
            let missing = required.iter().filter(|feature| !declared.contains(feature));
            add(DeclareFeatures { node: name.to_owned(), features: missing.cloned().collect() });
        }
    }
}

impl Change for DeclareFeatures {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let Some(mut node) = fork.node(&self.node).cloned() else { return false };
        let declared = node.status.get_or_insert_default().declared_features.get_or_insert_default();
        declared.extend(self.features.iter().cloned());
        declared.sort_unstable();
        fork.set(node);
        true
    }

    fn disturbance(&self) -> u32 {
        70
    }
}

impl fmt::Display for DeclareFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upgrade node {} so that it declares {}", self.node, self.features.join(", "))
    }
}
