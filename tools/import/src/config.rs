//! The KubeSchedulerConfiguration as written: its fields with their locations, without defaults.

use std::collections::{HashMap, HashSet};

use schedc_profile_rules::Diagnostic;
use schedc_profile_rules::point::Point;
use schedc_profile_rules::source::{Span, Spanned};

use crate::decode::Fields;
use crate::kube_scheduler;
use crate::messages;
use crate::tree::Node;

/// The only version that kube-scheduler 1.36 reads.
pub(crate) const API_VERSION: &str = "kubescheduler.config.k8s.io/v1";
/// Fields of every version, in addition to profiles.
pub(crate) const SETTINGS: [&str; 9] = [
    "parallelism",
    "leaderElection",
    "clientConnection",
    "enableProfiling",
    "enableContentionProfiling",
    "percentageOfNodesToScore",
    "podInitialBackoffSeconds",
    "podMaxBackoffSeconds",
    "extenders",
];

/// Kind of the configuration.
pub(crate) const KIND: &str = "KubeSchedulerConfiguration";

/// A KubeSchedulerConfiguration.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) percentage_of_nodes_to_score: Option<Spanned<i64>>,
    pub(crate) pod_initial_backoff_seconds: Option<Spanned<i64>>,
    pub(crate) pod_max_backoff_seconds: Option<Spanned<i64>>,
    pub(crate) parallelism: Option<Spanned<i64>>,
    pub(crate) profiles: Vec<Profile>,
    /// The extenders as written.
    pub(crate) extenders: Vec<Node>,
    /// Fields that configure the process and do not affect decisions.
    pub(crate) process_settings: Vec<Spanned<&'static str>>,
}

/// A profile.
#[derive(Debug)]
pub(crate) struct Profile {
    /// Start of the profile; `None` for the default profile.
    pub(crate) at: Option<Span>,
    pub(crate) scheduler_name: Option<Spanned<String>>,
    pub(crate) percentage_of_nodes_to_score: Option<Spanned<i64>>,
    pub(crate) multi_point: PluginSet,
    points: Vec<PluginSet>,
    /// Extension points of an alpha feature that have enabled plugins.
    pub(crate) placement: Vec<Spanned<&'static str>>,
    pub(crate) plugin_config: Vec<PluginConfig>,
}

/// Plugins to enable and to disable.
#[derive(Debug, Default)]
pub(crate) struct PluginSet {
    /// Location of the set's key.
    pub(crate) at: Option<Span>,
    pub(crate) enabled: Vec<Plugin>,
    pub(crate) disabled: Vec<Plugin>,
}

/// A plugin in a set.
#[derive(Debug)]
pub(crate) struct Plugin {
    pub(crate) name: Spanned<String>,
    pub(crate) weight: Option<Spanned<i64>>,
}

/// A plugin's arguments.
#[derive(Debug)]
pub(crate) struct PluginConfig {
    pub(crate) name: Spanned<String>,
    pub(crate) args: Option<Node>,
}

impl Profile {
    /// Returns kube-scheduler's profile for a configuration without profiles.
    fn default_profile() -> Self {
        Self {
            at: None,
            scheduler_name: None,
            percentage_of_nodes_to_score: None,
            multi_point: PluginSet::default(),
            points: Point::ALL.map(|_| PluginSet::default()).into(),
            placement: Vec::new(),
            plugin_config: Vec::new(),
        }
    }

    /// Returns the set of an extension point.
    pub(crate) fn point(&self, point: Point) -> &PluginSet {
        &self.points[point as usize]
    }

    /// Returns the plugin names in the sets of all extension points, indexed by point, and those in `multiPoint`.
    pub(crate) fn names(&self) -> (Vec<Names<'_>>, Names<'_>) {
        (self.points.iter().map(PluginSet::names).collect(), self.multi_point.names())
    }

    /// Returns all sets by extension point. `multiPoint` is the first one, with `None`.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (Option<Point>, &PluginSet)> {
        let points = Point::ALL.into_iter().map(|point| (Some(point), self.point(point)));
        std::iter::once((None, &self.multi_point)).chain(points)
    }
}

/// The names in a plugin set.
#[derive(Debug)]
pub(crate) struct Names<'s> {
    /// The first entry of each enabled plugin.
    pub(crate) enabled: HashMap<&'s str, &'s Plugin>,
    pub(crate) disabled: HashSet<&'s str>,
}

