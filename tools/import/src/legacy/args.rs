//! Conversion of former arguments to current ones, and profiles with the converted plugins and arguments.

use schedc_profile_rules::source::{Span, Spanned};

use super::lists::{Changed, Changes, Lists};
use super::successors::{self, Successor};
use super::version::Version;
use super::{build, messages};
use crate::config::PluginConfig;
use crate::decode::Fields;
use crate::report::Report;
use crate::tree::{Node, Value};

/// Former settings of the scheduler that are now arguments of plugins.
#[derive(Default)]
pub(super) struct GlobalArgs {
    /// Timeout for binding volumes.
    pub(super) bind_timeout: Option<Spanned<i64>>,
    /// Weight of an existing pod's required affinity.
    pub(super) hard_pod_affinity_weight: Option<Spanned<i64>>,
}

/// Arguments under construction, by plugin.
struct Configs(Vec<(Spanned<String>, Node)>);

impl Configs {
    fn get_or_create(&mut self, plugin: &str, at: Span) -> &mut Node {
        let index = match self.0.iter().position(|(name, _)| name.value == plugin) {
            Some(index) => index,
            None => {
                self.0.push((Spanned { value: plugin.to_owned(), span: at }, build::map(at, [])));
                self.0.len() - 1
            }
        };
        &mut self.0[index].1
    }

    fn get(&self, plugin: &str) -> Option<&Node> {
        self.0.iter().find(|(name, _)| name.value == plugin).map(|(_, args)| args)
    }

    /// Sets an argument if it is missing.
    fn set_default(&mut self, plugin: &str, key: &str, value: &Spanned<i64>) {
        let args = self.get_or_create(plugin, value.span);
        if build::field(args, key).is_none() {
            build::set(args, key, build::int(value));
        }
    }
}

impl Lists {
    /// Returns a profile in `v1` with these plugins or their replacements.
    pub(super) fn profile(
        mut self,
        scheduler_name: Option<Node>,
        configs: Vec<PluginConfig>,
        global_args: &GlobalArgs,
        report: &mut Report,
    ) -> Node {
        let changes = self.convert_to_v1(report);
        self.complete();
        let mut profile = build::map(self.at, []);
        if let Some(name) = scheduler_name {
            build::set(&mut profile, "schedulerName", name);
        }
        build::set(&mut profile, "plugins", self.plugins());
        let configs = convert_to_v1(configs, &changes, &self, global_args, report);
        if !configs.is_empty() {
            build::set(&mut profile, "pluginConfig", build::list(self.at, configs));
        }
        profile
    }
}

/// Returns `pluginConfig` in `v1`.
fn convert_to_v1(
    configs: Vec<PluginConfig>,
    changes: &Changes,
    lists: &Lists,
    global_args: &GlobalArgs,
    report: &mut Report,
) -> Vec<Node> {
    let mut modern = Configs(Vec::new());
    let mut strategy_args = None;
    let mut label_args = None;
    for config in configs {
        let mut args = config.args.unwrap_or_else(|| build::map(config.name.span, []));
        remove_own_api_version(&mut args, lists.version);
        match successors::of(&config.name.value) {
            None => modern.0.push((config.name, args)),
            Some(Successor::Strategy(_)) if changes.is_strategy(&config.name.value) => strategy_args = Some(args),
            Some(Successor::AddedAffinity) if changes.node_label => label_args = Some(args),
            // The removal of the plugin was already reported.
            Some(Successor::Nothing(_)) => {}
            Some(_) => report.warning(crate::messages::args_of_disabled_plugin(&config.name, &[])),
        }
    }
    if let Some(changed) = &changes.strategy {
        scoring_strategy(changed, strategy_args.as_ref(), &mut modern, report);
    }
    if let Some(args) = label_args {
        added_affinity(&args, &mut modern, report);
    }
    if lists.has("PodTopologySpread") {
        default_spreading(changes, lists, &mut modern);
    }
    if let Some(weight) = global_args.hard_pod_affinity_weight.as_ref().filter(|_| lists.has("InterPodAffinity")) {
        modern.set_default("InterPodAffinity", "hardPodAffinityWeight", weight);
    }
    if let Some(seconds) = global_args.bind_timeout.as_ref().filter(|_| lists.has("VolumeBinding")) {
        modern.set_default("VolumeBinding", "bindTimeoutSeconds", seconds);
    }
    let node = |(name, args): (Spanned<String>, Node)| {
        build::map(name.span, [("name", build::text(name.span, &name.value)), ("args", args)])
    };
    modern.0.into_iter().map(node).collect()
}

/// Removes the `apiVersion` of arguments if it is that of the configuration, because `v1` has another.
pub(super) fn remove_own_api_version(args: &mut Node, version: Version) {
    if build::text_of(args, "apiVersion").as_deref() == Some(version.api_version()) {
        build::remove(args, &["apiVersion"]);
    }
}

impl Changes {
    fn is_strategy(&self, plugin: &str) -> bool {
        self.strategy.as_ref().is_some_and(|changed| changed.plugin.value == plugin)
    }
}

