//! The former Policy: predicates and priorities, which kube-scheduler 1.18 to 1.22 converted to plugins.

use std::time::Duration;

use schedc_core::args::format_duration;
use schedc_profile_rules::point::Point;
use schedc_profile_rules::source::{Span, Spanned};

use super::args::GlobalArgs;
use super::functions::{
    ArgumentTarget, CustomFunction, DEFAULT_PREDICATES, FILTERS, Kind, MANDATORY, PREDICATES, PRIORITIES, SCORES,
};
use super::lists::{Entry, Lists};
use super::{build, document, messages};
use crate::config::PluginConfig;
use crate::decode::Fields;
use crate::report::Report;
use crate::tree::{Node, Value};

/// A policy.
pub(super) struct Policy {
    /// Start of the policy.
    pub(super) at: Span,
    predicates: Option<Vec<Function>>,
    priorities: Option<Vec<Function>>,
    extenders: Option<(Spanned<String>, Node)>,
    hard_pod_affinity_weight: Option<Spanned<i64>>,
    configs: Vec<PluginConfig>,
}

/// A predicate or a priority by its registered name, with its location.
struct Function {
    name: Spanned<String>,
    weight: Option<Spanned<i64>>,
}

/// Returns a configuration for a policy that no configuration names, as with `--policy-config-file`.
pub(super) fn configuration(node: &Node, report: &mut Report) -> Node {
    report.note(messages::historic_policy(node.span));
    let policy = Policy::read(node, report);
    let settings = policy.extenders();
    let profile = policy.profile(None, false, &GlobalArgs::default(), report);
    document(node.span, settings.into_iter().collect(), vec![profile])
}

impl Policy {
    /// Reads a policy.
    pub(super) fn read(node: &Node, report: &mut Report) -> Self {
        const KNOWN: [&str; 7] = [
            "apiVersion",
            "kind",
            "predicates",
            "priorities",
            "extenders",
            "hardPodAffinitySymmetricWeight",
            "alwaysCheckAllPredicates",
        ];
        let mut fields = Fields::of(node, "Policy", &KNOWN, &mut report.errors);
        let hard_pod_affinity_weight =
            fields.integer("hardPodAffinitySymmetricWeight", 32).filter(|weight| weight.value != 0);
        let checks_all = fields.boolean("alwaysCheckAllPredicates").filter(|checks_all| checks_all.value);
        let extenders_at = fields.at("extenders");
        let extenders = extenders_at.map(|span| {
            let extenders = fields.list("extenders").iter().map(extender).collect();
            (Spanned { value: "extenders".to_owned(), span }, build::list(span, extenders))
        });
        let lists = [&PREDICATES, &PRIORITIES].map(|kind| fields.get(kind.key).map(|_| (kind, fields.list(kind.key))));
        if let Some(weight) = hard_pod_affinity_weight.as_ref().filter(|weight| !(1..=100).contains(&weight.value)) {
            report.error(messages::hard_weight_out_of_range(weight));
        }
        if let Some(checks_all) = checks_all {
            report.note(messages::all_predicates(checks_all.span));
        }
        let mut policy = Policy {
            at: node.span,
            predicates: None,
            priorities: None,
            extenders,
            hard_pod_affinity_weight,
            configs: Vec::new(),
        };
        [policy.predicates, policy.priorities] =
            lists.map(|list| list.map(|(kind, nodes)| policy.functions(kind, nodes, report)));
        policy
    }

    /// Returns the extenders in the form of `v1`; `None` if the policy has no key `extenders`.
    pub(super) fn extenders(&self) -> Option<(Spanned<String>, Node)> {
        self.extenders.clone()
    }

