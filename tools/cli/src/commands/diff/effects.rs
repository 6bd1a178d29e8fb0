//! Effects of differences on pods, a short sentence each.

use schedc_import::{Difference, ProfileSummary};
use serde_json::Value;

use super::sides::Side;

/// Returns the effect of a difference on pods. `all` are all differences of the two profiles.
pub(super) fn of(difference: &Difference, all: &[Difference], a: &Side, b: &Side) -> String {
    match difference {
        Difference::Setting { name, a: in_a, b: in_b } => setting(name, (*in_a, &a.name), (*in_b, &b.name)),
        Difference::Plugin { point, plugin, in_a, .. } => {
            let with = if *in_a { a } else { b };
            missing(point, plugin, all, with)
        }
        Difference::Weight { plugin, a: in_a, b: in_b } => weight(plugin, (*in_a, a), (*in_b, b)),
        Difference::Order { point, .. } => order(point).to_owned(),
        Difference::Argument { plugin, path, a: in_a, b: in_b } => {
            argument(plugin, path, (in_a.as_ref(), &a.name), (in_b.as_ref(), &b.name))
        }
        Difference::Extender { a: in_a, b: in_b, .. } => without_extender(in_a.as_ref().or(in_b.as_ref())),
        Difference::ExtenderSetting { key, a: in_a, b: in_b, .. } => {
            extender_setting(key, (in_a.as_ref(), &a.name), (in_b.as_ref(), &b.name))
        }
    }
}

fn setting(name: &str, (in_a, a): (i64, &str), (in_b, b): (i64, &str)) -> String {
    let (less, more) = if in_a < in_b { (a, b) } else { (b, a) };
    match name {
        "percentageOfNodesToScore" if in_a == 0 || in_b == 0 => {
            let (adaptive, other, percentage) = if in_a == 0 { (a, b, in_b) } else { (b, a, in_a) };
            let nodes = if percentage == 100 { "all nodes".to_owned() } else { format!("{percentage} % of them") };
            format!("with {adaptive}, a smaller share of nodes is evaluated in larger clusters; with {other}, {nodes}")
        }
        "percentageOfNodesToScore" => {
            format!("{less} evaluates fewer nodes: it decides faster and may miss the best one")
        }
        "podInitialBackoffSeconds" => format!("with {more}, the first retry of a pod comes later"),
        _ => format!("with {more}, a pod with many failed attempts is retried less often"),
    }
}

/// Returns the effect of a missing plugin at an extension point.
fn missing(point: &str, plugin: &str, all: &[Difference], with: &Side) -> String {
    let without = match point {
        "filter" => without_filter(plugin),
        "score" => match preference(plugin) {
            Some(preference) => return format!("without it, pods do not prefer {preference}"),
            None => "its scores do not count",
        },
        "post-filter" => match plugin {
            "DefaultPreemption" => "no pod is preempted for an unschedulable pod",
            "DynamicResources" => "no claim is deallocated for an unschedulable pod",
            _ => "it does nothing for an unschedulable pod",
        },
        "pre-enqueue" => match plugin {
            "SchedulingGates" => "pods are scheduled in spite of their scheduling gates",
            "DefaultPreemption" => "a pod is retried before its victims are gone",
            "DynamicResources" => "pods are attempted before their resource claims exist",
            _ => "it holds no pod back from the queue",
        },
        "queue-sort" => "another plugin orders the queue",
        "pre-filter" | "pre-score" => {
            let main = &point["pre-".len()..];
            let is_missing_main = |other: &Difference| matches!(other, Difference::Plugin { point, plugin: other, .. } if *point == main && other == plugin);
            if all.iter().any(is_missing_main) {
                return format!("a consequence of the missing {main}");
            }
            let runs = |(point, plugins): &(&str, Vec<(String, Option<i64>)>)| {
                *point == main && plugins.iter().any(|(other, _)| other == plugin)
            };
            if with.summary.points.iter().any(runs) {
                return format!("without it, {main} lacks the data that {plugin} prepares");
            }
            return "the plugin does not run at this extension point".to_owned();
        }
        "reserve" => "nothing is reserved for a pod whose node is chosen",
        "permit" => "no pod waits for its permit",
        "pre-bind" => "no binding is prepared",
        "bind" => "it binds no pod",
        _ => "it is not notified of bound pods",
    };
    format!("without it, {without}")
}

