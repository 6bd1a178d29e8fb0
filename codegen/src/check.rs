//! The rules for profiles, one in each module: [`RULES`] for each profile, [`cross_profile`] for all profiles of a scheduler.
//!
//! Rules read the profile as written and as planned, and report all errors. A rule reports nothing if an
//! error of another rule makes its own result uncertain.

mod args;
mod bind;
pub(crate) mod cross_profile;
mod disabled;
mod duplicates;
mod extenders;
mod plugin_names;
mod points;
mod queue_sort;
mod reads;
mod settings;
mod weights;

use crate::catalog::Catalogs;
use crate::diagnostic::Diagnostic;
use crate::parse::{MULTI_POINT, RawProfile, RawSet};
use crate::plan::{Plan, Point};
use crate::source::Span;

/// Input of a rule.
pub(crate) struct Context<'a> {
    /// The profile as written.
    pub(crate) raw: &'a RawProfile,
    /// The profile as planned.
    pub(crate) plan: &'a Plan,
    /// The plugins that the profile can refer to.
    pub(crate) catalogs: &'a Catalogs,
    /// Whether all catalogs that the profile names were read without errors.
    pub(crate) catalogs_complete: bool,
}

type Rule = fn(&Context<'_>, &mut Vec<Diagnostic>);

const RULES: [Rule; 11] = [
    settings::check,
    plugin_names::check,
    points::check,
    duplicates::check,
    disabled::check,
    weights::check,
    queue_sort::check,
    bind::check,
    reads::check,
    args::check,
    extenders::check,
];

/// Checks one profile against all rules.
pub(crate) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for rule in RULES {
        rule(cx, diagnostics);
    }
}

impl<'a> Context<'a> {
    /// Returns the names of the plugins that are valid at a point (`None`: at `multi-point`).
    fn fitting(&self, point: Option<Point>) -> Vec<&'a str> {
        self.catalogs
            .plugins()
            .filter(|entry| point.is_none_or(|point| entry.implements(point)))
            .map(|entry| entry.name.as_str())
            .collect()
    }

    /// Returns whether a missing plugin at a point may be the effect of an error that is reported anyway.
    fn has_earlier_error(&self, point: Point) -> bool {
        let is_uncertain = |set: &RawSet, point: Option<Point>| {
            set.incomplete
                || set.enabled.iter().any(|plugin| {
                    let entry = self.catalogs.plugin(&plugin.name.value);
                    entry.is_none_or(|entry| point.is_some_and(|point| !entry.implements(point)))
                })
        };
        !self.catalogs_complete
            || is_uncertain(&self.raw.multi_point, None)
            || self.raw.point(point).is_some_and(|set| is_uncertain(set, Some(point)))
    }

    /// Returns the start of the profile: the location for missing parts.
    fn start(&self) -> Span {
        Span { file: self.raw.file, start: 0, end: 0 }
    }

    /// Returns the location that determines the plugins of a point: the point's set, otherwise `multi-point`,
    /// otherwise the profile's start.
    fn location_of(&self, point: Point) -> Span {
        let set = self.raw.point(point).unwrap_or(&self.raw.multi_point);
        set.at.unwrap_or(self.start())
    }
}

/// Returns the key in `[plugins]`.
fn key(point: Option<Point>) -> &'static str {
    point.map_or(MULTI_POINT, Point::name)
}
