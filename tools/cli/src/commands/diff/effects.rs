//! What differences mean for pods, a short sentence each.

use schedc_import::{Difference, ProfileSummary};
use serde_json::Value;

use super::sides::Side;

/// What a difference means for pods. `all` are all differences of the two.
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
            format!("with {adaptive}, the larger the cluster the fewer nodes are looked at; with {other}, {nodes}")
        }
        "percentageOfNodesToScore" => {
            format!("{less} looks at fewer nodes: it decides sooner, and may miss the best one")
        }
        "podInitialBackoffSeconds" => format!("with {more}, a pod that was tried in vain is first tried again later"),
        _ => format!("with {more}, a pod that was often tried in vain is tried less often"),
    }
}

/// What pods miss without a plugin at a point.
fn missing(point: &str, plugin: &str, all: &[Difference], with: &Side) -> String {
    let without = match point {
        "filter" => without_filter(plugin),
        "score" => match preference(plugin) {
            Some(preference) => return format!("without it, pods do not prefer {preference}"),
            None => "its scores do not count",
        },
        "post-filter" => match plugin {
            "DefaultPreemption" => "no pod has to make room for one that fits nowhere",
            "DynamicResources" => "no claim is given up for a pod that fits nowhere",
            _ => "it does nothing for a pod that fits nowhere",
        },
        "pre-enqueue" => match plugin {
            "SchedulingGates" => "pods are tried in spite of their scheduling gates",
            "DefaultPreemption" => "a pod is tried again before its victims are gone",
            "DynamicResources" => "pods are tried before their resource claims exist",
            _ => "it holds no pod back from the queue",
        },
        "queue-sort" => "another plugin says which pod is tried first",
        "pre-filter" | "pre-score" => {
            let main = &point["pre-".len()..];
            let goes_with = |other: &Difference| matches!(other, Difference::Plugin { point, plugin: other, .. } if *point == main && other == plugin);
            if all.iter().any(goes_with) {
                return format!("goes with {main}");
            }
            let runs = |(point, plugins): &(&str, Vec<(String, Option<i64>)>)| {
                *point == main && plugins.iter().any(|(other, _)| other == plugin)
            };
            if with.summary.points.iter().any(runs) {
                return format!("without it, {main} has nothing prepared by {plugin}");
            }
            "it does not look at pods here"
        }
        "reserve" => "it keeps nothing for a pod whose node is chosen",
        "permit" => "no pod waits for it to be bound",
        "pre-bind" => "it prepares nothing before a pod is bound",
        "bind" => "it binds no pod",
        _ => "it is not told of bound pods",
    };
    format!("without it, {without}")
}

fn without_filter(plugin: &str) -> &'static str {
    match plugin {
        "NodeUnschedulable" => "pods may go to cordoned nodes",
        "NodeName" => "the node that a pod names is not heeded",
        "TaintToleration" => "taints keep no pod away",
        "NodeAffinity" => "node selectors and required node affinity are not heeded",
        "NodePorts" => "pods that want the same host port may share a node",
        "NodeResourcesFit" => "requests are not compared with what is free, so nodes may be overcommitted",
        "VolumeRestrictions" => "volumes for one node or one pod may be used by several",
        "NodeVolumeLimits" => "nodes may get more volumes than can be attached",
        "VolumeBinding" => "it is not looked at where a pod's claims can have their volumes",
        "VolumeZone" => "pods may go to other zones than their volumes",
        "PodTopologySpread" => "spreading constraints with DoNotSchedule are not heeded",
        "InterPodAffinity" => "required affinity and anti-affinity between pods are not heeded",
        "DynamicResources" => "it is not looked at where a pod's resource claims can be met",
        "NodeDeclaredFeatures" => "pods may go to nodes without a feature that they need",
        _ => "it rejects no node",
    }
}

/// What a plugin's scores prefer, after «pods prefer».
fn preference(plugin: &str) -> Option<&'static str> {
    Some(match plugin {
        "TaintToleration" => "nodes without PreferNoSchedule taints",
        "NodeAffinity" => "nodes that their preferred node affinity asks for",
        "NodeResourcesFit" => "nodes by how much of them is requested",
        "VolumeBinding" => "volumes that are no larger than they ask for",
        "PodTopologySpread" => "to be spread over nodes and zones",
        "InterPodAffinity" => "to be near or away from the pods that their preferred terms name",
        "DynamicResources" => "devices that their claims name first",
        "NodeResourcesBalancedAllocation" => "nodes on which cpu and memory are requested alike",
        "ImageLocality" => "nodes that have their images",
        _ => return None,
    })
}