fn without_filter(plugin: &str) -> &'static str {
    match plugin {
        "NodeUnschedulable" => "pods may go to cordoned nodes",
        "NodeName" => "the node name of a pod is ignored",
        "TaintToleration" => "taints are ignored",
        "NodeAffinity" => "node selectors and required node affinity are ignored",
        "NodePorts" => "pods with the same host port may share a node",
        "NodeResourcesFit" => "requests are not compared with what is free, so nodes may be overcommitted",
        "VolumeRestrictions" => "volumes for one node or one pod may be used by several",
        "NodeVolumeLimits" => "nodes may get more volumes than can be attached",
        "VolumeBinding" => "nodes that a pod's volumes cannot reach are not rejected",
        "VolumeZone" => "pods may be placed in other zones than their volumes",
        "PodTopologySpread" => "spreading constraints with DoNotSchedule are ignored",
        "InterPodAffinity" => "required affinity and anti-affinity between pods are ignored",
        "DynamicResources" => "nodes without the devices of a pod's resource claims are not rejected",
        "NodeDeclaredFeatures" => "pods may be placed on nodes without a feature that they need",
        _ => "it rejects no node",
    }
}

/// Returns the preference behind a plugin's scores, as words that follow "pods prefer".
fn preference(plugin: &str) -> Option<&'static str> {
    Some(match plugin {
        "TaintToleration" => "nodes without PreferNoSchedule taints",
        "NodeAffinity" => "nodes that match their preferred node affinity",
        "NodeResourcesFit" => "nodes by requested resources",
        "VolumeBinding" => "volumes that are no larger than requested",
        "PodTopologySpread" => "to be spread over nodes and zones",
        "InterPodAffinity" => "to be near or away from the pods that their preferred terms select",
        "DynamicResources" => "devices that their claims list first",
        "NodeResourcesBalancedAllocation" => "nodes with balanced requests of cpu and memory",
        "ImageLocality" => "nodes that have their images",
        _ => return None,
    })
}

fn weight(plugin: &str, (in_a, a): (i64, &Side), (in_b, b): (i64, &Side)) -> String {
    let (of_a, of_b) = (total(&a.summary), total(&b.summary));
    let shares = (i128::from(in_a) * of_b, i128::from(in_b) * of_a);
    let what = preference(plugin)
        .map_or_else(|| format!("the preference of {plugin}"), |what| format!("pods prefer {what}; this"));
    if shares.0 == shares.1 {
        return format!("none: {what} has the same share of the total score");
    }
    let (more, (high, of_high), (low, of_low)) =
        if shares.0 > shares.1 { (a, (in_a, of_a), (in_b, of_b)) } else { (b, (in_b, of_b), (in_a, of_a)) };
    format!("{what} counts more with {}: {high} of {of_high} parts of the score, not {low} of {of_low}", more.name)
}

fn total(summary: &ProfileSummary) -> i128 {
    let score = summary.points.iter().find(|(point, _)| *point == "score");
    score.into_iter().flat_map(|(_, plugins)| plugins).filter_map(|(_, weight)| weight.map(i128::from)).sum()
}

fn order(point: &str) -> &'static str {
    match point {
        "score" => "none: scores are added up",
        "filter" | "pre-filter" => {
            "none for placements; of several plugins that reject a node, another one may be reported"
        }
        "pre-score" => "none: each plugin prepares its own scores",
        "post-filter" => "another plugin runs first for unschedulable pods",
        "pre-enqueue" => "none for placements; of several plugins that gate a pod, another one may be reported",
        "bind" => "another plugin may bind pods",
        "extender" => "none for placements; of several extenders that reject a node, another one may be reported",
        _ => "plugins run in another order",
    }
}

