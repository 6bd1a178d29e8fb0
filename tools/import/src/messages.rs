//! All messages about a KubeSchedulerConfiguration: one function for each.
//!
//! A title is a phrase that is complete by itself, because warnings and notes show only the title and the
//! help.

mod extenders;

use schedc_profile_rules::Diagnostic;
use schedc_profile_rules::point::Point;
use schedc_profile_rules::source::{Span, Spanned};
use schedc_profile_rules::suggest::closest;

use crate::kube_scheduler;

pub(crate) use extenders::*;

// Text and types.

pub(crate) fn syntax(at: Span, subject: &str) -> Diagnostic {
    Diagnostic::at(at, format!("this is neither YAML nor JSON: {subject}"), "")
}

pub(crate) fn nothing_written(at: Span) -> Diagnostic {
    Diagnostic::at(at, "there is no KubeSchedulerConfiguration: the input is empty", "")
}

pub(crate) fn further_document(at: Span) -> Diagnostic {
    Diagnostic::at(at, "only the first document of a file counts, as in kube-scheduler", "ignored")
}

pub(crate) fn not_a_configuration(at: Span, kind: &str) -> Diagnostic {
    Diagnostic::at(at, format!("this is {kind}, not a KubeSchedulerConfiguration"), "expected fields")
}

pub(crate) fn missing_type(at: Span, key: &str, expected: &str) -> Diagnostic {
    Diagnostic::at(at, format!("`{key}` is missing"), "unknown kind of file").help(format!("add `{key}: {expected}`"))
}

pub(crate) fn other_kind(kind: &Spanned<String>, expected: &str) -> Diagnostic {
    let title = format!("this is a {}, not a {expected}", kind.value);
    let diagnostic = Diagnostic::at(kind.span, title, format!("expected `{expected}`"));
    if kind.value == "ConfigMap" {
        diagnostic.help("import the configuration in its `data`: kubectl get -o jsonpath prints it alone")
    } else {
        diagnostic
    }
}

pub(crate) fn other_version(version: &Spanned<String>, expected: &str) -> Diagnostic {
    let title = format!("apiVersion `{}` is not supported", version.value);
    let diagnostic = Diagnostic::at(version.span, title, format!("expected `{expected}`"));
    let is_older = ["v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"]
        .iter()
        .any(|older| version.value.strip_prefix("kubescheduler.config.k8s.io/") == Some(older));
    if is_older {
        diagnostic
            .note("kube-scheduler 1.36 reads no older version either")
            .help("run `schedc import` to convert it to a profile, and `schedc export` to convert the profile to a configuration")
    } else {
        diagnostic
    }
}

pub(crate) fn unknown_field(key: &Spanned<String>, path: &str, known: &[&str]) -> Diagnostic {
    let owner = if path.is_empty() { "a KubeSchedulerConfiguration".to_owned() } else { format!("`{path}`") };
    let diagnostic =
        Diagnostic::at(key.span, format!("unknown field `{}`", key.value), format!("not a field of {owner}")).note(
            if known.is_empty() { format!("{owner} has no fields") } else { format!("{owner} has {}", quoted(known)) },
        );
    match closest(&key.value, known.iter().copied()) {
        Some(meant) => diagnostic.suggest(format!("did you mean `{meant}`?"), key.span, meant),
        None => diagnostic,
    }
}

pub(crate) fn repeated_field(key: &Spanned<String>, first: Span) -> Diagnostic {
    Diagnostic::at(key.span, format!("`{}` is written twice", key.value), "written again")
        .secondary(first, "first written")
        .help("remove one of the two")
}

pub(crate) fn wrong_kind(at: Span, path: &str, expected: &str, kind: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::at(at, format!("`{path}` must be {expected}, not {kind}"), format!("expected {expected}"));
    if expected == "a string" && ["true or false", "a whole number", "a number with a fraction"].contains(&kind) {
        diagnostic.help("put it in quotes")
    } else {
        diagnostic
    }
}

