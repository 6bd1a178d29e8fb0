//! `algorithmSource` of `v1alpha1`: named algorithms and policies.

use schedc_profile_rules::Diagnostic;
use schedc_profile_rules::source::Span;

use super::messages;
use crate::decode::Fields;
use crate::tree::Node;

/// The named algorithms of `v1alpha1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    /// The default plugins.
    Default,
    /// The default plugins, but the fullest nodes are preferred.
    ClusterAutoscaler,
}

/// Origin of the plugins in `v1alpha1`.
pub(super) enum Algorithm {
    Provider(Provider),
    /// A policy outside of the configuration; `origin` describes where it is.
    Policy {
        at: Span,
        origin: String,
    },
}

/// Reads `algorithmSource`.
pub(super) fn algorithm(node: &Node, diagnostics: &mut Vec<Diagnostic>) -> Option<Algorithm> {
    let mut fields = Fields::of(node, "algorithmSource", &["policy", "provider"], diagnostics);
    let provider = fields.string("provider");
    let Some(policy) = fields.get("policy") else {
        let provider = provider?;
        return match provider.value.as_str() {
            "" | "DefaultProvider" => Some(Algorithm::Provider(Provider::Default)),
            "ClusterAutoscalerProvider" => Some(Algorithm::Provider(Provider::ClusterAutoscaler)),
            _ => {
                fields.diagnostics().push(messages::unknown_provider(&provider));
                None
            }
        };
    };
    let at = fields.at("policy").unwrap_or(policy.span);
    let mut fields = Fields::of(policy, "algorithmSource.policy", &["file", "configMap"], diagnostics);
    let origin = if let Some(file) = fields.get("file") {
        let mut fields = Fields::of(file, "algorithmSource.policy.file", &["path"], fields.diagnostics());
        fields.string("path").map_or_else(|| "a file".to_owned(), |path| format!("the file {}", path.value))
    } else if let Some(config_map) = fields.get("configMap") {
        let known = ["namespace", "name"];
        let mut fields = Fields::of(config_map, "algorithmSource.policy.configMap", &known, fields.diagnostics());
        let namespace = fields.string("namespace").map_or_else(|| "kube-system".to_owned(), |name| name.value);
        let name = fields.string("name").map_or_else(String::new, |name| name.value);
        format!("the ConfigMap {namespace}/{name}")
    } else {
        "a file or ConfigMap that the configuration does not name".to_owned()
    };
    Some(Algorithm::Policy { at, origin })
}
