use std::sync::Mutex;

use expect_test::{Expect, expect};
use http_body_util::BodyExt;
use hyper::Request;
use hyper::http::request::Builder;

use super::*;

#[derive(Default)]
struct RecordedChecks(Mutex<Vec<String>>);

impl Endpoints for RecordedChecks {
    fn metrics(&self) -> BoxFuture<'_, String> {
        Box::pin(async { "metrics\n".to_owned() })
    }
    fn resources(&self) -> BoxFuture<'_, String> {
        Box::pin(async { "resources\n".to_owned() })
    }
    fn slis(&self) -> BoxFuture<'_, String> {
        Box::pin(async { "slis\n".to_owned() })
    }
    fn checked(&self, check: &'static str, path: &'static str, passed: bool) {
        self.0.lock().unwrap().push(format!("{path}/{check} {passed}"));
    }
}

fn head(request: Builder) -> Head {
    request.body(()).unwrap().into_parts().0
}

fn pages() -> Pages {
    let flags = [("secure-port", "10259"), ("v", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let configz = json!({"componentconfig": {"kind": "KubeSchedulerConfiguration"}});
    Pages::new(configz.to_string(), json!([{"name": "edge"}]).to_string(), flags.into(), SystemTime::now())
}

async fn ask(health: &Health, target: &str) -> (u16, String) {
    let answer = pages().answer(&head(Request::get(target)), health, &RecordedChecks::default()).await;
    let code = answer.status().as_u16();
    (code, String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().into()).unwrap())
}

async fn check(health: &Health, target: &str, expected: Expect) {
    let (code, text) = ask(health, target).await;
    expected.assert_eq(&format!("{code}\n{text}"));
}

fn health() -> Health {
    Health::new(Some(std::time::Duration::from_secs(15)))
}

#[tokio::test]
async fn checks_have_the_text_of_kube_scheduler() {
    let health = health();
    check(&health, "/livez", expect!["200\nok"]).await;
    check(&health, "/livez/ping", expect!["200\nok"]).await;
    check(
        &health,
        "/livez?verbose",
        expect![[r#"
            200
            [+]ping ok
            livez check passed
        "#]],
    )
    .await;
    check(
        &health,
        "/readyz",
        expect![[r#"
            500
            [+]leaderElection ok
            [+]shutdown ok
            [-]sched-handler-sync failed: reason withheld
            readyz check failed
        "#]],
    )
    .await;
    check(
        &health,
        "/readyz/sched-handler-sync",
        expect![[r#"
            500
            internal server error: the informers have not synced yet
        "#]],
    )
    .await;
    check(
        &health,
        "/readyz?verbose&exclude=sched-handler-sync&exclude=other",
        expect![[r#"
            200
            [+]leaderElection ok
            [+]shutdown ok
            [+]sched-handler-sync excluded: ok
            warn: some health checks cannot be excluded: no matches for "other"
            readyz check passed
        "#]],
    )
    .await;
    health.set_synced(true);
    check(&health, "/readyz", expect!["200\nok"]).await;
    check(
        &health,
        "/healthz?verbose",
        expect![[r#"
            200
            [+]leaderElection ok
            healthz check passed
        "#]],
    )
    .await;
    health.set_stopping();
    check(
        &health,
        "/readyz?exclude=leaderElection",
        expect![[r#"
            500
            [+]leaderElection excluded: ok
            [-]shutdown failed: reason withheld
            [+]sched-handler-sync ok
            readyz check failed
        "#]],
    )
    .await;
}

#[tokio::test]
async fn without_an_election_there_is_no_check_of_it() {
    let health = Health::new(None);
    health.set_synced(true);
    check(
        &health,
        "/readyz?verbose",
        expect![[r#"
            200
            [+]shutdown ok
            [+]sched-handler-sync ok
            readyz check passed
        "#]],
    )
    .await;
    check(&health, "/healthz/ping", expect!["200\nok"]).await;
    assert_eq!(ask(&health, "/healthz/leaderElection").await.0, 404);
}

#[tokio::test]
async fn checks_are_counted() {
    let recorded = RecordedChecks::default();
    pages().answer(&head(Request::get("/readyz?exclude=shutdown")), &health(), &recorded).await;
    assert_eq!(*recorded.0.lock().unwrap(), ["readyz/leaderElection true", "readyz/sched-handler-sync false"]);
}

#[tokio::test]
async fn all_pages_are_served() {
    let health = health();
    check(&health, "/metrics", expect!["200\nmetrics\n"]).await;
    check(&health, "/metrics/slis", expect!["200\nslis\n"]).await;
    check(&health, "/metrics/resources", expect!["200\n"]).await;
    health.set_leading(true);
    check(&health, "/metrics/resources", expect!["200\nresources\n"]).await;
    check(&health, "/configz", expect!["200\n{\"componentconfig\":{\"kind\":\"KubeSchedulerConfiguration\"}}"]).await;
    check(&health, "/profiles", expect!["200\n[{\"name\":\"edge\"}]"]).await;
    check(&health, "/", expect!["404\n404 page not found\n"]).await;
    check(
        &health,
        "/debug/pprof/heap",
        expect!["404\nthere is no Go runtime here to profile; use perf or a similar tool on the host\n"],
    )
    .await;
    check(
        &health,
        "/flagz",
        expect![[r#"
            200

            kube-scheduler flagz
            Warning: this page is for users, and its format may change. Programs should request JSON.
            secure-port=10259
            v=2
        "#]],
    )
    .await;
    let (_, statusz) = ask(&health, "/statusz").await;
    assert!(statusz.contains("\nUp: 0 hr 00 min 0"), "{statusz}");
    assert!(statusz.contains("\nPaths: /configz /flagz /healthz /livez /metrics /profiles /readyz /statusz\n"));
}

#[tokio::test]
async fn pages_as_json() {
    let request = Request::get("/flagz").header("accept", "application/json;v=v1beta1;g=config.k8s.io;as=Flagz");
    let answer = pages().answer(&head(request), &health(), &RecordedChecks::default()).await;
    assert_eq!(answer.headers()["content-type"], "application/json");
    let body: Value = serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap();
    let expected = json!({
        "kind": "Flagz", "apiVersion": "config.k8s.io/v1beta1", "metadata": {"name": "kube-scheduler"},
        "flags": {"secure-port": "10259", "v": "2"},
    });
    assert_eq!(body, expected);

    let request = Request::get("/statusz").header("accept", "application/json");
    assert_eq!(pages().answer(&head(request), &health(), &RecordedChecks::default()).await.status(), 406);
}

#[tokio::test]
async fn metrics_are_not_reset() {
    let answer = pages().answer(&head(Request::delete("/metrics")), &health(), &RecordedChecks::default()).await;
    assert_eq!((answer.status().as_u16(), answer.headers()["content-type"].to_str().unwrap()), (405, TEXT));
}

#[tokio::test]
async fn errors_have_the_text_of_kubernetes() {
    let check = async |answer: Answer, expected: Expect| {
        let code = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        expected.assert_eq(&format!("{code}\n{}", std::str::from_utf8(&body).unwrap()));
    };
    check(
        unauthorized(),
        expect![[r#"
            401 Unauthorized
            {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}
        "#]],
    )
    .await;
    check(
        forbidden("system:anonymous", "get", "/metrics", ""),
        expect![[r#"
            403 Forbidden
            {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"forbidden: User \"system:anonymous\" cannot get path \"/metrics\"","reason":"Forbidden","details":{},"code":403}
        "#]],
    )
    .await;
    check(
        forbidden("<b>", "get", "/a", "no rule"),
        expect![[r#"
            403 Forbidden
            {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"forbidden: User \"&lt;b&gt;\" cannot get path \"/a\": no rule","reason":"Forbidden","details":{},"code":403}
        "#]],
    )
    .await;
    check(
        internal_error("/metrics", "no answer"),
        expect![[r#"
            500 Internal Server Error
            Internal Server Error: "/metrics": no answer
        "#]],
    )
    .await;
}
