//! Waiting for several at once.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Runs all side by side. The first failure ends all: what is not done by then is dropped.
///
/// # Errors
/// The first failure.
pub(crate) async fn try_join_all<'a, E>(
    running: Vec<Pin<Box<dyn Future<Output = Result<(), E>> + Send + 'a>>>,
) -> Result<(), E> {
    let mut running: Vec<_> = running.into_iter().map(Some).collect();
    poll_fn(move |context| {
        for slot in &mut running {
            if let Some(future) = slot
                && let Poll::Ready(result) = future.as_mut().poll(context)
            {
                result?;
                *slot = None;
            }
        }
        if running.iter().all(Option::is_none) { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}