    /// Returns a profile in `v1` with the same decisions as the policy.
    pub(super) fn profile(
        self,
        scheduler_name: Option<Node>,
        disable_preemption: bool,
        global_args: &GlobalArgs,
        report: &mut Report,
    ) -> Node {
        let at = self.at;
        let mut lists = Lists::new(at);
        let mut add_default = |point: Point, plugin: &str| lists.add(point, Entry::by_default(plugin, 0, at));
        add_default(Point::PreEnqueue, "SchedulingGates");
        add_default(Point::QueueSort, "PrioritySort");
        add_default(Point::Bind, "DefaultBinder");
        if !disable_preemption {
            add_default(Point::PostFilter, "DefaultPreemption");
        }
        for (predicate, plugins) in FILTERS {
            let written = self.predicates.iter().flatten().find(|function| function.name.value == predicate);
            let by_default = self.predicates.is_none() && DEFAULT_PREDICATES.contains(&predicate);
            if written.is_none() && !by_default && !MANDATORY.contains(&predicate) {
                continue;
            }
            for plugin in plugins {
                let entry = Entry::by_default(plugin, 0, written.map_or(at, |function| function.name.span));
                lists.add(Point::Filter, Entry { written: written.is_some(), ..entry });
            }
        }
        for (priority, plugin, default) in SCORES {
            let mut written = self.priorities.iter().flatten().filter(|function| function.name.value == priority);
            match (written.next(), &self.priorities) {
                (Some(function), _) => {
                    let entry = Entry::by_default(plugin, 0, function.name.span);
                    // Several custom functions with one registered name form one plugin. Its weight is the sum of their
                    // weights; Policy required these to be equal.
                    let times = i64::try_from(1 + written.count()).unwrap_or(1);
                    let weight = function.weight.as_ref().map(|weight| Spanned {
                        value: weight.value.saturating_mul(if function.is_custom() { times } else { 1 }),
                        span: weight.span,
                    });
                    lists.add(Point::Score, Entry { weight, written: true, ..entry });
                }
                (None, None) if default > 0 => lists.add(Point::Score, Entry::by_default(plugin, default, at)),
                _ => {}
            }
        }
        let global_args = GlobalArgs {
            bind_timeout: global_args.bind_timeout.clone(),
            hard_pod_affinity_weight: self
                .hard_pod_affinity_weight
                .clone()
                .or_else(|| global_args.hard_pod_affinity_weight.clone()),
        };
        lists.profile(scheduler_name, self.configs, &global_args, report)
    }

    fn functions(&mut self, kind: &Kind, nodes: &[Node], report: &mut Report) -> Vec<Function> {
        let read = nodes.iter().enumerate();
        read.filter_map(|(index, node)| self.function(kind, node, &format!("{}[{index}]", kind.key), report)).collect()
    }

    fn function(&mut self, kind: &Kind, node: &Node, path: &str, report: &mut Report) -> Option<Function> {
        let mut fields = Fields::of(node, path, kind.fields, &mut report.errors);
        let mut name = name(&mut fields, node.span, path)?;
        let weight = kind.is_weighted().then(|| fields.integer("weight", 64)).flatten();
        let argument = argument(&mut fields, kind);
        if kind.is_weighted() && weight.as_ref().is_none_or(|weight| weight.value <= 0) {
            let at = weight.as_ref().map_or(name.span, |weight| weight.span);
            report.error(messages::weight_not_positive(at, &name.value));
            return None;
        }
        if kind.became_taints.contains(&name.value.as_str()) {
            report.note(messages::condition_is_a_taint(&name));
            return None;
        }
        if kind.without_effect.contains(&name.value.as_str()) {
            return None;
        }
        if name.value == kind.renamed.0 {
            kind.renamed.1.clone_into(&mut name.value);
        }
        if kind.names().any(|known| known == name.value) {
            return Some(Function { name, weight });
        }
        let Some((custom, value)) = argument else {
            let known: Vec<&str> = kind.names().collect();
            report.error(messages::unknown_function(kind.subject, &name, &known));
            return None;
        };
        custom.function.clone_into(&mut name.value);
        match custom.target {
            ArgumentTarget::Labels { key, present, absent } => {
                let (presence, labels) = labels(value, key, path, report);
                self.node_label(&name, if presence { present } else { absent }, labels);
            }
            ArgumentTarget::Args => self.configs.push(PluginConfig { name: name.clone(), args: Some(value.clone()) }),
            ArgumentTarget::Nothing => {}
        }
        Some(Function { name, weight })
    }

