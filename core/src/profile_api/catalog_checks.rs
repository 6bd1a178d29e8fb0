//! Comparison of a plugin with its catalog entry, for generated code.
//!
//! A trait bound checks that a plugin implements the points in its entry. Constants check that it implements no other
//! points: for each point there is a probe type, whose constant `IMPLEMENTED` comes from a trait and is false. For
//! plugins that implement the point, an inherent constant of the same name has precedence and is true.

use std::marker::PhantomData;

use crate::plugin_api::args::{Errors, Node, Part, Value};
use crate::plugin_api::column::IndexSet;
use crate::plugin_api::events::EventResource;
use crate::plugin_api::plugin::Plugin;

/// The traits of all extension points.
mod points {
    pub(super) use crate::plugin_api::extension_points::*;
    pub(super) use crate::profile_api::post_filter::PostFilterPlugin;
}

/// The default constant of all probes.
pub trait NotImplemented {
    /// Whether the plugin implements the trait.
    const IMPLEMENTED: bool = false;
}

macro_rules! probes {
    ($($bound:ident $probe:ident $plugin_trait:ident;)*) => {
        $(
            #[doc = concat!("Probe for plugins that implement `", stringify!($plugin_trait), "`.")]
            pub struct $probe<P>(PhantomData<P>);
            impl<P> NotImplemented for $probe<P> {}
            impl<P: points::$plugin_trait> $probe<P> {
                /// The plugin implements the trait.
                pub const IMPLEMENTED: bool = true;
            }
            #[doc = concat!("Compiles only for plugins that implement `", stringify!($plugin_trait), "`.")]
            pub const fn $bound<P: points::$plugin_trait>() {}
        )*
    };
}

probes! {
    pre_enqueue PreEnqueue PreEnqueuePlugin;
    queue_sort QueueSort QueueSortPlugin;
    pre_filter PreFilter PreFilterPlugin;
    filter Filter FilterPlugin;
    post_filter PostFilter PostFilterPlugin;
    pre_score PreScore PreScorePlugin;
    score Score ScorePlugin;
    reserve Reserve ReservePlugin;
    permit Permit PermitPlugin;
    pre_bind PreBind PreBindPlugin;
    bind Bind BindPlugin;
    post_bind PostBind PostBindPlugin;
    normalizes Normalizes NormalizeScore;
    prepares_score PreparesScore PrepareScore;
    enqueue_extensions Enqueues EnqueueExtensions;
}

/// All points that a catalog entry can list, each with whether the plugin implements it.
#[macro_export]
#[doc(hidden)]
macro_rules! implemented {
    ($plugin:ty) => {{
        #[allow(unused_imports, reason = "unused for a plugin that implements all traits")]
        use $crate::catalog_checks::NotImplemented as _;
        &[
            ("pre-enqueue", $crate::catalog_checks::PreEnqueue::<$plugin>::IMPLEMENTED),
            ("queue-sort", $crate::catalog_checks::QueueSort::<$plugin>::IMPLEMENTED),
            ("pre-filter", $crate::catalog_checks::PreFilter::<$plugin>::IMPLEMENTED),
            ("filter", $crate::catalog_checks::Filter::<$plugin>::IMPLEMENTED),
            ("post-filter", $crate::catalog_checks::PostFilter::<$plugin>::IMPLEMENTED),
            ("pre-score", $crate::catalog_checks::PreScore::<$plugin>::IMPLEMENTED),
            ("score", $crate::catalog_checks::Score::<$plugin>::IMPLEMENTED),
            ("reserve", $crate::catalog_checks::Reserve::<$plugin>::IMPLEMENTED),
            ("permit", $crate::catalog_checks::Permit::<$plugin>::IMPLEMENTED),
            ("pre-bind", $crate::catalog_checks::PreBind::<$plugin>::IMPLEMENTED),
            ("bind", $crate::catalog_checks::Bind::<$plugin>::IMPLEMENTED),
            ("post-bind", $crate::catalog_checks::PostBind::<$plugin>::IMPLEMENTED),
            ("normalizes", $crate::catalog_checks::Normalizes::<$plugin>::IMPLEMENTED),
            ("prepares-score", $crate::catalog_checks::PreparesScore::<$plugin>::IMPLEMENTED),
            ("enqueue-extensions", $crate::catalog_checks::Enqueues::<$plugin>::IMPLEMENTED),
        ]
    }};
}

/// Checks that the plugin's associated types are those in its entry.
pub const fn check_declared_types<P, C, I, R>()
where
    P: Plugin<Columns = C, Indexes = I, Reads = R>,
{
}

/// Checks that the entry lists, under `watches`, all declared kinds that the plugin's indexes read.
///
/// # Panics
/// The check fails. In a constant, this is a compile error.
#[track_caller]
pub const fn check_index_kinds<P: Plugin>(entry: &Node, name: &str, watches: &[&str]) {
    let mut errors = Errors::new();
    let indexes = <P::Indexes as IndexSet>::CUSTOM;
    let mut index = 0;
    while index < indexes.len() {
        let mut at = 0;
        while at < indexes[index].len() {
            check_watched(&mut errors, entry, [name, " reads an index of "], indexes[index][at], watches);
            at += 1;
        }
        index += 1;
    }
    errors.finish();
}

/// Checks that the entry lists, under `watches`, all declared kinds of the events that the plugin registers for.
///
/// # Panics
/// The check fails. In a constant, this is a compile error.
#[track_caller]
pub const fn check_event_kinds<P: points::EnqueueExtensions>(entry: &Node, name: &str, watches: &[&str]) {
    let mut errors = Errors::new();
    let mut at = 0;
    while at < P::EVENTS.len() {
        if let EventResource::Custom(resource) = P::EVENTS[at].event.resource {
            check_watched(&mut errors, entry, [name, " waits for events of "], resource, watches);
        }
        at += 1;
    }
    errors.finish();
}

const fn check_watched(errors: &mut Errors, entry: &Node, [name, does]: [&str; 2], resource: &str, watches: &[&str]) {
    if !contains(watches, resource) {
        let parts = [
            Part::Name(name),
            Part::Text(does),
            Part::Name(resource),
            Part::Text(", which is not among the kinds that its catalog entry watches"),
        ];
        errors.report(entry, &parts);
    }
}

/// Makes the location of a catalog entry.
pub const fn entry_at(file: &'static str, line: u32, column: u32) -> Node {
    Node { file, line, column, value: Value::Bool(true) }
}

/// Checks that the plugin has the name of its entry, and implements only the points in it.
///
/// # Panics
/// The check fails. In a constant, this is a compile error.
#[track_caller]
pub const fn check_plugin(entry: &Node, name: &str, listed: &[&str], actual: &str, implemented: &[(&str, bool)]) {
    let mut errors = Errors::new();
    if !same(name, actual) {
        let parts = [Part::Text("the plugin's name is "), Part::Name(actual), Part::Text(", not "), Part::Name(name)];
        errors.report(entry, &parts);
    }
    let mut at = 0;
    while at < implemented.len() {
        let (point, is_implemented) = implemented[at];
        if is_implemented && !contains(listed, point) {
            let parts = [
                Part::Name(name),
                Part::Text(" implements "),
                Part::Name(point),
                Part::Text(", which its catalog entry does not list"),
            ];
            errors.report(entry, &parts);
        }
        at += 1;
    }
    errors.finish();
}

const fn contains(list: &[&str], text: &str) -> bool {
    let mut at = 0;
    while at < list.len() {
        if same(list[at], text) {
            return true;
        }
        at += 1;
    }
    false
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