impl PluginSet {
    /// Returns the names, for many look-ups.
    pub(crate) fn names(&self) -> Names<'_> {
        let mut enabled = HashMap::new();
        for plugin in &self.enabled {
            enabled.entry(plugin.name.value.as_str()).or_insert(plugin);
        }
        Names { enabled, disabled: self.disabled.iter().map(|plugin| plugin.name.value.as_str()).collect() }
    }

    /// Returns whether a name is in `enabled`.
    #[cfg(feature = "legacy")]
    pub(crate) fn enables(&self, name: &str) -> bool {
        self.enabled.iter().any(|plugin| plugin.name.value == name)
    }

    /// Returns whether a name is written in `disabled`. `*` does not stand for other names here.
    pub(crate) fn disables(&self, name: &str) -> bool {
        self.disabled.iter().any(|plugin| plugin.name.value == name)
    }

    /// Returns whether all plugins are disabled.
    pub(crate) fn disables_all(&self) -> bool {
        self.disables("*")
    }
}

/// Reads a document.
pub(crate) fn configuration(document: &Node, diagnostics: &mut Vec<Diagnostic>) -> Option<Configuration> {
    let known: Vec<&str> =
        ["apiVersion", "kind", "profiles", "delayCacheUntilActive"].into_iter().chain(SETTINGS).collect();
    if !is_configuration(document, diagnostics) {
        return None;
    }
    let mut fields = Fields::of(document, "", &known, diagnostics);
    let percentage_of_nodes_to_score = fields.integer("percentageOfNodesToScore", 32);
    let pod_initial_backoff_seconds = fields.integer("podInitialBackoffSeconds", 64);
    let pod_max_backoff_seconds = fields.integer("podMaxBackoffSeconds", 64);
    let parallelism = fields.integer("parallelism", 32);
    let process_settings = [
        "parallelism",
        "leaderElection",
        "clientConnection",
        "enableProfiling",
        "enableContentionProfiling",
        "delayCacheUntilActive",
    ];
    let process_settings =
        process_settings.into_iter().filter_map(|key| Some(Spanned { value: key, span: fields.at(key)? }));
    let process_settings = process_settings.collect();
    for key in ["enableProfiling", "enableContentionProfiling", "delayCacheUntilActive"] {
        fields.boolean(key);
    }
    let extenders = fields.list("extenders");
    let profiles = fields.list("profiles");
    let nested = [("leaderElection", &LEADER_ELECTION[..]), ("clientConnection", &CLIENT_CONNECTION[..])];
    for (key, known) in nested {
        if let Some(node) = fields.get(key) {
            Fields::of(node, key, known, fields.diagnostics());
        }
    }
    let mut profiles: Vec<Profile> = profiles
        .iter()
        .enumerate()
        .map(|(index, node)| profile(node, &format!("profiles[{index}]"), fields.diagnostics()))
        .collect();
    if profiles.is_empty() {
        profiles.push(Profile::default_profile());
    }
    Some(Configuration {
        percentage_of_nodes_to_score,
        pod_initial_backoff_seconds,
        pod_max_backoff_seconds,
        parallelism,
        profiles,
        extenders: extenders.to_vec(),
        process_settings,
    })
}

const LEADER_ELECTION: [&str; 7] = [
    "leaderElect",
    "leaseDuration",
    "renewDeadline",
    "retryPeriod",
    "resourceLock",
    "resourceName",
    "resourceNamespace",
];
const CLIENT_CONNECTION: [&str; 5] = ["kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"];

/// Returns whether a document is a configuration of the right version. If not, the reason is added to `diagnostics`.
pub(crate) fn is_configuration(document: &Node, diagnostics: &mut Vec<Diagnostic>) -> bool {
    let crate::tree::Value::Map(map) = &document.value else {
        diagnostics.push(messages::not_a_configuration(document.span, document.value.kind()));
        return false;
    };
    let text = |wanted: &str| {
        let (_, node) = map.iter().find(|(key, _)| key.value == wanted)?;
        match &node.value {
            crate::tree::Value::Str(value) => Some(Spanned { value: value.clone(), span: node.span }),
            _ => None,
        }
    };
    let found_before = diagnostics.len();
    match text("kind") {
        None => diagnostics.push(messages::missing_type(document.span, "kind", KIND)),
        Some(kind) if kind.value != KIND => diagnostics.push(messages::other_kind(&kind, KIND)),
        Some(_) => match text("apiVersion") {
            None => diagnostics.push(messages::missing_type(document.span, "apiVersion", API_VERSION)),
            Some(version) if version.value != API_VERSION => {
                diagnostics.push(messages::other_version(&version, API_VERSION));
            }
            Some(_) => {}
        },
    }
    diagnostics.len() == found_before
}

