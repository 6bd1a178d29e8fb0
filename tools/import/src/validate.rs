//! Validation: configurations that kube-scheduler refuses (strict decoding,
//! `ValidateKubeSchedulerConfiguration` and `NewFramework`), and settings that it ignores.

use std::collections::{HashMap, HashSet};

use schedc_profile_rules::format::is_dns_subdomain;
use schedc_profile_rules::point::Point;
use schedc_profile_rules::source::{Span, Spanned};
use schedc_profile_rules::suggest::closest;

use crate::config::{Configuration, Plugin, PluginSet, Profile};
use crate::effective::Effective;
use crate::report::Report;
use crate::{kube_scheduler, messages};

/// The maximum number of seconds in a duration of kube-scheduler: 64 bits of nanoseconds.
const MAX_SECONDS: i64 = i64::MAX / 1_000_000_000;

/// Validates everything except the arguments of plugins.
pub(crate) fn configuration(config: &Configuration, effective: &[Effective], report: &mut Report) {
    settings(config, report);
    scheduler_names(&config.profiles, report);
    for (index, (profile, effective)) in config.profiles.iter().zip(effective).enumerate() {
        report.profile = Some(index);
        percentage(profile.percentage_of_nodes_to_score.as_ref(), report);
        plugins(profile, effective, report);
    }
    report.profile = None;
    queue_sort(&config.profiles, effective, report);
}

fn settings(config: &Configuration, report: &mut Report) {
    percentage(config.percentage_of_nodes_to_score.as_ref(), report);
    let (initial, max) = (&config.pod_initial_backoff_seconds, &config.pod_max_backoff_seconds);
    let errors_before = report.errors.len();
    for (key, seconds) in [("podInitialBackoffSeconds", initial), ("podMaxBackoffSeconds", max)] {
        if let Some(seconds) = seconds.as_ref().filter(|seconds| !(1..=MAX_SECONDS).contains(&seconds.value)) {
            report.error(messages::backoff_out_of_range(key, seconds, MAX_SECONDS));
        }
    }
    let value = |seconds: &Option<Spanned<i64>>, default| seconds.as_ref().map_or(default, |seconds| seconds.value);
    if report.errors.len() == errors_before && value(max, 10) < value(initial, 1) {
        let at = max.as_ref().or(initial.as_ref()).map(|seconds| seconds.span);
        report.errors.extend(at.map(|at| messages::backoff_shrinks(at, value(initial, 1), value(max, 10))));
    }
    if let Some(parallelism) = config.parallelism.as_ref().filter(|parallelism| parallelism.value <= 0) {
        report.error(messages::parallelism_too_small(parallelism));
    }
    for setting in &config.process_settings {
        report.note(messages::process_setting(setting));
    }
}

fn percentage(written: Option<&Spanned<i64>>, report: &mut Report) {
    if let Some(percentage) = written.filter(|percentage| !(0..=100).contains(&percentage.value)) {
        report.error(messages::percentage_out_of_range(percentage));
    }
}

fn scheduler_names(profiles: &[Profile], report: &mut Report) {
    let mut seen: Vec<&Spanned<String>> = Vec::new();
    for profile in profiles {
        match &profile.scheduler_name {
            None if profiles.len() > 1 => report.errors.extend(profile.at.map(messages::missing_scheduler_name)),
            None => {}
            Some(name) if name.value.is_empty() => report.error(messages::empty_scheduler_name(name.span)),
            Some(name) => {
                match seen.iter().find(|other| other.value == name.value) {
                    Some(first) => report.error(messages::scheduler_name_twice(name, first.span)),
                    None => seen.push(name),
                }
                if !is_dns_subdomain(&name.value) {
                    report.error(messages::bad_scheduler_name(name));
                }
            }
        }
    }
}

/// Returns whether a requested name is valid as the name of a profile.
pub(crate) fn requested_scheduler_name(name: &str, report: &mut Report) -> bool {
    let is_valid = is_dns_subdomain(name);
    if !is_valid {
        report.error(messages::bad_requested_scheduler_name(name));
    }
    is_valid
}

