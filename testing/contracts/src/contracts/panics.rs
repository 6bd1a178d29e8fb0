//! Panics of plugins, as part of a report.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// The last panic of this thread; `None` if panics of this thread are not caught.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a history. Converts a panic to an error with its location, and prints nothing: a history is run hundreds of
/// times while it is shortened.
pub(super) fn as_error(play: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |panic| {
            if !record(panic) {
                previous(panic);
            }
        }));
    });
    let outer = CAUGHT.replace(Some(String::new()));
    let result = catch_unwind(AssertUnwindSafe(play));
    let recorded = CAUGHT.replace(outer).unwrap_or_default();
    result.unwrap_or(Err(recorded))
}

/// Records a panic if panics of this thread are caught. Returns whether they are caught.
fn record(panic: &PanicHookInfo<'_>) -> bool {
    let text = panic.payload_as_str().unwrap_or_default();
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    CAUGHT
        .with_borrow_mut(|caught| caught.as_mut().map(|caught| *caught = format!("panic{place}:\n  {text}")))
        .is_some()
}