fn weight(plugin: &str, (in_a, a): (i64, &Side), (in_b, b): (i64, &Side)) -> String {
    let (of_a, of_b) = (total(&a.summary), total(&b.summary));
    let shares = (i128::from(in_a) * of_b, i128::from(in_b) * of_a);
    let what = preference(plugin).map_or_else(|| format!("what {plugin} prefers"), |what| format!("preferring {what}"));
    if shares.0 == shares.1 {
        return format!("none: {what} counts as much among all scores");
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
            "none for where they go; of several plugins that reject a node, another one may be named"
        }
        "pre-score" => "none: each plugin prepares its own scores",
        "post-filter" => "another plugin is asked first to make room",
        "pre-enqueue" => "none for who is held back; of several plugins that hold a pod, another one may be named",
        "bind" => "another plugin may bind them",
        "extender" => "none for where they go; of several extenders that reject a node, another one may be named",
        _ => "plugins act in another order",
    }
}

/// What pods miss without an extender that says this.
fn without_extender(extender: Option<&Value>) -> String {
    let misses = [
        ("filter-verb", "takes out nodes"),
        ("prioritize-verb", "adds to scores"),
        ("preempt-verb", "looks over who has to go for others"),
        ("bind-verb", "binds pods in place of plugins"),
        ("unreserve-verb", "hears of decisions that were undone"),
    ];
    let asked = misses.into_iter().filter(|(verb, _)| extender.is_some_and(|extender| extender.get(verb).is_some()));
    let asked: Vec<&str> = asked.map(|(_, what)| what).collect();
    if asked.is_empty() {
        "none: it is never asked".to_owned()
    } else {
        format!("without it, nobody {}", asked.join(", "))
    }
}

fn extender_setting(key: &str, (in_a, a): (Option<&Value>, &str), (in_b, b): (Option<&Value>, &str)) -> String {
    let number = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or(0);
    match key {
        "weight" => format!("its scores count more with {}", if number(in_a) > number(in_b) { a } else { b }),
        "ignorable" => format!("only with {}, pods are scheduled when it fails", if in_a.is_some() { a } else { b }),
        "http-timeout" => "pods wait for its answers for another time".to_owned(),
        "managed-resources" => "it is asked about other pods".to_owned(),
        "node-cache-capable" => "none, if it knows the nodes: it is sent names or whole nodes".to_owned(),
        verb if verb.ends_with("-verb") => "it is asked other things".to_owned(),
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
                Some("MostAllocated") => "the fullest nodes that they fit on",
                _ => "nodes that are used as the shape says",
            };
            format!("pods prefer {} with {a}, and {} with {b}", prefer(in_a), prefer(in_b))
        }
        ("NodeResourcesFit", "scoringStrategy.resources") => {
            "other resources, or the same with other weights, say how full a node is".to_owned()
        }
        ("NodeResourcesFit", path) if path.starts_with("scoringStrategy.") => {
            "another use of nodes is preferred".to_owned()
        }
        ("NodeResourcesFit", _) => "requests for what is ignored are not compared with what is free".to_owned(),
        ("NodeResourcesBalancedAllocation", _) => "other resources should be requested alike".to_owned(),
        ("InterPodAffinity", "hardPodAffinityWeight") => {
            let more = more(in_a, in_b);
            format!("pods are drawn more to running pods that require their like with {more}")
        }
        ("InterPodAffinity", _) => {
            let heeds = if in_a == Some(&Value::Bool(true)) { b } else { a };
            format!("only with {heeds}, what running pods prefer counts for pods without preferences of their own")
        }
        ("NodeAffinity", _) => "all pods get other requirements of nodes, or preferences".to_owned(),
        ("PodTopologySpread", _) => {
            "pods of services and controllers without constraints are spread in another way".to_owned()
        }
        ("DefaultPreemption", _) => {
            format!("with {}, more nodes are looked at for pods to preempt", more(in_a, in_b))
        }
        ("VolumeBinding", "bindTimeoutSeconds") => {
            format!("with {}, pods wait longer for their volumes", more(in_a, in_b))
        }
        ("DynamicResources", "bindingTimeout") => "pods wait for another time for their devices".to_owned(),
        ("DynamicResources", _) => "allocating devices may take another time for a node".to_owned(),
        _ => format!("{plugin} does something else"),
    }
}