/// Converts the arguments of a former scoring plugin to NodeResourcesFit's scoring strategy.
fn scoring_strategy(changed: &Changed, args: Option<&Node>, modern: &mut Configs, report: &mut Report) {
    if args.is_none() && changed.strategy == "LeastAllocated" {
        return;
    }
    let at = changed.plugin.span;
    let mut strategy = build::map(at, [("type", build::text(at, changed.strategy))]);
    if let Some(args) = args {
        let path = format!("the arguments of {}", changed.plugin.value);
        let mut fields = Fields::of(args, &path, &["apiVersion", "kind", "resources", "shape"], &mut report.errors);
        fields.list("resources");
        if let Some(resources) = fields.get("resources") {
            build::set(&mut strategy, "resources", resources.clone());
        }
        if let Some(shape) = fields.get("shape") {
            build::set(&mut strategy, "requestedToCapacityRatio", build::map(shape.span, [("shape", shape.clone())]));
        }
    }
    build::set(modern.get_or_create("NodeResourcesFit", at), "scoringStrategy", strategy);
}

/// Converts NodeLabel's required and preferred labels to an affinity that is added to all pods.
fn added_affinity(args: &Node, modern: &mut Configs, report: &mut Report) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let lists = ["presentLabels", "absentLabels", "presentLabelsPreference", "absentLabelsPreference"];
    let known: Vec<&str> = ["apiVersion", "kind"].into_iter().chain(lists).collect();
    let mut fields = Fields::of(args, "the arguments of NodeLabel", &known, &mut report.errors);
    let [present, absent, present_preferred, absent_preferred] = lists.map(|list| fields.list(list));
    let requirement = |label: &Node, operator: &str| {
        build::map(label.span, [("key", label.clone()), ("operator", build::text(label.span, operator))])
    };
    let requirements = |present: &[Node], absent: &[Node]| -> Vec<Node> {
        let present = present.iter().map(|label| requirement(label, "Exists"));
        present.chain(absent.iter().map(|label| requirement(label, "DoesNotExist"))).collect()
    };
    let (required, preferred) = (requirements(present, absent), requirements(present_preferred, absent_preferred));
    if required.is_empty() && preferred.is_empty() {
        return;
    }
    if let Some(first) = preferred.first() {
        report.warning(messages::preference_shares_weight(first.span));
    }
    let node_affinity = modern.get_or_create("NodeAffinity", args.span);
    let mut affinity =
        build::field(node_affinity, "addedAffinity").cloned().unwrap_or_else(|| build::map(args.span, []));
    if !required.is_empty() {
        // Terms are alternatives, so each must contain the labels.
        let selector = build::field(&affinity, REQUIRED);
        let mut terms =
            selector.map(|selector| build::items(selector, "nodeSelectorTerms").to_vec()).unwrap_or_default();
        if terms.is_empty() {
            terms.push(build::map(args.span, []));
        }
        for term in &mut terms {
            let mut expressions = build::items(term, "matchExpressions").to_vec();
            expressions.extend(required.iter().cloned());
            build::set(term, "matchExpressions", build::list(args.span, expressions));
        }
        let terms = build::list(args.span, terms);
        build::set(&mut affinity, REQUIRED, build::map(args.span, [("nodeSelectorTerms", terms)]));
    }
    if !preferred.is_empty() {
        let mut terms = build::items(&affinity, PREFERRED).to_vec();
        terms.extend(preferred.into_iter().map(|requirement| {
            let at = requirement.span;
            let preference = build::map(at, [("matchExpressions", build::list(at, vec![requirement]))]);
            build::map(at, [("weight", build::int(&Spanned { value: 1, span: at })), ("preference", preference)])
        }));
        build::set(&mut affinity, PREFERRED, build::list(args.span, terms));
    }
    build::set(node_affinity, "addedAffinity", affinity);
}

/// Sets `defaultingType: List` for PodTopologySpread if default constraints are written, or if no plugin spread the
/// pods of services and controllers. Otherwise kube-scheduler's system constraints replace the plugin that spread these
/// pods. A written `defaultingType` is kept. Arguments of `v1beta2` and later versions are not changed.
fn default_spreading(changes: &Changes, lists: &Lists, modern: &mut Configs) {
    if lists.version >= Version::V1Beta2 {
        return;
    }
    let args = modern.get("PodTopologySpread");
    let written = args.is_some_and(|args| build::text_of(args, "defaultingType").is_some_and(|kind| !kind.is_empty()));
    let constraints = args.and_then(|args| build::field(args, "defaultConstraints"));
    let listed = constraints.filter(|list| !matches!(&list.value, Value::List(items) if items.is_empty()));
    let listed = listed.map(|list| list.span);
    let none_selected = lists.spreads_by_selector() && !changes.spreads_selected;
    if let Some(at) = listed.or(none_selected.then_some(lists.at)).filter(|_| !written) {
        build::set(modern.get_or_create("PodTopologySpread", at), "defaultingType", build::text(at, "List"));
    }
}
