//! A thread for a scheduler that is blocked at times: one that asks extenders is until they answer.

use std::future::Future;
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// Lets something run on a thread and a runtime of its own, and waits for it. Leases are renewed meanwhile, and health is told.
///
/// # Errors
/// There is no thread for it, or it panicked.
pub async fn apart<T: Send + 'static>(run: impl Future<Output = T> + Send + 'static) -> Result<T, String> {
    let cannot = |error| format!("cannot start: {error}");
    let runtime = Builder::new_current_thread().enable_all().build().map_err(cannot)?;
    let (tell, told) = oneshot::channel();
    let thread = thread::Builder::new().name("scheduler".to_owned()).spawn(move || tell.send(runtime.block_on(run)));
    thread.map_err(cannot)?;
    told.await.map_err(|_| "the scheduler came to an end that it did not tell of".to_owned())
}
