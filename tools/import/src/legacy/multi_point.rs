//! The plugins of `v1beta3`, which has `multiPoint` like `v1`, but fewer default plugins.

use schedc_profile_rules::source::Spanned;

use super::successors::{self, Successor};
use super::{build, messages};
use crate::report::Report;
use crate::tree::{Node, Value};

/// Converts a profile of `v1beta3` to `v1`: newer default plugins are disabled, unless the profile names
/// them.
pub(super) fn convert_to_v1(profile: &mut Node, report: &mut Report) {
    const LATER_DEFAULTS: [&str; 2] = ["DynamicResources", "NodeDeclaredFeatures"];
    let at = profile.span;
    if build::field(profile, "plugins").is_none() {
        build::set(profile, "plugins", build::map(at, []));
    }
    let Some(plugins) = build::field_mut(profile, "plugins") else { return };
    let Value::Map(sets) = &mut plugins.value else { return };
    for (key, set) in sets.iter_mut() {
        replace_driver_limits(set, key.value == "multiPoint", report);
    }
    let named = |key: &str, name: &str| build::field(plugins, "multiPoint").is_some_and(|set| contains(set, key, name));
    if named("disabled", "*") {
        return;
    }
    let later: Vec<&str> =
        LATER_DEFAULTS.into_iter().filter(|name| !named("enabled", name) && !named("disabled", name)).collect();
    if build::field(plugins, "multiPoint").is_none() {
        build::set(plugins, "multiPoint", build::map(at, []));
    }
    let Some(set) = build::field_mut(plugins, "multiPoint") else { return };
    let mut disabled = build::items(set, "disabled").to_vec();
    disabled.extend(later.into_iter().map(|name| build::map(at, [("name", build::text(at, name))])));
    build::set(set, "disabled", build::list(at, disabled));
}

/// Converts plugins that limit the volumes of a single driver: NodeVolumeLimits replaces enabled ones, and disabled
/// ones are removed.
fn replace_driver_limits(set: &mut Node, has_defaults: bool, report: &mut Report) {
    const SUCCESSOR: &str = "NodeVolumeLimits";
    let by_default = has_defaults && !contains(set, "disabled", "*") && !contains(set, "disabled", SUCCESSOR);
    let mut runs = by_default || contains(set, "enabled", SUCCESSOR);
    for key in ["enabled", "disabled"] {
        let Some(Node { value: Value::List(plugins), .. }) = build::field_mut(set, key) else { continue };
        plugins.retain_mut(|plugin| {
            let Some(Node { span, value: Value::Str(name) }) = build::field_mut(plugin, "name") else { return true };
            if successors::of(name) != Some(Successor::Plugin(SUCCESSOR)) {
                return true;
            }
            let written = Spanned { value: name.clone(), span: *span };
            if key == "disabled" {
                report.note(messages::limit_disabled(&written, SUCCESSOR));
                return false;
            }
            report.note(messages::renamed(&written, SUCCESSOR));
            SUCCESSOR.clone_into(name);
            !std::mem::replace(&mut runs, true)
        });
    }
}

/// Returns whether a list of a plugin set contains a plugin.
fn contains(set: &Node, list: &str, plugin: &str) -> bool {
    build::items(set, list).iter().any(|entry| build::text_of(entry, "name").as_deref() == Some(plugin))
}
