//! Plugins at extension points, and their weights.

use super::{did_you_mean, quoted};
use crate::catalog::PluginEntry;
use crate::diagnostic::Diagnostic;
use crate::point::Point;
use crate::source::{Span, Spanned};

/// Reports an unknown plugin. `fitting` are the valid plugins; `at` is the extension point, if any; `in_quotes`: the name
/// is a string, not a key.
pub(crate) fn unknown_plugin(
    name: &Spanned<String>,
    at: Option<Point>,
    in_quotes: bool,
    fitting: &[&str],
) -> Diagnostic {
    let title = format!("no plugin is called `{}`", name.value);
    let mut diagnostic = Diagnostic::at(name.span, title, "not in any catalog of this profile");
    if let Some(point) = at {
        diagnostic = diagnostic.note(if fitting.is_empty() {
            format!("no plugin runs at `{point}`")
        } else {
            format!("plugins of `{point}` are {}", quoted(fitting.iter().copied()))
        });
    }
    let diagnostic = did_you_mean(diagnostic, &name.value, fitting.iter().copied(), name.span, in_quotes);
    if diagnostic.help.is_some() {
        return diagnostic;
    }
    diagnostic.help("if another crate has it, name the crate: `crates = [\"my-plugins\"]`")
}

pub(crate) fn planned_plugin(name: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(
        name.span,
        format!("`{}` is a kube-scheduler plugin that schedc does not have yet", name.value),
        "not available",
    )
    .help("leave it out, or name a crate in `crates` that has a plugin like it")
}

/// Reports a plugin in a feature that is off.
pub(crate) fn plugin_off(at: Span, plugin: &str, package: &str, feature: &str) -> Diagnostic {
    Diagnostic::at(at, format!("`{plugin}` is left out of this build of {package}"), "not available")
        .help(format!("build with `--features {feature}`, or leave the plugin out of the profile"))
}

pub(crate) fn star_enabled(name: &Spanned<String>, set_key: &str) -> Diagnostic {
    Diagnostic::at(name.span, format!("`*` cannot be enabled at `{set_key}`"), "not a plugin")
        .note("`*` means all plugins, but only in `disabled`")
        .help("name the plugins that should run, in their order")
}

pub(crate) fn not_implemented(name: &Spanned<String>, entry: &PluginEntry, point: Point) -> Diagnostic {
    Diagnostic::at(
        name.span,
        format!("`{}` is not a {point} plugin", entry.name),
        format!("nothing to run at `{point}`"),
    )
    .note(points_of(entry))
}

fn points_of(entry: &PluginEntry) -> String {
    format!("{} runs at {}", entry.name, quoted(entry.points.iter().map(|point| point.name())))
}

pub(crate) fn enabled_twice(name: &Spanned<String>, first: Span, set_key: &str) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` is enabled twice at `{set_key}`", name.value), "enabled again")
        .secondary(first, "first enabled")
        .help("remove one of the two")
}

pub(crate) fn disabled_twice(name: &Spanned<String>, first: Span, set_key: &str) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` is disabled twice at `{set_key}`", name.value), "disabled again")
        .secondary(first, "first disabled")
        .help("remove one of the two")
}

/// Reports a disabled plugin that is unknown. `enabled` are the plugins that can be disabled there; `suggestions` also
/// contain those that schedc does not have yet.
pub(crate) fn disabled_unknown(
    name: &Spanned<String>,
    set_key: &str,
    enabled: &[&str],
    suggestions: &[&str],
) -> Diagnostic {
    let diagnostic = Diagnostic::at(
        name.span,
        format!("`{}` cannot be disabled at `{set_key}`: no plugin has this name", name.value),
        "disables nothing",
    );
    let with_suggestion = did_you_mean(diagnostic, &name.value, suggestions.iter().copied(), name.span, true);
    if with_suggestion.help.is_some() {
        with_suggestion
    } else {
        with_suggestion.note(enabled_by_default(set_key, enabled))
    }
}

fn enabled_by_default(set_key: &str, enabled: &[&str]) -> String {
    if enabled.is_empty() {
        format!("nothing is enabled at `{set_key}` by default")
    } else {
        format!("enabled there by default: {}", quoted(enabled.iter().copied()))
    }
}

