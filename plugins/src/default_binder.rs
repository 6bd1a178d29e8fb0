//! DefaultBinder
//!
//! **What it does.** Binds a pod to its node through the API server.
//!
//! **Extension points.** Bind.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/defaultbinder` (kube-scheduler 1.36.2).
//!
//! **Differences.** None. The binding contains the pod's uid, as in kube-scheduler.

use schedc_core::args::NoArgs;
use schedc_core::client::Client;
use schedc_core::extension_points::{BindPlugin, BindResult, Placement};
use schedc_core::status::Status;
use schedc_core::{Plugin, plugin};

/// Binds pods with the client of the scheduler.
#[derive(Debug, Default)]
pub struct DefaultBinder;

#[plugin]
impl Plugin for DefaultBinder {}

impl BindPlugin for DefaultBinder {
    async fn bind<C: Client>(&self, _: &NoArgs, client: &C, placement: &Placement) -> Result<BindResult, Status> {
        client.bind(placement).await.map(|()| BindResult::Done).map_err(Status::error)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future, ready};
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use schedc_core::client::{ApiError, ApiReason};
    use schedc_core::intern::Interner;
    use schedc_core::model::NodeIndex;
    use schedc_objects::testing::pod;

    use super::*;

    /// A client that responds immediately with `answer`.
    #[derive(Clone)]
    struct FakeClient {
        answer: Result<(), ApiError>,
        bound: Arc<Mutex<Vec<(String, String)>>>,
    }

    impl Client for FakeClient {
        fn bind(&self, placement: &Placement) -> impl Future<Output = Result<(), ApiError>> + Send {
            let bound = (placement.pod.name.to_string(), placement.node_name.to_string());
            self.bound.lock().unwrap().push(bound);
            ready(self.answer.clone())
        }
        async fn sleep(&self, _: Duration) {}
    }

    fn bind(answer: Result<(), ApiError>) -> (Result<BindResult, Status>, Vec<(String, String)>) {
        let pod = Arc::new(pod("metadata: {name: web}", &mut Interner::default()));
        let placement = Placement { pod, node: NodeIndex(0), node_name: "n1".into() };
        let client = FakeClient { answer, bound: Arc::default() };
        let poll = {
            let mut binding = Box::pin(DefaultBinder.bind(&NoArgs, &client, &placement));
            binding.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        };
        let Poll::Ready(result) = poll else { panic!("the client answers at once") };
        let bound = client.bound.lock().unwrap().clone();
        (result, bound)
    }

    #[test]
    fn api_server_errors_become_statuses() {
        let sent = vec![("web".to_owned(), "n1".to_owned())];
        assert_eq!(bind(Ok(())), (Ok(BindResult::Done), sent.clone()));
        let refused = "pod web is already assigned to node \"n2\"";
        assert_eq!(bind(Err(ApiError::new(ApiReason::Conflict, refused))), (Err(Status::error(refused)), sent));
    }
}