fn plugins(profile: &Profile, effective: &Effective, report: &mut Report) {
    for (point, set) in profile.sets() {
        let set_key = point.map_or("multiPoint", kube_scheduler::key);
        repeated_plugins(set, set_key, report);
        for plugin in &set.enabled {
            if can_be_enabled(plugin, set_key, report) && implements_point(plugin, point, report) {
                weight(plugin, point, set, effective, report);
            }
        }
        for plugin in &set.disabled {
            disabled(plugin, point, effective, report);
        }
    }
    for set in &profile.placement {
        report.warning(messages::placement_point(set));
    }
}

fn repeated_plugins(set: &PluginSet, set_key: &str, report: &mut Report) {
    let mut first: HashMap<&str, Span> = HashMap::new();
    for Plugin { name, .. } in &set.enabled {
        match first.get(name.value.as_str()) {
            Some(span) => report.error(messages::enabled_twice(name, *span, set_key)),
            None => drop(first.insert(&name.value, name.span)),
        }
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for Plugin { name, .. } in &set.disabled {
        if !seen.insert(&name.value) {
            report.warning(messages::disabled_twice(name, set_key));
        }
    }
}

/// Returns whether a plugin with this name can be enabled.
fn can_be_enabled(plugin: &Plugin, set_key: &str, report: &mut Report) -> bool {
    let name = plugin.name.value.as_str();
    if kube_scheduler::find(name).is_some() {
        return true;
    }
    if name == "*" {
        report.error(messages::star_enabled(plugin.name.span, set_key));
    } else if let Some(successor) = kube_scheduler::successor(name) {
        report.error(messages::removed_plugin(&plugin.name, successor));
    } else if kube_scheduler::ALPHA_PLUGINS.contains(&name) {
        report.warning(messages::alpha_plugin(&plugin.name));
    } else if let Some(meant) = closest(name, kube_scheduler::DEFAULT_PLUGINS.iter().map(|plugin| plugin.name)) {
        report.error(messages::unknown_plugin(&plugin.name, meant));
    } else {
        let warning = messages::out_of_tree_plugin(&plugin.name);
        // One remark is enough, regardless of the number of uses.
        if !report.has_remark(&warning.title) {
            report.warning(warning);
        }
        return true;
    }
    false
}

/// Returns whether a plugin implements the point at which it is enabled.
fn implements_point(plugin: &Plugin, point: Option<Point>, report: &mut Report) -> bool {
    let (Some(point), Some(known)) = (point, kube_scheduler::find(&plugin.name.value)) else { return true };
    let implements = known.points.contains(&point);
    if !implements {
        report.error(messages::not_implemented(&plugin.name, point, known.points));
    }
    implements
}

fn weight(plugin: &Plugin, point: Option<Point>, set: &PluginSet, effective: &Effective, report: &mut Report) {
    let known = kube_scheduler::find(&plugin.name.value);
    let scores = match point {
        Some(point) => point == Point::Score,
        None => known.is_none_or(|known| known.points.contains(&Point::Score)),
    };
    match &plugin.weight {
        // kube-scheduler writes weight 0 for each plugin without a weight.
        Some(weight) if !scores && weight.value == 0 => {}
        Some(weight) if !scores => {
            let can_score = known.is_some_and(|known| known.points.contains(&Point::Score));
            report.warning(messages::weight_without_effect(weight.span, &plugin.name.value, point, can_score));
        }
        Some(weight) if weight.value < 0 => report.error(messages::negative_weight(weight, &plugin.name.value)),
        Some(weight) if weight.value == 0 => report.warning(messages::zero_weight(weight.span, &plugin.name.value)),
        Some(_) => {}
        None if !scores => {}
        None => {
            let usual = match point {
                None => known
                    .filter(|known| !set.disables_all() && !set.disables(known.name))
                    .map(|known| known.default_weight),
                Some(_) => effective.weight_in_multi_point(&plugin.name.value),
            };
            if let Some(usual) = usual.filter(|usual| *usual > 1) {
                report.warning(messages::weight_falls_to_one(&plugin.name, usual, point));
            }
        }
    }
}

fn disabled(plugin: &Plugin, point: Option<Point>, effective: &Effective, report: &mut Report) {
    if let Some(weight) = plugin.weight.as_ref().filter(|weight| weight.value != 0) {
        report.warning(messages::weight_of_disabled(weight.span, &plugin.name.value));
    }
    let name = plugin.name.value.as_str();
    if name != "*" && !has_effect(name, point, effective) {
        let mut enabled_by_default = enabled_by_default(point, effective);
        if kube_scheduler::find(name).is_none() {
            enabled_by_default.extend(kube_scheduler::DEFAULT_PLUGINS.iter().map(|plugin| plugin.name.to_owned()));
        }
        report.warning(messages::disables_nothing(
            &plugin.name,
            point.map_or("multiPoint", kube_scheduler::key),
            &enabled_by_default,
        ));
    }
}

/// Returns whether disabling a plugin has an effect. In `multiPoint`, the plugin must be a default plugin. At a point,
/// the plugin must be in `multiPoint` and implement the point.
pub(crate) fn has_effect(name: &str, point: Option<Point>, effective: &Effective) -> bool {
    match point {
        None => kube_scheduler::find(name).is_some(),
        Some(point) => {
            effective.weight_in_multi_point(name).is_some()
                && kube_scheduler::find(name).is_none_or(|known| known.points.contains(&point))
        }
    }
}

fn enabled_by_default(point: Option<Point>, effective: &Effective) -> Vec<String> {
    match point {
        None => kube_scheduler::DEFAULT_PLUGINS.iter().map(|plugin| plugin.name.to_owned()).collect(),
        Some(_) => {
            let names = effective.multi_point.iter().map(|entry| entry.name.clone());
            names.filter(|name| has_effect(name, point, effective)).collect()
        }
    }
}

/// Checks that each profile has one queue-sort plugin, the same in all profiles, and a bind plugin.
fn queue_sort(profiles: &[Profile], effective: &[Effective], report: &mut Report) {
    for (index, (profile, effective)) in profiles.iter().zip(effective).enumerate() {
        report.profile = Some(index);
        // Out-of-tree plugins in `multiPoint` may also sort or bind, so the plugins of this profile are not counted.
        if effective.multi_point.iter().any(|entry| kube_scheduler::find(&entry.name).is_none()) {
            continue;
        }
        let at = |point: Point| profile.point(point).at.or(profile.multi_point.at).or(profile.at);
        let sorters: Vec<&str> = effective.point(Point::QueueSort).iter().map(|entry| entry.name.as_str()).collect();
        if sorters.len() != 1 {
            report.errors.extend(at(Point::QueueSort).map(|at| messages::queue_sorts(at, &sorters)));
        }
        if effective.point(Point::Bind).is_empty() {
            report.errors.extend(at(Point::Bind).map(messages::no_bind));
        }
    }
    report.profile = None;
    let Some((first, others)) = profiles.split_first() else { return };
    let names =
        |plugins: &[Plugin]| -> Vec<String> { plugins.iter().map(|plugin| plugin.name.value.clone()).collect() };
    let first_set = first.point(Point::QueueSort);
    for (profile, other_effective) in others.iter().zip(&effective[1..]) {
        let set = profile.point(Point::QueueSort);
        let same_set =
            names(&set.enabled) == names(&first_set.enabled) && names(&set.disabled) == names(&first_set.disabled);
        let same_plugins = other_effective.point(Point::QueueSort) == effective[0].point(Point::QueueSort);
        if !same_set || !same_plugins {
            let at = set.at.or(profile.multi_point.at).or(profile.at);
            let first = first_set.at.or(first.multi_point.at).or(first.at);
            report.errors.extend(at.map(|at| messages::queue_sort_differs(at, first)));
        }
    }
}
