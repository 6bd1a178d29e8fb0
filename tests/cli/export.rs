//! `schedc export`

use expect_test::expect;

use crate::cli::harness::Folder;

const SMALL: &str = "\
pod-max-backoff-seconds = 60

[budget]
binary-size = 9000000

[plugins]
multi-point = [\"PrioritySort\", \"NodeName\", { name = \"TaintToleration\", weight = 3 }, \"DefaultBinder\"]
";

#[test]
fn a_profile_becomes_a_configuration() {
    let folder = Folder::with(&[("profiles/small.toml", SMALL)]);
    let run = folder.schedc(&["export", "small"]);
    expect![[r#"
        note: profiles/small.toml: the budget is left out: kube-scheduler has no equivalent
    "#]]
    .assert_eq(&run.stderr);
    let configuration = run.ok();
    expect![[r#"
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        podInitialBackoffSeconds: 1
        podMaxBackoffSeconds: 60
        profiles:
        - schedulerName: default-scheduler
          percentageOfNodesToScore: 100
          plugins:
            multiPoint:
              disabled:
              - name: "*"
            queueSort:
              enabled:
              - name: PrioritySort
            filter:
              enabled:
              - name: NodeName
              - name: TaintToleration
            preScore:
              enabled:
              - name: TaintToleration
            score:
              enabled:
              - name: TaintToleration
                weight: 3
            bind:
              enabled:
              - name: DefaultBinder
    "#]]
    .assert_eq(&configuration);
    let folder = Folder::with(&[("scheduler.yaml", &configuration)]);
    let run = folder.schedc(&["import", "scheduler.yaml"]);
    assert_eq!(run.stderr, "");
    expect![[r##"
        # Imported from scheduler.yaml by schedc.

        scheduler-name = "default-scheduler"
        pod-initial-backoff-seconds = 1
        pod-max-backoff-seconds = 60

        [plugins]
        multi-point = []
        queue-sort = { enabled = ["PrioritySort"] }
        filter = { enabled = ["NodeName", "TaintToleration"] }
        pre-score = { enabled = ["TaintToleration"] }
        score = { enabled = [{ name = "TaintToleration", weight = 3 }] }
        bind = { enabled = ["DefaultBinder"] }
    "##]]
    .assert_eq(&run.ok());
}

#[test]
fn several_profiles_are_written_into_one_file() {
    let folder =
        Folder::with(&[("profiles/a.toml", "scheduler-name = \"a\""), ("profiles/b.toml", "scheduler-name = \"b\"")]);
    expect![[r#"
        note: wrote both.yaml
    "#]]
    .assert_eq(&folder.schedc(&["export", "a", "b", "-o", "both.yaml"]).stderr);
    assert!(folder.path("both.yaml").exists());
    expect![[r#"
        error: both.yaml exists already; --force replaces it
    "#]]
    .assert_eq(&folder.schedc(&["export", "a", "-o", "both.yaml"]).refused());
    folder.schedc(&["export", "a", "-o", "both.yaml", "--force"]).ok();
    folder.schedc(&["import", "both.yaml", "--name", "a"]).ok();
}

#[test]
fn profiles_that_cannot_be_in_one_scheduler_are_rejected() {
    let folder = Folder::with(&[("profiles/a.toml", SMALL), ("profiles/b.toml", SMALL)]);
    let refused = folder.schedc(&["export", "a", "b"]).refused();
    assert!(refused.contains("default-scheduler"), "{refused}");
}

#[test]
fn out_of_tree_plugins_are_reported() {
    let crates = concat!("crates = [{ path = \"", env!("CARGO_MANIFEST_DIR"), "/examples/coscheduling\" }]\n");
    let profile = format!("{crates}[plugins]\nqueue-sort = [\"Coscheduling\"]\n");
    let folder = Folder::with(&[("profiles/mine.toml", &profile)]);
    expect![[r#"
        warning: profiles/mine.toml: kube-scheduler does not contain Coscheduling: the exported file needs a kube-scheduler that is built with it
        note: wrote mine.yaml
    "#]].assert_eq(&folder.schedc(&["export", "mine", "-o", "mine.yaml"]).stderr);
}
