//! The old Policy: predicates and priorities, which kube-scheduler 1.18 to 1.22 turned into plugins. What each one meant
//! is in its `LegacyRegistry`.

use std::time::Duration;

use schedc_codegen::plan::Point;
use schedc_codegen::source::{Span, Spanned};
use schedc_core::args::format_duration;

use super::args::OfAll;
use super::lists::{Entry, Lists};
use super::{build, document, messages};
use crate::config::PluginConfig;
use crate::decode::Fields;
use crate::report::Report;
use crate::tree::{Node, Value};

/// A predicate and the plugins that filter as it did, in the order in which predicates ran.
const PREDICATES: [(&str, &[&str]); 19] = [
    ("CheckNodeUnschedulable", &["NodeUnschedulable"]),
    ("GeneralPredicates", &["NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"]),
    ("HostName", &["NodeName"]),
    ("PodFitsHostPorts", &["NodePorts"]),
    ("MatchNodeSelector", &["NodeAffinity"]),
    ("PodFitsResources", &["NodeResourcesFit"]),
    ("NoDiskConflict", &["VolumeRestrictions"]),
    ("PodToleratesNodeTaints", &["TaintToleration"]),
    ("CheckNodeLabelPresence", &["NodeLabel"]),
    ("CheckServiceAffinity", &["ServiceAffinity"]),
    ("MaxEBSVolumeCount", &["EBSLimits"]),
    ("MaxGCEPDVolumeCount", &["GCEPDLimits"]),
    ("MaxCSIVolumeCountPred", &["NodeVolumeLimits"]),
    ("MaxAzureDiskVolumeCount", &["AzureDiskLimits"]),
    ("MaxCinderVolumeCount", &["CinderLimits"]),
    ("CheckVolumeBinding", &["VolumeBinding"]),
    ("NoVolumeZoneConflict", &["VolumeZone"]),
    ("EvenPodsSpread", &["PodTopologySpread"]),
    ("MatchInterPodAffinity", &["InterPodAffinity"]),
];

/// Predicates that were there whatever a policy said.
const MANDATORY: [&str; 2] = ["CheckNodeUnschedulable", "PodToleratesNodeTaints"];

/// Predicates of a policy that says nothing of them.
const DEFAULT_PREDICATES: [&str; 12] = [
    "CheckNodeUnschedulable",
    "GeneralPredicates",
    "NoDiskConflict",
    "PodToleratesNodeTaints",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxCSIVolumeCountPred",
    "MaxAzureDiskVolumeCount",
    "CheckVolumeBinding",
    "NoVolumeZoneConflict",
    "EvenPodsSpread",
    "MatchInterPodAffinity",
];

/// Predicates that became taints before they were plugins.
const CONDITIONS: [&str; 4] =
    ["CheckNodeCondition", "CheckNodeMemoryPressure", "CheckNodeDiskPressure", "CheckNodePIDPressure"];

/// A priority, the plugin that scores as it did, and its weight in a policy that says nothing of priorities. They are in
/// the order in which they ran.
const PRIORITIES: [(&str, &str, i64); 13] = [
    ("BalancedResourceAllocation", "NodeResourcesBalancedAllocation", 1),
    ("EvenPodsSpreadPriority", "PodTopologySpread", 2),
    ("ImageLocalityPriority", "ImageLocality", 1),
    ("InterPodAffinityPriority", "InterPodAffinity", 1),
    ("LeastRequestedPriority", "NodeResourcesLeastAllocated", 1),
    ("MostRequestedPriority", "NodeResourcesMostAllocated", 0),
    ("NodeAffinityPriority", "NodeAffinity", 1),
    ("NodeLabel", "NodeLabel", 0),
    ("NodePreferAvoidPodsPriority", "NodePreferAvoidPods", 10_000),
    ("RequestedToCapacityRatio", "RequestedToCapacityRatio", 0),
    ("SelectorSpreadPriority", "SelectorSpread", 1),
    ("ServiceAffinity", "ServiceAffinity", 0),
    ("TaintTolerationPriority", "TaintToleration", 1),
];

/// A policy, read.
pub(super) struct Policy {
    /// Where it begins.
    pub(super) at: Span,
    predicates: Option<Vec<Function>>,
    priorities: Option<Vec<Function>>,
    extenders: Option<(Spanned<String>, Node)>,
    hard_pod_affinity_weight: Option<Spanned<i64>>,
    configs: Vec<PluginConfig>,
}