fn profile(node: &Node, path: &str, diagnostics: &mut Vec<Diagnostic>) -> Profile {
    const KNOWN: [&str; 4] = ["schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"];
    let mut fields = Fields::of(node, path, &KNOWN, diagnostics);
    let mut profile = Profile {
        at: Some(node.span),
        scheduler_name: fields.string("schedulerName"),
        percentage_of_nodes_to_score: fields.integer("percentageOfNodesToScore", 32),
        ..Profile::default_profile()
    };
    profile.plugin_config = plugin_configs(&mut fields);
    if let Some(node) = fields.get("plugins") {
        let path = fields.path("plugins");
        plugins(node, &path, &mut profile, fields.diagnostics());
    }
    profile
}

/// Reads `pluginConfig`.
pub(crate) fn plugin_configs(fields: &mut Fields<'_, '_>) -> Vec<PluginConfig> {
    const KEY: &str = "pluginConfig";
    let path = fields.path(KEY);
    let configs = fields.list(KEY).iter().enumerate();
    configs
        .filter_map(|(index, node)| plugin_arguments(node, &format!("{path}[{index}]"), fields.diagnostics()))
        .collect()
}

fn plugin_arguments(node: &Node, path: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<PluginConfig> {
    let mut fields = Fields::of(node, path, &["name", "args"], diagnostics);
    let args = fields.get("args").cloned();
    match fields.string("name") {
        Some(name) => Some(PluginConfig { name, args }),
        None if fields.get("name").is_some() => None,
        None => {
            fields.diagnostics().push(messages::missing_name(node.span, path));
            None
        }
    }
}

fn plugins(node: &Node, path: &str, profile: &mut Profile, diagnostics: &mut Vec<Diagnostic>) {
    const MULTI_POINT: &str = "multiPoint";
    const PLACEMENT: [&str; 2] = ["placementGenerate", "placementScore"];
    let known: Vec<&str> =
        std::iter::once(MULTI_POINT).chain(Point::ALL.map(kube_scheduler::key)).chain(PLACEMENT).collect();
    let mut fields = Fields::of(node, path, &known, diagnostics);
    profile.multi_point = set(&mut fields, MULTI_POINT);
    profile.points = Point::ALL.map(|point| set(&mut fields, kube_scheduler::key(point))).into();
    for key in PLACEMENT {
        let set = set(&mut fields, key);
        if let Some(span) = set.at.filter(|_| !set.enabled.is_empty()) {
            profile.placement.push(Spanned { value: key, span });
        }
    }
}

/// Reads a plugin set.
pub(crate) fn set(fields: &mut Fields<'_, '_>, key: &str) -> PluginSet {
    let Some(node) = fields.get(key) else { return PluginSet::default() };
    let (at, path) = (fields.at(key), fields.path(key));
    let mut inner = Fields::of(node, &path, &["enabled", "disabled"], fields.diagnostics());
    let mut list = |key: &str| -> Vec<Plugin> {
        let items = inner.list(key);
        let path = inner.path(key);
        items
            .iter()
            .enumerate()
            .filter_map(|(index, node)| plugin(node, &format!("{path}[{index}]"), inner.diagnostics()))
            .collect()
    };
    let (enabled, disabled) = (list("enabled"), list("disabled"));
    PluginSet { at, enabled, disabled }
}

fn plugin(node: &Node, path: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Plugin> {
    if let crate::tree::Value::Str(name) = &node.value {
        diagnostics.push(messages::bare_plugin(node.span, name));
        return None;
    }
    let mut fields = Fields::of(node, path, &["name", "weight"], diagnostics);
    let weight = fields.integer("weight", 32);
    match fields.string("name") {
        Some(name) => Some(Plugin { name, weight }),
        None if fields.get("name").is_some() => None,
        None => {
            fields.diagnostics().push(messages::missing_name(node.span, path));
            None
        }
    }
}
