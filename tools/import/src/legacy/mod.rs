//! Conversion of configurations older than `kubescheduler.config.k8s.io/v1` to equivalent ones of `v1`.
//!
//! | module | content |
//! |---|---|
//! | `version` | fields and default plugins of each version |
//! | `lists` | the plugins of each extension point, merged as in the former kube-scheduler |
//! | `multi_point` | the plugins of `v1beta3`, which is nearly `v1` |
//! | `successors` | replacements of removed plugins |
//! | `args` | conversion of arguments of removed plugins to arguments of their replacements |
//! | `policy` | conversion of predicates and priorities to plugins |
//! | `algorithm` | `algorithmSource` of `v1alpha1`: named algorithms and policies |
//! | `functions` | the former predicates and priorities |
//! | `build` | constructors for values |
//! | `messages` | messages about older configurations |
//!
//! The result is a tree like that of a file, with the location of each value's origin, and is processed like
//! any other configuration.

mod algorithm;
mod args;
mod build;
mod functions;
mod lists;
mod messages;
mod multi_point;
mod policy;
mod successors;
mod version;

use schedc_profile_rules::source::{FileId, Files, Span, Spanned};

use crate::config::{self, API_VERSION, KIND};
use crate::decode::Fields;
use crate::report::Report;
use crate::tree::{self, Node, Value};

use lists::Lists;
use policy::Policy;
use version::Version;

/// Converts a configuration of any version, or a Policy, to `v1`. Other documents are returned unchanged. `policy` is
/// the file with the policy that an `algorithmSource` names, if the caller has that file. Returns `None` if the report
/// contains errors.
pub(crate) fn convert_to_v1(
    document: Node,
    policy: Option<FileId>,
    files: &mut Files,
    report: &mut Report,
) -> Option<Node> {
    let document = unwrapped(document, files, report)?;
    let (kind, api_version) = (build::text_of(&document, "kind"), build::text_of(&document, "apiVersion"));
    let version = match (kind.as_deref(), api_version.as_deref()) {
        (Some("Policy"), Some("v1" | API_VERSION)) => None,
        (Some(KIND), Some(version)) => match Version::named(version) {
            Some(version) => Some(version),
            None => return Some(document),
        },
        _ => return Some(document),
    };
    let modern = match version {
        None => policy::configuration(&document, report),
        Some(Version::V1Beta3) => v1beta3(&document, report),
        Some(Version::V1Alpha1) => {
            let policy = match policy {
                Some(file) => Some(read_policy(file, files, report)?),
                None => None,
            };
            return v1alpha1(&document, policy, report);
        }
        Some(version) => with_profiles(&document, version, report),
    };
    if let (Some(file), true) = (policy, report.errors.is_empty()) {
        report.error(messages::policy_without_use(Span { file, start: 0, end: 0 }));
    }
    Some(modern)
}

