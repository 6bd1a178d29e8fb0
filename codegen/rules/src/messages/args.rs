//! Arguments of plugins.

use super::{alternatives, did_you_mean, quoted};
use crate::diagnostic::Diagnostic;
use crate::schema::{FieldSchema, Format};
use crate::source::{Span, Spanned};

pub fn args_of_disabled_plugin(plugin: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(
        plugin.span,
        format!("arguments for `{}`, which this profile does not enable", plugin.value),
        "no effect",
    )
    .help(format!("enable `{}`, or remove its arguments", plugin.value))
}

pub fn no_arguments(plugin: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(plugin.span, format!("`{}` takes no arguments", plugin.value), "no effect").help("remove the table")
}

/// Reports an unknown argument. `owner` is the plugin, or the table among its arguments.
pub fn unknown_argument(key: &Spanned<String>, owner: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::at(key.span, format!("{owner} has no argument `{}`", key.value), "unknown argument")
        .note(format!("known here: {}", quoted(known.iter().copied())));
    did_you_mean(diagnostic, &key.value, known.iter().copied(), key.span, false)
}

pub fn missing_argument(at: Span, owner: &str, name: &str, doc: &str) -> Diagnostic {
    let diagnostic = Diagnostic::at(at, format!("{owner} needs `{name}`"), format!("`{name}` is missing"));
    if doc.is_empty() { diagnostic } else { diagnostic.note(format!("`{name}`: {doc}")) }
}

/// Reports a plugin without arguments, although some are required.
pub fn missing_arguments(at: Span, plugin: &str, required: &[&FieldSchema]) -> Diagnostic {
    let names = quoted(required.iter().map(|field| field.name.as_str()));
    let mut diagnostic = Diagnostic::at(at, format!("`{plugin}` needs {names}"), "has no arguments in this profile");
    for FieldSchema { name, doc, .. } in required.iter().filter(|field| !field.doc.is_empty()) {
        diagnostic = diagnostic.note(format!("`{name}`: {doc}"));
    }
    diagnostic.help(format!("add a table `[args.{plugin}]` with {names}"))
}

/// Reports an argument of the wrong kind. `subject` is the argument with its path, `expected` and `kind` are kinds of
/// values.
pub fn argument_kind(at: Span, subject: &str, expected: &str, kind: &str) -> Diagnostic {
    Diagnostic::at(at, format!("{subject} must be {expected}, not {kind}"), format!("expected {expected}"))
}

pub fn not_a_constant(at: Span, subject: &str, kind: &str) -> Diagnostic {
    Diagnostic::at(at, format!("{subject} cannot be {kind}"), "cannot be passed to a plugin")
        .note("arguments are made of booleans, integers of 64 bits, strings, lists and tables")
}