pub(crate) fn too_many_bits(at: Span, path: &str, bits: u32) -> Diagnostic {
    Diagnostic::at(at, format!("`{path}` does not fit an integer of {bits} bits"), "out of range")
}

pub(crate) fn missing_name(at: Span, path: &str) -> Diagnostic {
    Diagnostic::at(at, format!("`{path}` needs a `name`"), "`name` is missing")
}

pub(crate) fn bare_plugin(at: Span, name: &str) -> Diagnostic {
    Diagnostic::at(at, "a plugin must be a map of fields, not a string", "expected a map of fields").suggest(
        "give it as `name`",
        at,
        format!("name: {name}"),
    )
}

// Settings.

pub(crate) fn percentage_out_of_range(percentage: &Spanned<i64>) -> Diagnostic {
    let title = format!("`percentageOfNodesToScore` must be 0 to 100, not {}", percentage.value);
    Diagnostic::at(percentage.span, title, "out of range")
}

pub(crate) fn backoff_out_of_range(key: &str, seconds: &Spanned<i64>, max: i64) -> Diagnostic {
    let title = format!("`{key}` must be 1 to {max}, not {}", seconds.value);
    Diagnostic::at(seconds.span, title, "out of range")
}

pub(crate) fn backoff_shrinks(at: Span, initial: i64, max: i64) -> Diagnostic {
    let title = format!("the longest backoff, {max} s, is shorter than the first, {initial} s");
    Diagnostic::at(at, title, "a value that is not written has its default")
        .help("`podMaxBackoffSeconds` (default 10) must be at least `podInitialBackoffSeconds` (default 1)")
}

pub(crate) fn parallelism_too_small(parallelism: &Spanned<i64>) -> Diagnostic {
    let title = format!("`parallelism` must be greater than 0, not {}", parallelism.value);
    Diagnostic::at(parallelism.span, title, "out of range")
}

pub(crate) fn process_setting(setting: &Spanned<&'static str>) -> Diagnostic {
    let subject = match setting.value {
        "parallelism" => "ignored: schedc evaluates nodes in one thread",
        "leaderElection" => "not part of a profile: it configures the process, not its decisions",
        "clientConnection" => "not part of a profile: it configures the connection to the API server",
        "delayCacheUntilActive" => "not part of a profile: it configures when a standby starts to watch",
        _ => "ignored: there are no such endpoints",
    };
    Diagnostic::at(setting.span, format!("`{}` is {subject}", setting.value), "")
}

// Scheduler names.

pub(crate) fn missing_scheduler_name(at: Span) -> Diagnostic {
    Diagnostic::at(at, "each of several profiles needs a `schedulerName`", "`schedulerName` is missing")
}

pub(crate) fn empty_scheduler_name(at: Span) -> Diagnostic {
    Diagnostic::at(at, "`schedulerName` must not be empty", "empty").help("for the default, leave the field out")
}

const SCHEDULER_NAMES: &str =
    "names are lower-case letters, digits, `-` and `.`, and begin and end with a letter or digit";

pub(crate) fn bad_scheduler_name(name: &Spanned<String>) -> Diagnostic {
    let title = format!("`{}` is not a scheduler name for schedc", name.value);
    Diagnostic::at(name.span, title, "other characters than these").note(SCHEDULER_NAMES)
}

pub(crate) fn bad_requested_scheduler_name(name: &str) -> Diagnostic {
    Diagnostic::new(format!("`{name}`, given as --name, is not a scheduler name for schedc")).note(SCHEDULER_NAMES)
}

pub(crate) fn renamed(from: &str, to: &str) -> Diagnostic {
    Diagnostic::new(format!(
        "the only profile, `{from}`, is called `{to}` here: it serves pods whose schedulerName is `{to}`"
    ))
}

pub(crate) fn scheduler_name_twice(name: &Spanned<String>, first: Span) -> Diagnostic {
    Diagnostic::at(name.span, format!("two profiles have the schedulerName `{}`", name.value), "used again")
        .secondary(first, "first used")
}

