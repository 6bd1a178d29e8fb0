//! Kinds of Kubernetes APIs that schedulers ignore. A kind of these APIs that schedulers neither read nor ignore is
//! misspelt.

use schedc_bounds::suggest::closest;

use super::{APIS, KINDS, group, known};

/// Kinds that schedulers ignore, by API. Only APIs with at least one kind that schedulers read are listed.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "v1",
        &[
            "Binding",
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "List",
            "PodTemplate",
            "ResourceQuota",
            "Secret",
            "ServiceAccount",
        ],
    ),
    ("apps/v1", &["ControllerRevision", "DaemonSet"]),
    ("policy/v1", &["Eviction"]),
    ("scheduling.k8s.io/v1", &[]),
    ("storage.k8s.io/v1", &["VolumeAttributesClass"]),
    ("resource.k8s.io/v1", &[]),
];

/// Returns whether an API belongs to a group outside of Kubernetes.
pub fn is_custom(api_version: &str) -> bool {
    let group = group(api_version);
    group.contains('.') && !group.ends_with(".k8s.io")
}

/// Returns the wrong field (`apiVersion` or `kind`) and a message if no API has this version and kind. `None`: objects
/// of this kind may exist.
pub fn misspelt(api_version: &str, kind: &str) -> Option<(&'static str, String)> {
    let wrong_api = |message| Some(("apiVersion", message));
    if let Some((_, others)) = OTHERS.iter().find(|(api, _)| *api == api_version) {
        if others.contains(&kind) || kind.strip_suffix("List").is_some_and(|kind| others.contains(&kind)) {
            return None;
        }
        if let Some((expected, _)) = known(kind) {
            return wrong_api(format!("is `{api_version}`, but a {kind} is `{expected}`"));
        }
        let of_api = APIS.iter().filter(|(_, api)| *api == api_version).map(|(kind, _)| *kind);
        let suggestion = closest(kind, of_api.chain(others.iter().copied()));
        let elsewhere = || closest(kind, KINDS.iter().copied()).and_then(|kind| Some((kind, known(kind)?.0)));
        let message = match (suggestion, elsewhere()) {
            (Some(suggestion), _) => format!("there is no `{kind}` in `{api_version}`; did you mean `{suggestion}`?"),
            (None, Some((kind, api))) => {
                format!("there is no such kind in `{api_version}`; did you mean `{kind}` of `{api}`?")
            }
            (None, None) => format!("there is no `{kind}` in `{api_version}`"),
        };
        return Some(("kind", message));
    }
    let (expected, _) = known(kind)?;
    // A group with a dot is that of a custom kind, unless its name is similar to the kind's group in Kubernetes.
    let (written, right) = (group(api_version), group(expected));
    let is_misspelt = !written.contains('.') || closest(written, [right]).is_some();
    is_misspelt.then(|| format!("is `{api_version}`, but a {kind} is `{expected}`")).and_then(wrong_api)
}
