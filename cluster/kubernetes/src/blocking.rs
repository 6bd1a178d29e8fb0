//! What blocks has a thread of its own, so that all else goes on.

use std::future::{Future, ready};
use std::thread::Builder;

use futures_util::future::Either;
use tokio::runtime;
use tokio::sync::oneshot;

/// Does some work on a thread of this name, which is not waited for when the program ends: a runtime's would be. It begins at
/// once, whether somebody waits for what comes of it or not.
///
/// # Errors
/// There is no thread for it, or it did not come to its end.
pub(crate) fn run<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, String>> + Send {
    let (tell, told) = oneshot::channel();
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        // Nobody may wait.
        let _ = tell.send(work());
    });
    match thread {
        Ok(_) => Either::Left(async move { told.await.map_err(|_| format!("the {name} did not come to its end")) }),
        Err(error) => Either::Right(ready(Err(format!("there is no thread for it: {error}")))),
    }
}

/// Waits for a scheduler that blocks at times: one that asks extenders does until they answer. Meanwhile leases are renewed, and
/// health is told.
///
/// # Errors
/// There is no thread or runtime for it, or it panicked.
pub async fn schedule<T: Send + 'static>(scheduler: impl Future<Output = T> + Send + 'static) -> Result<T, String> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("there is no runtime for it: {error}"))?;
    run("scheduler", move || runtime.block_on(scheduler)).await
}
