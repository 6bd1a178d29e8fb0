//! Blocking work on separate threads, so the runtime stays responsive.

use std::future::{Future, ready};
use std::thread::Builder;

use futures_util::future::Either;
use tokio::runtime;
use tokio::sync::oneshot;

/// Runs work on a new thread with this name. The work starts at once, even if the result is never awaited. A program
/// that exits does not wait for the thread, in contrast to the blocking threads of a runtime.
///
/// # Errors
/// The thread could not be started, or the work panicked.
pub(crate) fn run<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, String>> + Send {
    let (sender, receiver) = oneshot::channel();
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        // The receiver may have been dropped.
        let _ = sender.send(work());
    });
    match thread {
        Ok(_) => Either::Left(async move { receiver.await.map_err(|_| format!("the {name} thread panicked")) }),
        Err(error) => Either::Right(ready(Err(format!("cannot start the {name} thread: {error}")))),
    }
}

/// Runs a scheduler on a separate thread, since it can block, for example during extender calls. Leases are renewed and
/// health is updated meanwhile.
///
/// # Errors
/// The thread or the runtime could not be started, or the scheduler panicked.
pub async fn run_scheduler<T: Send + 'static>(
    scheduler: impl Future<Output = T> + Send + 'static,
) -> Result<T, String> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start a runtime: {error}"))?;
    run("scheduler", move || runtime.block_on(scheduler)).await
}