/// If the document is a ConfigMap, returns the configuration or policy in it; otherwise returns the document. `None`
/// after an error.
fn unwrapped(document: Node, files: &mut Files, report: &mut Report) -> Option<Node> {
    if build::text_of(&document, "kind").as_deref() != Some("ConfigMap") {
        return Some(document);
    }
    let entries: Vec<(&Spanned<String>, &str)> = match build::field(&document, "data").map(|data| &data.value) {
        Some(Value::Map(entries)) => entries
            .iter()
            .filter_map(|(key, node)| match &node.value {
                Value::Str(text) => Some((key, text.as_str())),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    // The key under which kube-scheduler read a policy.
    let policy = entries.iter().find(|(key, _)| key.value == "policy.cfg");
    let (key, text) = match (policy, entries.as_slice()) {
        (Some(entry), _) => *entry,
        (None, [only]) => *only,
        (None, _) => {
            let keys: Vec<&str> = entries.iter().map(|(key, _)| key.value.as_str()).collect();
            report.error(messages::which_entry(document.span, &keys));
            return None;
        }
    };
    let path = format!("{} ({})", files.path(document.span.file), key.value);
    let file = files.add(path, text);
    first_document(file, files, report)
}

fn first_document(file: FileId, files: &Files, report: &mut Report) -> Option<Node> {
    match tree::read(files, file) {
        Ok(documents) => {
            let first = documents.into_iter().next();
            if first.is_none() {
                report.error(crate::messages::nothing_written(Span { file, start: 0, end: 0 }));
            }
            first
        }
        Err(error) => {
            report.error(*error);
            None
        }
    }
}

/// Reads the policy in a separate file, or in a ConfigMap.
fn read_policy(file: FileId, files: &mut Files, report: &mut Report) -> Option<Policy> {
    let document = first_document(file, files, report)?;
    let document = unwrapped(document, files, report)?;
    if build::text_of(&document, "kind").as_deref() != Some("Policy") {
        report.error(messages::not_a_policy(document.span));
        return None;
    }
    Some(Policy::read(&document, report))
}

/// Copies the fields that every version has, other than profiles. Fields with addresses at which the process listens
/// are added to `addresses` instead.
fn settings(fields: &mut Fields<'_, '_>, addresses: &mut Vec<Spanned<&'static str>>) -> Vec<(Spanned<String>, Node)> {
    let mut kept = Vec::new();
    for key in config::SETTINGS {
        if let (Some(at), Some(node)) = (fields.at(key), fields.get(key)) {
            kept.push((Spanned { value: key.to_owned(), span: at }, node.clone()));
        }
    }
    for key in version::ADDRESSES {
        addresses.extend(fields.at(key).map(|span| Spanned { value: key, span }));
    }
    kept
}

fn document(at: Span, settings: Vec<(Spanned<String>, Node)>, profiles: Vec<Node>) -> Node {
    let mut document = build::map(at, [("apiVersion", build::text(at, API_VERSION)), ("kind", build::text(at, KIND))]);
    if let Value::Map(fields) = &mut document.value {
        fields.extend(settings);
    }
    build::set(&mut document, "profiles", build::list(at, profiles));
    document
}

/// Converts `v1beta3`, which has `multiPoint` like `v1`, but fewer default plugins.
fn v1beta3(node: &Node, report: &mut Report) -> Node {
    const VERSION: Version = Version::V1Beta3;
    report.note(messages::historic_version(node.span, VERSION));
    let mut document = node.clone();
    build::set(&mut document, "apiVersion", build::text(node.span, API_VERSION));
    let Some(Node { value: Value::List(profiles), .. }) = build::field_mut(&mut document, "profiles") else {
        let at = node.span;
        let mut profile = build::map(at, []);
        multi_point::convert_to_v1(&mut profile, report);
        build::set(&mut document, "profiles", build::list(at, vec![profile]));
        return document;
    };
    if profiles.is_empty() {
        profiles.push(build::map(node.span, []));
    }
    for profile in profiles {
        multi_point::convert_to_v1(profile, report);
        if let Some(Node { value: Value::List(configs), .. }) = build::field_mut(profile, "pluginConfig") {
            for config in configs {
                if let Some(args) = build::field_mut(config, "args") {
                    args::remove_own_api_version(args, VERSION);
                }
            }
        }
    }
    document
}

/// Converts `v1alpha2`, `v1beta1` and `v1beta2`: plugins are enabled and disabled at each extension point.
fn with_profiles(node: &Node, version: Version, report: &mut Report) -> Node {
    report.note(messages::historic_version(node.span, version));
    let mut addresses = Vec::new();
    let mut fields = Fields::of(node, "", &version.fields(), &mut report.errors);
    let settings = settings(&mut fields, &mut addresses);
    let disable_preemption = fields.boolean("disablePreemption").is_some_and(|disable| disable.value);
    let bind_timeout = fields.integer("bindTimeoutSeconds", 64);
    let profiles = fields.list("profiles");
    let default = build::map(node.span, []);
    let profiles = if profiles.is_empty() { std::slice::from_ref(&default) } else { profiles };
    let mut modern = Vec::new();
    for (index, profile) in profiles.iter().enumerate() {
        report.profile = Some(index);
        let path = format!("profiles[{index}]");
        let known = ["schedulerName", "plugins", "pluginConfig"];
        let mut fields = Fields::of(profile, &path, &known, &mut report.errors);
        let name = fields.get("schedulerName").cloned();
        let configs = config::plugin_configs(&mut fields);
        let plugins_path = fields.path("plugins");
        let sets = lists::sets(fields.get("plugins"), &plugins_path, version, fields.diagnostics());
        let mut lists = Lists::merged(version, algorithm::Provider::Default, &sets, profile.span, report);
        if disable_preemption {
            lists.remove("DefaultPreemption");
        }
        let global_args = args::GlobalArgs { bind_timeout: bind_timeout.clone(), hard_pod_affinity_weight: None };
        modern.push(lists.profile(name, configs, &global_args, report));
    }
    report.profile = None;
    addresses.iter().for_each(|key| report.note(messages::address(key)));
    document(node.span, settings, modern)
}

/// Converts `v1alpha1`: the configuration is the only profile, and its algorithm may be in another file.
fn v1alpha1(node: &Node, policy: Option<Policy>, report: &mut Report) -> Option<Node> {
    const VERSION: Version = Version::V1Alpha1;
    let mut addresses = Vec::new();
    let mut fields = Fields::of(node, "", &VERSION.fields(), &mut report.errors);
    let mut settings = settings(&mut fields, &mut addresses);
    let name = fields.get("schedulerName").cloned();
    let disable_preemption = fields.boolean("disablePreemption").is_some_and(|disable| disable.value);
    let global_args = args::GlobalArgs {
        bind_timeout: fields.integer("bindTimeoutSeconds", 64),
        hard_pod_affinity_weight: fields.integer("hardPodAffinitySymmetricWeight", 32),
    };
    let configs = config::plugin_configs(&mut fields);
    let plugins = fields.get("plugins");
    let sets = lists::sets(plugins, "plugins", VERSION, fields.diagnostics());
    let plugins_at = fields.at("plugins").or(fields.at("pluginConfig"));
    let source = fields.get("algorithmSource");
    let algorithm = source.and_then(|source| algorithm::algorithm(source, fields.diagnostics()));
    addresses.iter().for_each(|key| report.note(messages::address(key)));
    let profile = match (algorithm, policy) {
        (Some(algorithm::Algorithm::Policy { at, origin }), None) => {
            report.error(messages::policy_location_unsupported(at, &origin));
            return None;
        }
        (Some(algorithm::Algorithm::Policy { .. }), Some(policy)) => {
            if let Some(at) = plugins_at {
                report.warning(messages::plugins_with_policy(at));
            }
            report.note(messages::historic_version(node.span, VERSION));
            settings.extend(policy.extenders());
            policy.profile(name, disable_preemption, &global_args, report)
        }
        (algorithm, policy) => {
            if let Some(policy) = policy {
                report.error(messages::policy_without_use(policy.at));
                return None;
            }
            let provider = match algorithm {
                Some(algorithm::Algorithm::Provider(provider)) => provider,
                _ => algorithm::Provider::Default,
            };
            report.note(messages::historic_version(node.span, VERSION));
            let mut lists = Lists::merged(VERSION, provider, &sets, node.span, report);
            if disable_preemption {
                lists.remove("DefaultPreemption");
            }
            lists.profile(name, configs, &global_args, report)
        }
    };
    for (key, node) in &mut settings {
        if key.value == "leaderElection" {
            build::remove(node, &["lockObjectNamespace", "lockObjectName"]);
        }
    }
    Some(document(node.span, settings, vec![profile]))
}
