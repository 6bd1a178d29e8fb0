use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use tracing::subscriber::with_default;
use tracing::{debug, error, info, warn};

use super::*;

fn written(logging: Logging, log: impl FnOnce()) -> Vec<(Severity, String)> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let writes = lines.clone();
    let write = move |severity, line: &str| writes.lock().unwrap().push((severity, line.to_owned()));
    with_default(Logs::new(&logging, write), log);
    Arc::try_unwrap(lines).unwrap().into_inner().unwrap()
}

/// Returns an entry, of which tests replace some fields.
fn entry() -> Entry {
    Entry {
        severity: Severity::Info,
        verbosity: 2,
        time: Duration::new(1_795_349_701, 123_456_789),
        file: "cluster/kubernetes/src/driver/mod.rs",
        line: 12,
        message: "Successfully bound pod to node".to_owned(),
        fields: vec![("pod", "default/a".into()), ("node", "n1".into()), ("feasibleNodes", 3.into())],
    }
}

fn both(entry: &Entry, expected: Expect) {
    expected.assert_eq(&(text::line(entry, 1) + &json::line(entry)));
}

#[test]
fn a_message_about_a_pod() {
    both(
        &entry(),
        expect![[r#"
        I1122 12:15:01.123456       1 driver/mod.rs:12] "Successfully bound pod to node" pod="default/a" node="n1" feasibleNodes=3
        {"ts":1795349701123.456,"caller":"driver/mod.rs:12","msg":"Successfully bound pod to node","v":2,"pod":{"name":"a","namespace":"default"},"node":"n1","feasibleNodes":3}
    "#]],
    );
}

#[test]
fn an_error() {
    let fields = vec![("err", "\"a\" is\tno b".into())];
    both(
        &Entry {
            severity: Severity::Error,
            file: "src/main.rs",
            message: "It \x1b broke".to_owned(),
            fields,
            ..entry()
        },
        expect![[r#"
            E1122 12:15:01.123456       1 main.rs:12] "It \x1b broke" err="\"a\" is\tno b"
            {"ts":1795349701123.456,"caller":"src/main.rs:12","msg":"It \u001b broke","err":"\"a\" is\tno b"}
        "#]],
    );
}

#[test]
fn a_text_of_several_lines() {
    both(
        &Entry { severity: Severity::Warning, fields: vec![("config", "a: b\nc: d\n".into())], ..entry() },
        expect![[r#"
            W1122 12:15:01.123456       1 driver/mod.rs:12] "Successfully bound pod to node" config=<
            	a: b
            	c: d
             >
            {"ts":1795349701123.456,"caller":"driver/mod.rs:12","msg":"Successfully bound pod to node","v":2,"config":"a: b\nc: d\n"}
        "#]],
    );
}

/// As in component-base, the text format separates errors and warnings, and the JSON format separates only errors.
#[test]
fn split_streams_separate_errors() {
    use Stream::{Error, Output};
    for (split, json, streams) in [
        (false, false, [Error, Error, Error]),
        (false, true, [Error, Error, Error]),
        (true, false, [Output, Error, Error]),
        (true, true, [Output, Output, Error]),
    ] {
        let severities = [Severity::Info, Severity::Warning, Severity::Error];
        assert_eq!(severities.map(|severity| stream(severity, split, json)), streams, "{split} {json}");
    }
}

#[test]
fn verbosity_selects_messages() {
    let log = || {
        error!("error");
        warn!("warning");
        info!("info");
        debug!(v = 2, "two");
        debug!("four");
        debug!(v = 5, "five");
        debug!(v = 6, "six");
        info!(target: "h2", "of others");
    };
    let shown = |verbosity| {
        let logging = Logging { verbosity, ..Logging::default() };
        let count = |line: &str| line.rsplit_once("] ").map(|(_, message)| message.trim().trim_matches('"').to_owned());
        written(logging, log).iter().filter_map(|(_, line)| count(line)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(0), "error warning info");
    assert_eq!(shown(1), "error warning info");
    assert_eq!(shown(3), "error warning info two");
    assert_eq!(shown(4), "error warning info two four");
    assert_eq!(shown(5), "error warning info two four five");
    assert_eq!(shown(10), "error warning info two four five six");
}

#[test]
fn values_keep_their_kinds() {
    let logging = Logging { json: true, ..Logging::default() };
    let name = String::from("a");
    let lines = written(logging, || {
        info!(count = 3, is = true, ratio = 0.5, name = %name, pod = %format_args!("s/{name}"), "many");
    });
    let value: Value = serde_json::from_str(&lines[0].1).unwrap();
    assert_eq!(lines[0].0, Severity::Info);
    assert!(value["caller"].as_str().unwrap().starts_with("logs/tests.rs:"));
    let expected = serde_json::json!({
        "msg": "many", "v": 0, "count": 3, "is": true, "ratio": 0.5, "name": "a", "pod": {"name": "a", "namespace": "s"},
        "ts": value["ts"], "caller": value["caller"],
    });
    assert_eq!(value, expected);
}