pub(crate) fn several_profiles(names: &[&str], wanted: Option<&str>) -> Diagnostic {
    let has = format!("the configuration has {}", quoted(names));
    match wanted {
        None => Diagnostic::new(format!("none of the {} profiles is chosen", names.len()))
            .note(has)
            .help("choose one with --name, or write all of them into a folder with --output-dir"),
        Some(wanted) => {
            let diagnostic = Diagnostic::new(format!("no profile has the schedulerName `{wanted}`")).note(has);
            match closest(wanted, names.iter().copied()) {
                Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                None => diagnostic,
            }
        }
    }
}

// Plugins.

pub(crate) fn star_enabled(at: Span, set_key: &str) -> Diagnostic {
    Diagnostic::at(at, format!("`*` cannot be enabled at `{set_key}`"), "not a plugin")
        .note("`*` means all plugins, but only in `disabled`")
}

pub(crate) fn removed_plugin(name: &Spanned<String>, successor: &str) -> Diagnostic {
    let title = format!("kube-scheduler 1.36 no longer has the plugin `{}`", name.value);
    Diagnostic::at(name.span, title, "removed").help(format!("its function is part of `{successor}`"))
}

pub(crate) fn alpha_plugin(name: &Spanned<String>) -> Diagnostic {
    let title = format!(
        "`{}` is left out: it belongs to an alpha feature of Kubernetes, which schedc does not have",
        name.value
    );
    Diagnostic::at(name.span, title, "left out")
}

pub(crate) fn placement_point(key: &Spanned<&'static str>) -> Diagnostic {
    let title = format!(
        "`{}` is left out: it belongs to an alpha feature of Kubernetes, which schedc does not have",
        key.value
    );
    Diagnostic::at(key.span, title, "left out")
}

pub(crate) fn unknown_plugin(name: &Spanned<String>, meant: &str) -> Diagnostic {
    Diagnostic::at(name.span, format!("no plugin is called `{}`", name.value), "not a plugin of kube-scheduler")
        .suggest(format!("did you mean `{meant}`?"), name.span, meant)
}

pub(crate) fn out_of_tree_plugin(name: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` is not a plugin of kube-scheduler", name.value), "from another crate")
        .help("name its crate in the profile: `crates = [\"..\"]`; until then the profile does not compile")
}

pub(crate) fn not_implemented(name: &Spanned<String>, point: Point, points: &[Point]) -> Diagnostic {
    let keys: Vec<&str> = points.iter().map(|point| kube_scheduler::key(*point)).collect();
    Diagnostic::at(
        name.span,
        format!("`{}` cannot be enabled at `{}`: it never runs there", name.value, kube_scheduler::key(point)),
        "nothing to run here",
    )
    .note(format!("{} runs at {}", name.value, quoted(&keys)))
}

pub(crate) fn enabled_twice(name: &Spanned<String>, first: Span, set_key: &str) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` is enabled twice at `{set_key}`", name.value), "enabled again")
        .secondary(first, "first enabled")
        .help("remove one of the two")
}

pub(crate) fn disabled_twice(name: &Spanned<String>, set_key: &str) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` is disabled twice at `{set_key}`", name.value), "disabled again")
}

/// Maximum number of plugins that a name is compared with; the default plugins are among the first.
const MAX_CANDIDATES: usize = 100;

pub(crate) fn disables_nothing(name: &Spanned<String>, set_key: &str, enabled: &[String]) -> Diagnostic {
    let title = format!("disabling `{}` at `{set_key}` has no effect: it is not enabled there", name.value);
    let diagnostic = Diagnostic::at(name.span, title, "disables nothing");
    match closest(&name.value, enabled.iter().map(String::as_str).take(MAX_CANDIDATES)) {
        Some(meant) if meant != name.value => diagnostic.help(format!("did you mean `{meant}`?")),
        _ => diagnostic,
    }
}