/// A predicate or a priority by its registered name, and where it is.
struct Function {
    name: Spanned<String>,
    weight: Option<Spanned<i64>>,
}

/// A policy alone, as kube-scheduler took it with `--policy-config-file`.
pub(super) fn configuration(node: &Node, report: &mut Report) -> Node {
    report.note(messages::policy_of_then(node.span));
    let policy = Policy::read(node, report);
    let settings = policy.extenders();
    let profile = policy.profile(None, false, &OfAll::default(), report);
    document(node.span, settings.into_iter().collect(), vec![profile])
}

impl Policy {
    /// Reads a document of that kind.
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
        let all = fields.boolean("alwaysCheckAllPredicates").filter(|all| all.value);
        let extenders_at = fields.at("extenders");
        let extenders = extenders_at.map(|span| {
            let extenders = fields.list("extenders").iter().map(extender).collect();
            (Spanned { value: "extenders".to_owned(), span }, build::list(span, extenders))
        });
        let (predicates, priorities) = (fields.get("predicates"), fields.get("priorities"));
        let (predicate_nodes, priority_nodes) = (fields.list("predicates"), fields.list("priorities"));
        if let Some(weight) = hard_pod_affinity_weight.as_ref().filter(|weight| !(1..=100).contains(&weight.value)) {
            report.error(messages::hard_weight_out_of_range(weight));
        }
        if let Some(all) = all {
            report.note(messages::all_predicates(all.span));
        }
        let mut policy = Policy {
            at: node.span,
            predicates: None,
            priorities: None,
            extenders,
            hard_pod_affinity_weight,
            configs: Vec::new(),
        };
        let read = predicate_nodes
            .iter()
            .enumerate()
            .filter_map(|(index, node)| policy.predicate(node, &format!("predicates[{index}]"), report));
        let read: Vec<Function> = read.collect();
        policy.predicates = predicates.map(|_| read);
        let read = priority_nodes
            .iter()
            .enumerate()
            .filter_map(|(index, node)| policy.priority(node, &format!("priorities[{index}]"), report));
        let read: Vec<Function> = read.collect();
        policy.priorities = priorities.map(|_| read);
        policy
    }

    /// Its extenders, in the words of `v1`.
    pub(super) fn extenders(&self) -> Option<(Spanned<String>, Node)> {
        self.extenders.clone()
    }

    /// A profile in `v1` that decides as the policy.
    pub(super) fn profile(
        self,
        scheduler_name: Option<Node>,
        disable_preemption: bool,
        of_all: &OfAll,
        report: &mut Report,
    ) -> Node {
        let at = self.at;
        let mut lists = Lists::new(at);
        let mut always = |point: Point, plugin: &str| lists.add(point, Entry::by_default(plugin, 0, at));
        always(Point::PreEnqueue, "SchedulingGates");
        always(Point::QueueSort, "PrioritySort");
        always(Point::Bind, "DefaultBinder");
        if !disable_preemption {
            always(Point::PostFilter, "DefaultPreemption");
        }
        for (predicate, plugins) in PREDICATES {
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
        for (priority, plugin, default) in PRIORITIES {
            let mut written = self.priorities.iter().flatten().filter(|function| function.name.value == priority);
            match (written.next(), &self.priorities) {
                (Some(function), _) => {
                    let entry = Entry::by_default(plugin, 0, function.name.span);
                    // Functions of one name and weight are one plugin, with the weight of all.
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
        let of_all = OfAll {
            bind_timeout: of_all.bind_timeout.clone(),
            hard_pod_affinity_weight: self
                .hard_pod_affinity_weight
                .clone()
                .or_else(|| of_all.hard_pod_affinity_weight.clone()),
        };
        lists.profile(scheduler_name, self.configs, &of_all, report)
    }

    fn predicate(&mut self, node: &Node, path: &str, report: &mut Report) -> Option<Function> {
        const ARGUMENTS: [&str; 2] = ["serviceAffinity", "labelsPresence"];
        let mut fields = Fields::of(node, path, &["name", "argument"], &mut report.errors);
        let mut name = name(&mut fields, node.span, path)?;
        if name.value == "PodFitsPorts" {
            "PodFitsHostPorts".clone_into(&mut name.value);
        }
        let argument = argument(&mut fields, &ARGUMENTS);
        if CONDITIONS.contains(&name.value.as_str()) {
            report.note(messages::condition_is_a_taint(&name));
            return None;
        }
        if PREDICATES.iter().any(|(known, _)| *known == name.value) {
            return Some(Function { name, weight: None });
        }
        match argument {
            Some(("serviceAffinity", _)) => "CheckServiceAffinity".clone_into(&mut name.value),
            Some((_, presence)) => {
                let (key, labels) = labels(presence, "labels", "presentLabels", "absentLabels", path, report);
                self.node_label(&name, key, labels);
                "CheckNodeLabelPresence".clone_into(&mut name.value);
            }
            None => {
                let known: Vec<&str> = PREDICATES.iter().map(|(name, _)| *name).collect();
                report.error(messages::unknown_function("predicate", &name, &known));
                return None;
            }
        }
        Some(Function { name, weight: None })
    }

    fn priority(&mut self, node: &Node, path: &str, report: &mut Report) -> Option<Function> {
        const ARGUMENTS: [&str; 3] = ["serviceAntiAffinity", "labelPreference", "requestedToCapacityRatioArguments"];
        let mut fields = Fields::of(node, path, &["name", "weight", "argument"], &mut report.errors);
        let mut name = name(&mut fields, node.span, path)?;
        let weight = fields.integer("weight", 64);
        let argument = argument(&mut fields, &ARGUMENTS);
        if weight.as_ref().is_none_or(|weight| weight.value <= 0) {
            let at = weight.as_ref().map_or(name.span, |weight| weight.span);
            report.error(messages::weight_not_positive(at, &name.value));
            return None;
        }
        match name.value.as_str() {
            // The same for every node.
            "EqualPriority" => return None,
            "ServiceSpreadingPriority" => "SelectorSpreadPriority".clone_into(&mut name.value),
            _ => {}
        }
        if PRIORITIES.iter().any(|(known, ..)| *known == name.value) {
            return Some(Function { name, weight });
        }
        match argument {
            Some(("serviceAntiAffinity", _)) => "ServiceAffinity".clone_into(&mut name.value),
            Some(("labelPreference", preference)) => {
                let keys = ("presentLabelsPreference", "absentLabelsPreference");
                let (key, labels) = labels(preference, "label", keys.0, keys.1, path, report);
                self.node_label(&name, key, labels);
                "NodeLabel".clone_into(&mut name.value);
            }
            Some((_, args)) => {
                "RequestedToCapacityRatio".clone_into(&mut name.value);
                self.configs.push(PluginConfig { name: name.clone(), args: Some(args.clone()) });
            }
            None => {
                let known: Vec<&str> = PRIORITIES.iter().map(|(name, ..)| *name).collect();
                report.error(messages::unknown_function("priority", &name, &known));
                return None;
            }
        }
        Some(Function { name, weight })
    }

    /// All functions about labels are one plugin.
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
    /// Whether it has an argument, and so may be there several times.
    fn is_custom(&self) -> bool {
        ["NodeLabel", "ServiceAffinity"].contains(&self.name.value.as_str())
    }
}

/// What a predicate or a priority is called.
fn name(fields: &mut Fields<'_, '_>, at: Span, path: &str) -> Option<Spanned<String>> {
    let name = fields.string("name");
    if name.is_none() && fields.get("name").is_none() {
        fields.found().push(crate::messages::missing_name(at, path));
    }
    name
}

/// The one thing that an argument says.
fn argument<'n>(fields: &mut Fields<'n, '_>, known: &[&'static str]) -> Option<(&'static str, &'n Node)> {
    let node = fields.get("argument")?;
    let path = fields.path("argument");
    let mut inner = Fields::of(node, &path, known, fields.found());
    let said: Vec<(&str, &Node)> = known.iter().filter_map(|key| Some((*key, inner.get(key)?))).collect();
    match said.as_slice() {
        [only] => Some(*only),
        _ => {
            inner.found().push(messages::one_argument(node.span, known));
            None
        }
    }
}

/// Labels that nodes should have or not have, and under which key.
fn labels<'k>(
    node: &Node,
    key: &str,
    present: &'k str,
    absent: &'k str,
    path: &str,
    report: &mut Report,
) -> (&'k str, Vec<Node>) {
    let path = format!("{path}.argument");
    let mut fields = Fields::of(node, &path, &[key, "presence"], &mut report.errors);
    let presence = fields.boolean("presence").is_some_and(|presence| presence.value);
    let labels = match fields.get(key) {
        Some(Node { value: Value::List(labels), .. }) => labels.clone(),
        Some(label) => vec![label.clone()],
        None => Vec::new(),
    };
    (if presence { present } else { absent }, labels)
}

/// An extender: two of its fields were called otherwise, and a time was a number of nanoseconds.
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