pub(crate) fn disabled_without_effect(name: &Spanned<String>, set_key: &str, enabled: &[&str]) -> Diagnostic {
    Diagnostic::at(
        name.span,
        format!("`{}` is not enabled at `{set_key}` in the first place", name.value),
        "disables nothing",
    )
    .note(enabled_by_default(set_key, enabled))
    .help("remove it from `disabled`")
}

pub(crate) fn disabled_where_not_implemented(name: &Spanned<String>, entry: &PluginEntry, point: Point) -> Diagnostic {
    Diagnostic::at(
        name.span,
        format!("`{}` cannot be disabled at `{point}`: it never runs there", entry.name),
        "disables nothing",
    )
    .note(points_of(entry))
}

pub(crate) fn weight_too_small(weight: &Spanned<i128>, plugin: &str) -> Diagnostic {
    let title = format!("the weight of `{plugin}` must be at least 1, not {}", weight.value);
    let diagnostic = Diagnostic::at(weight.span, title, "must be at least 1");
    if weight.value == 0 {
        diagnostic.help(format!("to leave `{plugin}` out, disable it at `score`"))
    } else {
        diagnostic
    }
}

pub(crate) fn weight_not_at_score(weight: &Spanned<i128>, plugin: &str, point: Point, scores: bool) -> Diagnostic {
    let title = format!("`{plugin}` has no weight at `{point}`");
    let diagnostic = Diagnostic::at(weight.span, title, "no effect here");
    if scores {
        diagnostic.help(format!("give `{plugin}` its weight at `score` or `multi-point`"))
    } else {
        diagnostic.note("weights are for plugins at `score`").help("remove the weight")
    }
}

pub(crate) fn weight_without_score(weight: &Spanned<i128>, entry: &PluginEntry) -> Diagnostic {
    Diagnostic::at(weight.span, format!("`{}` has no weight: it does not score", entry.name), "no effect")
        .note(points_of(entry))
        .help("remove the weight")
}

/// Reports several queue-sort plugins. `sorters` are the queue-sort plugins, each with the location of its name, if
/// any.
pub(crate) fn several_queue_sorts(sorters: &[(String, Option<Span>)], start: Span) -> Diagnostic {
    let names = quoted(sorters.iter().map(|(name, _)| name.as_str()));
    let title = format!("a profile has exactly one queue-sort plugin, not {}: {names}", sorters.len());
    let mut locations = sorters.iter().rev().filter_map(|(name, span)| span.map(|span| (span, name)));
    let diagnostic = match locations.next() {
        None => Diagnostic::at(start, title, ""),
        Some((span, name)) => Diagnostic::at(span, title, format!("{name} sorts the queue")),
    };
    let diagnostic = locations.fold(diagnostic, |diagnostic, (span, name)| {
        diagnostic.secondary(span, format!("{name} sorts the queue, too"))
    });
    match sorters.iter().find(|(_, span)| span.is_none()) {
        None => diagnostic.help("keep one of them"),
        Some((name, _)) => diagnostic
            .note(format!("{name} is enabled by default"))
            .help("a plain list replaces the default: `queue-sort = [\"..\"]`"),
    }
}

pub(crate) fn no_queue_sort(at: Span) -> Diagnostic {
    Diagnostic::at(at, "this profile has no queue-sort plugin", "leaves the queue without an order")
        .help("enable one, for example `PrioritySort`")
}

pub(crate) fn no_bind(at: Span) -> Diagnostic {
    Diagnostic::at(at, "this profile has no bind plugin", "leaves no plugin to bind pods")
        .help("enable one, for example `DefaultBinder`")
}

pub(crate) fn reads_missing_plugin(entry: &PluginEntry, read: &str, at: Span) -> Diagnostic {
    Diagnostic::at(
        at,
        format!("`{}` reads the state of `{read}`, which this profile does not run", entry.name),
        format!("needs `{read}`"),
    )
    .help(format!("enable `{read}`, or leave `{}` out", entry.name))
}

pub(crate) fn reads_later_plugin(entry: &PluginEntry, read: &str, at: Span) -> Diagnostic {
    Diagnostic::at(
        at,
        format!("`{}` reads the state of `{read}`, which does not run before it at `pre-filter`", entry.name),
        format!("must come after `{read}`"),
    )
    .help(format!("name `{read}` before `{}`, at `multi-point` or at `pre-filter`", entry.name))
}
