//! The in-memory cluster: bindings happen at once.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use crate::client::{ApiError, Client};
use crate::extension_points::Placement;
use crate::scheduler::RunBinding;

/// A cluster that is in memory only: whatever is bound is bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded;

impl Client for Embedded {
    async fn bind(&self, _: &Placement) -> Result<(), ApiError> {
        Ok(())
    }
    async fn sleep(&self, _: Duration) {}
}

impl RunBinding for Embedded {
    /// Runs the binding on this thread.
    fn run<F: Future>(&self, future: F) -> F::Output {
        struct Unpark(Thread);
        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let mut future = pin!(future);
        // Bindings of the embedded cluster are ready at once; only a plugin's PreBind may have to wait.
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        let waker = Arc::new(Unpark(std::thread::current())).into();
        let mut context = Context::from_waker(&waker);
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return output,
                Poll::Pending => std::thread::park(),
            }
        }
    }
}
