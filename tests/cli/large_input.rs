//! Input with many errors or very long texts: messages stay short, and time grows in proportion to the input.

use expect_test::expect;
use serde_json::Value;

use crate::cli::harness::{Folder, Run};

/// Returns a text longer than any name, and long enough to detect quadratic time.
fn long() -> String {
    "x".repeat(1_000_000)
}

/// Returns the exit code of a command, and the first line of its error without the long text.
fn complaint(folder: &Folder, args: &[&str]) -> String {
    let Run { code, stderr, .. } = folder.schedc(args);
    assert!(stderr.len() < 10_000, "{} bytes", stderr.len());
    let line = stderr.lines().next().unwrap_or_default();
    let (begin, end) = (line.find("xxx").unwrap_or(line.len()), line.rfind("xxx").map_or(line.len(), |at| at + 3));
    let left_out = line[begin..end].contains("characters …]");
    assert!(begin == end || left_out, "{line}");
    format!("{} {}…{}", code.unwrap_or(-1), &line[..begin], &line[end..])
}

#[test]
fn the_first_errors_of_a_profile_are_printed() {
    let keys: String = (0..10_000).map(|i| format!("unknown-{i} = 1\n")).collect();
    let folder = Folder::with(&[("a.toml", &keys)]);
    let stderr = folder.schedc(&["check", "a.toml"]).refused();
    assert_eq!(stderr.matches("error: unknown key").count(), 100);
    expect!["error: 10000 errors in a.toml; the first 100 are above"].assert_eq(stderr.lines().last().unwrap());
    let Run { code, stdout, .. } = folder.schedc(&["check", "-o", "json", "a.toml"]);
    let report: Value = serde_json::from_str(&stdout).expect("JSON");
    let errors = report["errors"].as_array().expect("errors");
    assert_eq!((code, errors.len(), &errors[9_999]["line"]), (Some(1), 10_000, &Value::from(10_000)));
}

/// Each list names all plugins. If each name were compared with each other name, this would take minutes.
#[test]
fn a_configuration_with_many_plugins_is_imported() {
    let number = if slow_tests::is_enabled() { 10_000 } else { 2_500 };
    let names: Vec<String> = (0..number).map(|i| format!("Outside{i}")).collect();
    let list = |more: &str| names.iter().map(|name| format!("\n      - {{name: {name}{more}}}")).collect::<String>();
    let config = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled:{}
    score:
      enabled:{}
    filter:
      disabled:{}
  pluginConfig:{}
",
        list(""),
        list(", weight: 2"),
        list(""),
        list(", args: {a: 1}").replace("\n      ", "\n  "),
    );
    let folder = Folder::with(&[("config.yaml", &config)]);
    let Run { code, stdout, stderr } = folder.schedc(&["import", "config.yaml"]);
    assert_eq!(
        (code, stdout.matches("[args.Outside").count()),
        (Some(0), number),
        "{}",
        &stderr[..stderr.len().min(999)]
    );
    assert_eq!(stderr.matches("is not a plugin of kube-scheduler").count(), number);
}

#[test]
fn texts_in_messages_are_shortened() {
    let long = long();
    let pod = |fields: &str| format!("{{\"apiVersion\": \"v1\", \"kind\": \"Pod\", {fields}}}");
    let folder = Folder::with(&[
        ("node.yaml", "{apiVersion: v1, kind: Node, metadata: {name: n1}}"),
        ("profile.toml", &format!("[plugins]\nfilter = [\"{long}\"]\n")),
        (
            "config.json",
            &format!(
                "{{\"apiVersion\": \"kubescheduler.config.k8s.io/v1\", \"kind\": \"KubeSchedulerConfiguration\", \"profiles\": [{{\"schedulerName\": \"{long}\"}}]}}"
            ),
        ),
        ("name.json", &pod(&format!("\"metadata\": {{\"name\": \"{long}\"}}"))),
        ("field.json", &pod(&format!("\"metadata\": {{\"name\": \"a\"}}, \"spec\": {{\"{long}\": 1}}"))),
        ("event.json", &format!("{{\"at\": \"1s\", \"delete\": {{\"kind\": \"Node\", \"name\": \"{long}\"}}}}")),
        ("verb.json", &format!("{{\"at\": \"1s\", \"{long}\": {{}}}}")),
        ("scenario.jsonl", &format!("{{\"id\": \"a\", \"profile\": \"{long}\"}}\n")),
    ]);
    let complaints = [
        complaint(&folder, &["check", "profile.toml"]),
        complaint(&folder, &["import", "config.json"]),
        complaint(&folder, &["simulate", "name.json"]),
        complaint(&folder, &["simulate", "field.json"]),
        complaint(&folder, &["simulate", "node.yaml", "--events", "event.json"]),
        complaint(&folder, &["simulate", "node.yaml", "--events", "verb.json"]),
        complaint(&folder, &["evaluate", "scenario.jsonl"]),
        complaint(&folder, &["explain", &long[..100_000], "node.yaml"]),
        complaint(&folder, &["simulate", "node.yaml", "--profile", &long[..100_000]]),
    ];
    expect![[r#"
        1 error: no plugin is called `…`
        1 error: `…` is not a scheduler name for schedc
        1 error: name.json:1: Pod default/…`: must be no more than 253 bytes
        1 error: field.json:1: Pod default/a: spec.…: unknown field; no field here has a similar name
        1 error: event.json:1: Node … does not exist at 1s
        1 error: verb.json:1: unknown field `…`; an event has a time (`at: 12.5s`) and one of `create`, `apply`, `update` and `delete`
        1 error: scenario.jsonl:1: scenario a: no profile is named `…`; the profiles are binpack, default, edge
        1 error: there is no pod `…` in the input
        1 error: no profile is named `…`; the profiles are binpack, default, edge"#]].assert_eq(&complaints.join("\n"));
}