    /// Adds labels to the arguments of NodeLabel, the plugin that replaces all functions about labels.
    fn node_label(&mut self, at: &Spanned<String>, key: &str, labels: Vec<Node>) {
        const PLUGIN: &str = "NodeLabel";
        if self.configs.iter().all(|config| config.name.value != PLUGIN) {
            let name = Spanned { value: PLUGIN.to_owned(), span: at.span };
            self.configs.push(PluginConfig { name, args: Some(build::map(at.span, [])) });
        }
        let config = self.configs.iter_mut().find(|config| config.name.value == PLUGIN);
        if let Some(args) = config.and_then(|config| config.args.as_mut()) {
            let mut all = build::items(args, key).to_vec();
            all.extend(labels);
            build::set(args, key, build::list(at.span, all));
        }
    }
}

impl Function {
    /// Returns whether a policy can contain the function several times, each time with another argument.
    fn is_custom(&self) -> bool {
        ["NodeLabel", "ServiceAffinity"].contains(&self.name.value.as_str())
    }
}

/// Returns the name of a predicate or a priority.
fn name(fields: &mut Fields<'_, '_>, at: Span, path: &str) -> Option<Spanned<String>> {
    let name = fields.string("name");
    if name.is_none() && fields.get("name").is_none() {
        fields.diagnostics().push(crate::messages::missing_name(at, path));
    }
    name
}

/// Returns the custom function that the only field of `argument` defines, and the value of the field. Several fields,
/// or none, are an error.
fn argument<'n>(fields: &mut Fields<'n, '_>, kind: &Kind) -> Option<(&'static CustomFunction, &'n Node)> {
    let node = fields.get("argument")?;
    let path = fields.path("argument");
    let known: Vec<&'static str> = kind.custom.iter().map(|custom| custom.argument).collect();
    let mut inner = Fields::of(node, &path, &known, fields.diagnostics());
    let written: Vec<(&CustomFunction, &Node)> =
        kind.custom.iter().filter_map(|custom| Some((custom, inner.get(custom.argument)?))).collect();
    match written.as_slice() {
        [only] => Some(*only),
        _ => {
            inner.diagnostics().push(messages::one_argument(node.span, &known));
            None
        }
    }
}

/// Returns the labels of an argument. The boolean is true if nodes should have them, and false if they should not.
fn labels(node: &Node, key: &str, path: &str, report: &mut Report) -> (bool, Vec<Node>) {
    let path = format!("{path}.argument");
    let mut fields = Fields::of(node, &path, &[key, "presence"], &mut report.errors);
    let presence = fields.boolean("presence").is_some_and(|presence| presence.value);
    let labels = match fields.get(key) {
        Some(Node { value: Value::List(labels), .. }) => labels.clone(),
        Some(label) => vec![label.clone()],
        None => Vec::new(),
    };
    (presence, labels)
}

/// Converts an extender to `v1`: `enableHttps` is `enableHTTPS` there, and `httpTimeout` is a duration, not a number of
/// nanoseconds.
fn extender(node: &Node) -> Node {
    let mut extender = node.clone();
    if let Value::Map(fields) = &mut extender.value {
        for (key, value) in fields {
            match (key.value.as_str(), &value.value) {
                ("enableHttps", _) => "enableHTTPS".clone_into(&mut key.value),
                ("httpTimeout", Value::Int(nanoseconds)) => {
                    let timeout = u64::try_from(*nanoseconds).map(Duration::from_nanos).map(format_duration);
                    value.value = Value::Str(timeout.unwrap_or_else(|_| format!("{nanoseconds}ns")));
                }
                _ => {}
            }
        }
    }
    extender
}