pub fn argument_out_of_range(at: Span, subject: &str, value: i128, min: Option<i64>, max: Option<i64>) -> Diagnostic {
    let range = match (min, max) {
        (Some(min), Some(max)) if min == max => format!("{min}"),
        (Some(min), Some(max)) => format!("in {min}..={max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "an integer of 64 bits".to_owned(),
    };
    Diagnostic::at(at, format!("{subject} must be {range}, not {value}"), "out of range")
}

pub fn argument_not_one_of(value: &Spanned<String>, subject: &str, known: &[&str]) -> Diagnostic {
    let title = format!("{subject} cannot be `{}`", value.value);
    let label = format!("expected {}", alternatives(known.iter().copied()));
    did_you_mean(Diagnostic::at(value.span, title, label), &value.value, known.iter().copied(), value.span, true)
}

pub fn argument_format(value: &Spanned<String>, subject: &str, format: Format) -> Diagnostic {
    let (label, note) = match format {
        Format::Any => ("", ""),
        Format::NonEmpty => ("expected some text", ""),
        Format::Duration => ("not a duration", "numbers, each with its unit, like `10s`, `1m30s` or `500ms`"),
        Format::QualifiedName => (
            "not a qualified name",
            "`name` or `prefix/name`: the prefix a DNS subdomain, the name at most 63 letters, digits, `-`, `_`, `.`, \
             with a letter or digit at both ends",
        ),
        Format::NamePrefix => {
            ("not a name without `/`", "at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends")
        }
        Format::LabelValue => (
            "not a label value",
            "empty, or at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends",
        ),
    };
    let title = if value.value.is_empty() {
        format!("{subject} must not be empty")
    } else {
        format!("{subject} cannot be `{}`", value.value)
    };
    let diagnostic = Diagnostic::at(value.span, title, label);
    if note.is_empty() { diagnostic } else { diagnostic.note(note) }
}

pub fn list_too_short(at: Span, subject: &str, min: usize, len: usize) -> Diagnostic {
    Diagnostic::at(at, format!("{subject} needs {}, and has {len}", elements(min, "at least")), "too short")
}

pub fn list_too_long(at: Span, subject: &str, max: usize, len: usize) -> Diagnostic {
    Diagnostic::at(at, format!("{subject} takes {}, and has {len}", elements(max, "at most")), "too long")
}

fn elements(count: usize, bound: &str) -> String {
    if count == 1 { format!("{bound} 1 element") } else { format!("{bound} {count} elements") }
}

pub fn element_repeated(second: Span, first: Span, subject: &str, value: &str) -> Diagnostic {
    Diagnostic::at(second, format!("{subject} has {value} twice"), "again").secondary(first, "first")
}

pub fn not_increasing(at: Span, before: Span, subject: &str, value: i128, previous: i128) -> Diagnostic {
    Diagnostic::at(
        at,
        format!("{subject} must increase, but {value} follows {previous}"),
        "not more than the one before",
    )
    .secondary(before, "the one before")
}

// NodeResourcesFit

pub fn ratio_needs_shape(at: Span) -> Diagnostic {
    Diagnostic::at(
        at,
        "scoring strategy `RequestedToCapacityRatio` needs `requested-to-capacity-ratio.shape`",
        "without a shape",
    )
    .help("add `requested-to-capacity-ratio = { shape = [{ utilization = 0, score = 0 }, { utilization = 100, score = 10 }] }`")
}

pub fn shape_without_ratio(at: Span, strategy: Option<&Spanned<String>>) -> Diagnostic {
    let title = "`requested-to-capacity-ratio` is for scoring strategy `RequestedToCapacityRatio` only";
    let help = "set `type = \"RequestedToCapacityRatio\"`, or remove the table";
    let diagnostic = Diagnostic::at(at, title, "has no effect").help(help);
    match strategy {
        None => diagnostic.note("the strategy is `LeastAllocated` by default"),
        Some(strategy) => diagnostic.secondary(strategy.span, "the strategy"),
    }
}

// PodTopologySpread

pub fn constraints_without_list(at: Span, kind: Option<&Spanned<String>>) -> Diagnostic {
    let title = "`default-constraints` is for defaulting type `List` only";
    let help = "set `defaulting-type = \"List\"`, or remove the constraints";
    let diagnostic = Diagnostic::at(at, title, "has no effect").help(help);
    match kind {
        None => diagnostic.note("the defaulting type is `System` by default"),
        Some(kind) => diagnostic.secondary(kind.span, "the defaulting type"),
    }
}

pub fn constraint_repeated(second: Span, first: Span, key: &str, action: &str) -> Diagnostic {
    Diagnostic::at(second, format!("`default-constraints` has two constraints for `{key}` with `{action}`"), "again")
        .secondary(first, "first")
}

// NodeResourcesBalancedAllocation

pub fn balanced_weight(at: Span, resource: &str, weight: i128) -> Diagnostic {
    Diagnostic::at(
        at,
        format!("the weight of `{resource}` in NodeResourcesBalancedAllocation must be 1, not {weight}"),
        "must be 1",
    )
    .note("all resources have the same weight")
    .help("remove the weight")
}

// DefaultPreemption

pub fn no_candidate_nodes(percentage: Span, absolute: Span) -> Diagnostic {
    let title = "`min-candidate-nodes-percentage` and `min-candidate-nodes-absolute` must not both be 0";
    Diagnostic::at(absolute, title, "no node would be evaluated").secondary(percentage, "this is 0, too")
}

// DynamicResources

pub fn short_binding_timeout(timeout: &Spanned<String>) -> Diagnostic {
    let title = format!("`binding-timeout` of DynamicResources must be at least 1s, not {}", timeout.value);
    Diagnostic::at(timeout.span, title, "too short")
}

// VolumeBinding

pub fn shape_needs_feature_gate(at: Span) -> Diagnostic {
    Diagnostic::at(at, "`shape` of VolumeBinding needs the feature gate StorageCapacityScoring, which is off", "")
        .help("remove `shape`")
}

// NodeAffinity

pub fn empty_added_affinity(at: Span) -> Diagnostic {
    Diagnostic::at(at, "`added-affinity` adds nothing", "needs `required` or `preferred`")
}

pub fn operator_needs_values(at: Span, operator: &str) -> Diagnostic {
    Diagnostic::at(at, format!("operator `{operator}` needs at least one value"), "`values` is missing or empty")
}

pub fn operator_forbids_values(at: Span, operator: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(at, format!("operator `{}` takes no values", operator.value), "no effect")
        .secondary(operator.span, "reads only the key")
        .help("remove `values`")
}

pub fn operator_needs_one_integer(at: Span, operator: &str) -> Diagnostic {
    Diagnostic::at(
        at,
        format!("operator `{operator}` needs exactly one value, an integer"),
        "expected one string that holds an integer: `[\"4\"]`",
    )
}

pub fn unknown_node_field(key: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(key.span, format!("nodes cannot be selected by field `{}`", key.value), "not a field to select by")
        .suggest("`metadata.name` is the only one", key.span, "\"metadata.name\"")
}

pub fn field_operator(operator: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(
        operator.span,
        format!("operator `{}` is not for fields", operator.value),
        "expected `In` or `NotIn`",
    )
}

pub fn field_needs_one_value(at: Span, operator: &str) -> Diagnostic {
    Diagnostic::at(at, format!("operator `{operator}` on a field needs exactly one value"), "expected one node name")
}