pub(crate) fn negative_weight(weight: &Spanned<i64>, plugin: &str) -> Diagnostic {
    Diagnostic::at(
        weight.span,
        format!("the weight of `{plugin}` must be at least 1, not {}", weight.value),
        "negative",
    )
    .note("kube-scheduler would accept it, and prefer the nodes with the lowest scores")
}

pub(crate) fn zero_weight(at: Span, plugin: &str) -> Diagnostic {
    Diagnostic::at(at, format!("weight 0 of `{plugin}` means 1, as in kube-scheduler"), "means 1")
        .help("to leave it out, disable it at `score`")
}

pub(crate) fn weight_falls_to_one(name: &Spanned<String>, usual: i64, point: Option<Point>) -> Diagnostic {
    let title = match point {
        None => format!("`{}` gets weight 1 here, not its default {usual}, as in kube-scheduler", name.value),
        Some(_) => {
            format!("`{}` gets weight 1 here, not the {usual} of `multiPoint`, as in kube-scheduler", name.value)
        }
    };
    Diagnostic::at(name.span, title, "no weight").help(format!("to keep it, write `weight: {usual}`"))
}

pub(crate) fn weight_without_effect(at: Span, plugin: &str, point: Option<Point>, scores: bool) -> Diagnostic {
    let title = match point {
        Some(point) => format!("the weight of `{plugin}` at `{}` has no effect", kube_scheduler::key(point)),
        None => format!("the weight of `{plugin}` has no effect: it does not score"),
    };
    let diagnostic = Diagnostic::at(at, title, "no effect");
    if scores { diagnostic.help("weights count at `score` and `multiPoint`") } else { diagnostic }
}

pub(crate) fn weight_of_disabled(at: Span, plugin: &str) -> Diagnostic {
    Diagnostic::at(at, format!("the weight of `{plugin}` has no effect in `disabled`"), "no effect")
}

pub(crate) fn queue_sorts(at: Span, sorters: &[&str]) -> Diagnostic {
    match sorters {
        [] => Diagnostic::at(at, "this profile has no queue-sort plugin", "leaves the queue without an order")
            .help("enable one, for example `PrioritySort`"),
        _ => Diagnostic::at(
            at,
            format!("a profile has exactly one queue-sort plugin, not {}: {}", sorters.len(), quoted(sorters)),
            "",
        )
        .help("disable the others at `queueSort`"),
    }
}

pub(crate) fn queue_sort_differs(at: Span, first: Option<Span>) -> Diagnostic {
    let diagnostic =
        Diagnostic::at(at, "all profiles must have the same queue order", "differs from the first profile");
    let diagnostic = match first {
        Some(first) => diagnostic.secondary(first, "the first profile"),
        None => diagnostic,
    };
    diagnostic.note("they share one queue; `queueSort` must have the same plugins enabled and disabled in all of them")
}

pub(crate) fn no_bind(at: Span) -> Diagnostic {
    Diagnostic::at(at, "this profile has no bind plugin", "leaves no plugin to bind pods")
        .help("enable one, for example `DefaultBinder`")
}

// Arguments.

pub(crate) fn configured_twice(name: &Spanned<String>, first: Span) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` is configured twice in this profile", name.value), "configured again")
        .secondary(first, "first configured")
}

pub(crate) fn args_of_disabled_plugin(name: &Spanned<String>, running: &[&str]) -> Diagnostic {
    let title = format!("the arguments of `{}` have no effect: the profile does not run it", name.value);
    let diagnostic = Diagnostic::at(name.span, title, "not enabled");
    match closest(&name.value, running.iter().copied().take(MAX_CANDIDATES)) {
        Some(meant) if kube_scheduler::find(&name.value).is_none() => {
            diagnostic.help(format!("did you mean `{meant}`?"))
        }
        _ => diagnostic,
    }
}

pub(crate) fn no_arguments(name: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` takes no arguments: these have no effect", name.value), "no effect")
}

pub(crate) fn wrong_args_type(at: Span, key: &str, plugin: &str, expected: &str) -> Diagnostic {
    Diagnostic::at(
        at,
        format!("`{key}` of the arguments of `{plugin}` must be `{expected}`"),
        format!("expected `{expected}`"),
    )
    .help("it can be left out")
}

