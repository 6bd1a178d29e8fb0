//! At least one plugin binds (kube-scheduler's `NewFramework`).

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if cx.plan.points[Point::Bind].is_empty() && !cx.has_earlier_error(Point::Bind) {
        diagnostics.push(messages::no_bind(cx.location_of(Point::Bind)));
    }
}
