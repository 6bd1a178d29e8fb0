//! Profiles that are compiled into one scheduler.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Reports two profiles with one scheduler name. The locations are those of the names, or the starts of profiles with
/// the default name.
pub(crate) fn same_scheduler_name(name: &str, second: (Span, &str), first: (Span, &str)) -> Diagnostic {
    Diagnostic::at(second.0, format!("{} and {} have the same scheduler-name `{name}`", first.1, second.1), "same name")
        .secondary(first.0, "first used here")
        .note(format!("a pod that requests `{name}` must get exactly one profile"))
        .help(format!("give {} another scheduler-name", second.1))
}

pub(crate) fn same_module(module: &str, second: (Span, &str), first: (Span, &str)) -> Diagnostic {
    Diagnostic::at(
        second.0,
        format!("{} and {} would both become the Rust module `{module}`", first.1, second.1),
        "same module",
    )
    .secondary(first.0, "first")
    .help("rename one of the two files")
}

/// A backoff setting of a profile: its location, the profile's path, the value, and whether it is the default.
pub(crate) type ProfileBackoff<'a> = (Span, &'a str, u64, bool);

/// Reports two profiles with different queue orders, each as its location, path and queue-sort plugin.
pub(crate) fn different_queue_sorts(
    second: (Span, &str, &str),
    first: (Span, &str, &str),
    same_plugin: bool,
) -> Diagnostic {
    let title = if same_plugin {
        format!("{} and {} sort the queue by different arguments of {}", first.1, second.1, first.2)
    } else {
        format!("{} and {} sort the queue differently: {} and {}", first.1, second.1, first.2, second.2)
    };
    Diagnostic::at(second.0, title, format!("sorts by {}", second.2))
        .secondary(first.0, format!("sorts by {}", first.2))
        .note("profiles of one scheduler share one queue")
        .help("use one queue-sort plugin with the same arguments in both, or build two schedulers")
}

pub(crate) fn different_backoffs(key: &str, second: ProfileBackoff<'_>, first: ProfileBackoff<'_>) -> Diagnostic {
    Diagnostic::at(
        second.0,
        format!("{} and {} differ in {key}: {} and {}", first.1, second.1, first.2, second.2),
        in_seconds(second),
    )
    .secondary(first.0, in_seconds(first))
    .note("profiles of one scheduler share one queue")
}

fn in_seconds((_, _, seconds, by_default): ProfileBackoff<'_>) -> String {
    if by_default { format!("{seconds} s by default") } else { format!("{seconds} s") }
}