pub(crate) fn argument_not_in_schedc(key: &Spanned<String>, plugin: &str) -> Diagnostic {
    Diagnostic::at(
        key.span,
        format!("argument `{}` of `{plugin}` is left out: schedc has no equivalent", key.value),
        "",
    )
}

pub(crate) fn fraction(at: Span, value: f64) -> Diagnostic {
    Diagnostic::at(at, format!("{value} is left out: arguments in profiles have no numbers with fractions"), "left out")
}

pub(crate) fn no_candidates(percentage: Span, absolute: Span) -> Diagnostic {
    let title = "`minCandidateNodesPercentage` and `minCandidateNodesAbsolute` cannot both be 0";
    Diagnostic::at(absolute, title, "0").secondary(percentage, "0, too")
}

pub(crate) fn no_node_selector_terms(at: Span) -> Diagnostic {
    Diagnostic::at(at, "`nodeSelectorTerms` needs a term: without one no node matches", "no term")
}

pub(crate) fn empty_preference(at: Span, has_weight: bool) -> Diagnostic {
    let why = if has_weight { "it has no requirement" } else { "its weight is 0" };
    Diagnostic::at(at, format!("this preference is left out, because it has no effect: {why}"), "no effect")
}

pub(crate) fn no_strategy_type(at: Span) -> Diagnostic {
    Diagnostic::at(at, "`scoringStrategy` needs a `type`", "`type` is missing")
        .help("use `MostAllocated`, `RequestedToCapacityRatio`, or `LeastAllocated` (the default if `scoringStrategy` is missing)")
}

pub(crate) fn ratio_needs_shape(at: Span) -> Diagnostic {
    Diagnostic::at(
        at,
        "type `RequestedToCapacityRatio` needs `requestedToCapacityRatio`",
        "without it no score is known",
    )
    .help("give the points of the function as `requestedToCapacityRatio: {shape: [..]}`")
}

pub(crate) fn shape_without_ratio(at: Span) -> Diagnostic {
    Diagnostic::at(at, "`requestedToCapacityRatio` is for type `RequestedToCapacityRatio` only", "not for this type")
}

pub(crate) fn zero_resource_weight(at: Span, resource: &str) -> Diagnostic {
    Diagnostic::at(at, format!("weight 0 of resource `{resource}` means 1, as in kube-scheduler"), "means 1")
}

pub(crate) fn constraints_with_system_defaulting(at: Span, system: Span) -> Diagnostic {
    Diagnostic::at(at, "`defaultConstraints` need `defaultingType: List`", "not for `System`, the default")
        .secondary(system, "defaultingType belongs here")
}

pub(crate) fn constraint_with_selector(at: Span) -> Diagnostic {
    Diagnostic::at(at, "a default constraint must not have a `labelSelector`", "not allowed")
        .note("the selector is that of the pod's services and controllers")
}

pub(crate) fn constraint_twice(at: Span, first: Span) -> Diagnostic {
    Diagnostic::at(at, "two default constraints have the same `topologyKey` and `whenUnsatisfiable`", "again")
        .secondary(first, "first")
}

pub(crate) fn shape_without_gate(at: Span) -> Diagnostic {
    Diagnostic::at(at, "`shape` of VolumeBinding belongs to the alpha feature StorageCapacityScoring", "not available")
        .note("kube-scheduler refuses it, too, unless that feature gate is on")
        .help("remove it")
}

/// Returns `a`, `b` and `c`, each in backquotes.
fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => "none".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// Reports a bug of this crate: the configuration is valid.
#[cfg(feature = "write")]
pub(crate) fn different_pipeline(points: &[Point]) -> Diagnostic {
    let keys: Vec<&str> = points.iter().map(|point| kube_scheduler::key(*point)).collect();
    Diagnostic::new("the imported profile is not equivalent to the configuration; this is a bug of schedc")
        .note(format!("extension points that differ: {}", quoted(&keys)))
}
