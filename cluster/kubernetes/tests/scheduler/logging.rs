//! The log lines of a scheduler.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use schedc_fake_apiserver::Server;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::scheduler::cluster::{PATIENCE, node, pod};
use crate::scheduler::inspection::with_running_scheduler;

/// Collects messages about pods.
#[derive(Clone, Default)]
struct Messages(Arc<Mutex<Vec<String>>>);

#[derive(Default)]
struct Fields {
    message: String,
    pod: Option<String>,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "pod" => self.pod = Some(format!("{value:?}")),
            _ => {}
        }
    }
}

impl Subscriber for Messages {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target().starts_with("schedc")
    }
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        if let Some(pod) = fields.pod {
            self.0.lock().unwrap().push(format!("{pod}: {}", fields.message));
        }
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn an_attempt_is_logged_before_its_outcome() {
    let server = Server::start();
    server.create(node("n", 4));
    server.create(pod("a", 3));
    let messages = Messages::default();
    let _guard = tracing::subscriber::set_default(messages.clone());
    // With only one subscriber, the first thread that reaches a log statement decides whether tracing enables it. A
    // thread of another test has no subscriber, and would disable the statement.
    let _second = tracing::Dispatch::new(Messages::default());
    with_running_scheduler(&server, async |_| {
        let logged = async |count| {
            while messages.0.lock().unwrap().len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, logged(2)).await.unwrap();
        server.create(pod("b", 3));
        tokio::time::timeout(PATIENCE, logged(4)).await.unwrap();
    })
    .await;
    let expected = [
        "default/a: Attempting to schedule pod",
        "default/a: Successfully bound pod to node",
        "default/b: Attempting to schedule pod",
        "default/b: Unable to schedule pod; no fit; waiting",
    ];
    assert_eq!(messages.0.lock().unwrap()[..4], expected);
}
