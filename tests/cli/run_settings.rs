//! `schedc run`: settings from its command line and a KubeSchedulerConfiguration.

use crate::cli::harness::{Folder, schedc};

const HEADER: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

#[test]
fn effective_settings_are_written_and_can_be_read() {
    let text =
        format!("{HEADER}leaderElection: {{leaseDuration: 30s}}\nclientConnection: {{qps: 5}}\nparallelism: 8\n");
    let folder = Folder::with(&[("in.yaml", &text)]);
    let written = |file: &str| std::fs::read_to_string(folder.path(file)).expect("it was written");
    let output = folder.schedc(&["run", "--config=in.yaml", "--write-config-to=first.yaml", "--leader-elect=false"]);
    let warning = "parallelism=8 is ignored: one thread evaluates nodes\"\n";
    assert!(
        output.code == Some(0) && output.stderr.contains(warning) && output.stderr.contains("\"Wrote configuration\""),
        "{output:?}"
    );
    let first = written("first.yaml");
    for line in ["  leaderElect: false\n", "  leaseDuration: 30s\n", "  qps: 5.0\n", "podMaxBackoffSeconds: 10\n"] {
        assert!(first.contains(line), "{line} in {first}");
    }
    let output = folder.schedc(&["run", "-v=2", "--config=first.yaml", "--write-config-to=second.yaml"]);
    assert!(output.code == Some(0) && output.stderr.contains("\"Using component config\" config="), "{output:?}");
    assert_eq!(written("second.yaml"), first);
}

#[test]
fn an_invalid_configuration_is_an_error() {
    let folder = Folder::with(&[
        ("field.yaml", &format!("{HEADER}leaderElect: true\n")),
        ("election.yaml", &format!("{HEADER}leaderElection: {{renewDeadline: 20s}}\n")),
    ]);
    let refused = |file: &str| folder.schedc(&["run", "--config", file]).refused();
    let error = refused("field.yaml");
    assert!(error.contains("unknown field `leaderElect`"), "{error}");
    let error = refused("election.yaml");
    assert!(
        error.ends_with("leaderElection.leaseDuration must be longer than leaderElection.renewDeadline\n"),
        "{error}"
    );
    let error = refused("absent.yaml");
    assert!(
        error.ends_with("absent.yaml: the file cannot be read: No such file or directory (os error 2)\n"),
        "{error}"
    );
}

#[test]
fn kubeadms_arguments_fail_without_its_files() {
    let conf = "/absent/scheduler.conf";
    let args = ["--authentication-kubeconfig", "--authorization-kubeconfig", "--kubeconfig"]
        .map(|flag| format!("{flag}={conf}"));
    let mut line = vec!["run", "--bind-address=127.0.0.1", "--leader-elect=true"];
    line.extend(args.iter().map(String::as_str));
    let error = schedc(&line).refused();
    let expected = format!(
        "error: kubeconfig {conf}: the file cannot be read: No such file or directory (os error 2); name \
                            another with --kubeconfig, or with `clientConnection.kubeconfig` in the file of --config\n"
    );
    assert!(error.ends_with(&expected), "{error}");
}
