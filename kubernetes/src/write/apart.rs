//! What blocks, apart from everything else.

use std::future::{Future, ready};
use std::thread::Builder;

use futures_util::future::Either;
use tokio::sync::oneshot;

/// Runs it on a thread of its own, which is not waited for when the program ends: a runtime's would be. It begins at once, whether
/// somebody waits for what comes of it or not.
///
/// # Errors
/// There is no thread for it, or it did not come to its end.
pub(super) fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, String>> + Send {
    let (tell, told) = oneshot::channel();
    let thread = Builder::new().name("extender".to_owned()).spawn(move || {
        // Nobody may wait.
        let _ = tell.send(work());
    });
    match thread {
        Ok(_) => Either::Left(async { told.await.map_err(|_| "it did not come to its end".to_owned()) }),
        Err(error) => Either::Right(ready(Err(format!("there is no thread for it: {error}")))),
    }
}