/// Returns the effect of a missing extender with these settings.
fn without_extender(extender: Option<&Value>) -> String {
    let calls = [
        ("filter-verb", "filters nodes"),
        ("prioritize-verb", "adds to scores"),
        ("preempt-verb", "reviews the victims of preemption"),
        ("bind-verb", "binds pods in place of plugins"),
        ("unreserve-verb", "is notified of Unreserve"),
    ];
    let missing_calls =
        calls.into_iter().filter(|(verb, _)| extender.is_some_and(|extender| extender.get(verb).is_some()));
    let missing_calls: Vec<&str> = missing_calls.map(|(_, what)| what).collect();
    if missing_calls.is_empty() {
        "none: it is never called".to_owned()
    } else {
        format!("without it, no extender {}", missing_calls.join(", "))
    }
}

fn extender_setting(key: &str, (in_a, a): (Option<&Value>, &str), (in_b, b): (Option<&Value>, &str)) -> String {
    let number = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or(0);
    match key {
        "weight" => format!("its scores count more with {}", if number(in_a) > number(in_b) { a } else { b }),
        "ignorable" => format!("only with {}, pods are scheduled when it fails", if in_a.is_some() { a } else { b }),
        "http-timeout" => "the timeout for its responses differs".to_owned(),
        "managed-resources" => "it is called for other pods".to_owned(),
        "node-cache-capable" => {
            "none if the extender caches nodes: it receives node names instead of whole nodes".to_owned()
        }
        verb if verb.ends_with("-verb") => "other calls are sent to it".to_owned(),
        _ => "it is reached in another way".to_owned(),
    }
}

fn argument(plugin: &str, path: &str, (in_a, a): (Option<&Value>, &str), (in_b, b): (Option<&Value>, &str)) -> String {
    let more = |in_a: Option<&Value>, in_b: Option<&Value>| {
        let number = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or(0);
        if number(in_a) > number(in_b) { a } else { b }
    };
    match (plugin, path) {
        ("NodeResourcesFit", "scoringStrategy.type") => {
            let prefer = |value: Option<&Value>| match value.and_then(Value::as_str) {
                Some("LeastAllocated") => "the emptiest nodes",
                Some("MostAllocated") => "the fullest nodes with enough room",
                _ => "nodes whose utilisation has a high score in the shape",
            };
            format!("pods prefer {} with {a}, and {} with {b}", prefer(in_a), prefer(in_b))
        }
        ("NodeResourcesFit", "scoringStrategy.resources") => {
            "other resources or weights determine how full a node is".to_owned()
        }
        ("NodeResourcesFit", path) if path.starts_with("scoringStrategy.") => {
            "another utilisation of nodes is preferred".to_owned()
        }
        ("NodeResourcesFit", _) => "requests of ignored resources are not compared with free resources".to_owned(),
        ("NodeResourcesBalancedAllocation", _) => "the requests of other resources are balanced".to_owned(),
        ("InterPodAffinity", "hardPodAffinityWeight") => {
            let more = more(in_a, in_b);
            format!("with {more}, required affinity of running pods attracts pods more")
        }
        ("InterPodAffinity", _) => {
            let profile = if in_a == Some(&Value::Bool(true)) { b } else { a };
            format!("only with {profile}, preferences of running pods affect pods without preferences")
        }
        ("NodeAffinity", _) => "all pods get other node requirements or preferences".to_owned(),
        ("PodTopologySpread", _) => {
            "pods of services and controllers without constraints are spread in another way".to_owned()
        }
        ("DefaultPreemption", _) => {
            format!("with {}, preemption evaluates more nodes", more(in_a, in_b))
        }
        ("VolumeBinding", "bindTimeoutSeconds") => {
            format!("with {}, pods wait longer for their volumes", more(in_a, in_b))
        }
        ("DynamicResources", "bindingTimeout") => "the timeout for devices differs".to_owned(),
        ("DynamicResources", _) => "the time limit of device allocation per node differs".to_owned(),
        _ => format!("{plugin} behaves differently"),
    }
}
