//! `schedc import`

use expect_test::expect;

use crate::cli::harness::Folder;

const BINPACK: &str = "\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
profiles:
  - schedulerName: binpack
    percentageOfNodesToScore: 100
    plugins:
      multiPoint:
        enabled:
          - name: PrioritySort
          - name: TaintToleration
            weight: 3
          - name: NodeResourcesFit
          - name: DefaultBinder
        disabled:
          - name: \"*\"
      filter:
        disabled:
          - name: NodeNam
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: MostAllocated
            resources: [{name: cpu, weight: 1}]
";

#[test]
fn a_configuration_becomes_a_profile() {
    let folder = Folder::with(&[("scheduler.yaml", BINPACK)]);
    let run = folder.schedc(&["import", "scheduler.yaml"]);
    expect![[r#"
        warning: scheduler.yaml:20:19: disabling `NodeNam` at `filter` has no effect: it is not enabled there; did you mean `NodeName`?
        note: scheduler.yaml:3:1: `leaderElection` is not part of a profile: it configures the process, not its decisions
    "#]]
    .assert_eq(&run.stderr);
    let profile = run.ok();
    expect![[r##"
        # Imported from scheduler.yaml by schedc.

        scheduler-name = "binpack"

        [plugins]
        multi-point = [
            "PrioritySort",
            { name = "TaintToleration", weight = 3 },
            { name = "NodeResourcesFit", weight = 1 },
            "DefaultBinder",
        ]

        [args.NodeResourcesFit]
        scoring-strategy = { type = "MostAllocated", resources = [{ name = "cpu", weight = 1 }] }
    "##]]
    .assert_eq(&profile);
    let folder = Folder::with(&[("profiles/binpack.toml", &profile)]);
    expect![[r#"
        1 profile, no errors
    "#]]
    .assert_eq(&folder.schedc(&["check"]).ok());
}

#[test]
fn errors_in_standard_input_are_shown() {
    let folder = Folder::with(&[]);
    let run = folder.schedc_with_input(&["import", "-"], "{\"kind\": \"KubeSchedulerConfiguration\"}");
    expect![[r#"
        error: `apiVersion` is missing
         --> standard input:1:1
          |
        1 | {"kind": "KubeSchedulerConfiguration"}
          | ^ unknown kind of file
          |
          = help: add `apiVersion: kubescheduler.config.k8s.io/v1`

        error: 1 error in standard input
    "#]]
    .assert_eq(&run.refused());
}

#[test]
fn import_errors_are_shown() {
    let folder = Folder::with(&[("scheduler.yaml", &BINPACK.replace("pluginConfig", "pluginConfigs"))]);
    expect![[r#"
        warning: scheduler.yaml:20:19: disabling `NodeNam` at `filter` has no effect: it is not enabled there; did you mean `NodeName`?
        note: scheduler.yaml:3:1: `leaderElection` is not part of a profile: it configures the process, not its decisions
        error: unknown field `pluginConfigs`
          --> scheduler.yaml:21:5
           |
        21 |     pluginConfigs:
           |     ^^^^^^^^^^^^^ not a field of `profiles[0]`
           |
           = note: `profiles[0]` has `schedulerName`, `percentageOfNodesToScore`, `plugins` and `pluginConfig`
        help: did you mean `pluginConfig`?
           |
        21 -     pluginConfigs:
        21 +     pluginConfig:
           |

        error: 1 error in scheduler.yaml
    "#]]
    .assert_eq(&folder.schedc(&["import", "scheduler.yaml"]).refused());
}

const SEVERAL: &str = "\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
  - schedulerName: one
    plugins: {multiPoint: &minimal {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}]}}
  - schedulerName: two
    plugins: {multiPoint: *minimal, bind: {disabled: [{name: NodeName}]}}
";

#[test]
fn the_only_profile_can_get_another_name() {
    let text = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}";
    let folder = Folder::with(&[("scheduler.yaml", text)]);
    let run = folder.schedc(&["import", "scheduler.yaml", "--name", "mine"]);
    assert!(run.stdout.contains("scheduler-name = \"mine\"\n"), "{}", run.stdout);
    expect![[r#"
        note: the only profile, `default-scheduler`, is called `mine` here: it serves pods whose schedulerName is `mine`
    "#]]
    .assert_eq(&run.stderr);
    expect![[r#"
        error: `Mine`, given as --name, is not a scheduler name for schedc
         |
         = note: names are lower-case letters, digits, `-` and `.`, and begin and end with a letter or digit

        error: 1 error
    "#]]
    .assert_eq(&folder.schedc(&["import", "scheduler.yaml", "--name", "Mine"]).refused());
}

#[test]
fn one_of_several_profiles_must_be_chosen() {
    let folder = Folder::with(&[("scheduler.yaml", SEVERAL)]);
    expect![[r#"
        error: none of the 2 profiles is chosen
         |
         = note: the configuration has `one` and `two`
         = help: choose one with --name, or write all of them into a folder with --output-dir

        error: 1 error
    "#]]
    .assert_eq(&folder.schedc(&["import", "scheduler.yaml"]).refused());
    expect![[r#"
        error: no profile has the schedulerName `on`
         |
         = note: the configuration has `one` and `two`
         = help: did you mean `one`?

        error: 1 error
    "#]]
    .assert_eq(&folder.schedc(&["import", "scheduler.yaml", "--name", "on"]).refused());
    let run = folder.schedc(&["import", "scheduler.yaml", "--name", "one"]);
    assert_eq!(run.stderr, "");
    expect![[r##"
        # Imported from scheduler.yaml by schedc.

        scheduler-name = "one"

        [plugins]
        multi-point = ["PrioritySort", "DefaultBinder"]
    "##]]
    .assert_eq(&run.ok());
}

#[test]
fn all_profiles_are_written_into_a_folder() {
    let folder = Folder::with(&[("scheduler.yaml", SEVERAL)]);
    let run = folder.schedc(&["import", "scheduler.yaml", "-o", "made"]);
    expect![[r#"
        warning: scheduler.yaml:8:62: disabling `NodeName` at `bind` has no effect: it is not enabled there
        note: wrote made/one.toml
        note: wrote made/two.toml
    "#]]
    .assert_eq(&run.stderr);
    assert_eq!(run.ok(), "");
    expect![[r#"
        2 profiles, no errors
    "#]]
    .assert_eq(&folder.schedc(&["check", "made"]).ok());
    expect![[r#"
        warning: scheduler.yaml:8:62: disabling `NodeName` at `bind` has no effect: it is not enabled there
        error: made/two.toml exists already; --force replaces it
    "#]]
    .assert_eq(&folder.schedc(&["import", "scheduler.yaml", "-o", "made", "--name", "two"]).refused());
    folder.schedc(&["import", "scheduler.yaml", "-o", "made", "--name", "two", "--force"]).ok();
}

#[test]
fn a_missing_file_is_an_error() {
    let folder = Folder::with(&[]);
    expect![[r#"
        error: cannot read scheduler.yaml: No such file or directory (os error 2)
    "#]]
    .assert_eq(&folder.schedc(&["import", "scheduler.yaml"]).refused());
}

const AUTOSCALED: &str = "\
apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
schedulerName: autoscaled
algorithmSource:
  policy:
    file: {path: /etc/kubernetes/policy.json}
";

const POLICY: &str = r#"{
	"kind": "Policy",
	"apiVersion": "v1",
	"predicates": [{"name": "PodFitsResources"}, {"name": "NoDiskConflict"}],
	"priorities": [{"name": "MostRequestedPriority", "weight": 2}]
}
"#;

#[test]
fn a_policy_is_imported_with_its_configuration() {
    let folder = Folder::with(&[("scheduler.yaml", AUTOSCALED), ("policy.json", POLICY)]);
    expect![[r#"
        error: the plugins are those of a policy, which is in the file /etc/kubernetes/policy.json
         --> scheduler.yaml:5:3
          |
        5 |   policy:
          |   ^^^^^^ elsewhere
          |
          = help: give that file, or the ConfigMap as kubectl prints it, with --policy

        error: 1 error in scheduler.yaml
    "#]]
    .assert_eq(&folder.schedc(&["import", "scheduler.yaml"]).refused());
    let run = folder.schedc(&["import", "scheduler.yaml", "--policy", "policy.json"]);
    expect![[r#"
        note: scheduler.yaml:1:1: a configuration of v1alpha1 has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
        note: policy.json:5:26: `NodeResourcesMostAllocated` is the scoring strategy MostAllocated of `NodeResourcesFit` today
    "#]].assert_eq(&run.stderr);
    let profile = run.ok();
    expect![[r##"
        # Imported from scheduler.yaml by schedc.

        scheduler-name = "autoscaled"
        # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
        percentage-of-nodes-to-score = 0

        [plugins]
        multi-point = []
        pre-enqueue = ["SchedulingGates", "DefaultPreemption"]
        queue-sort = ["PrioritySort"]
        pre-filter = ["NodeResourcesFit", "VolumeRestrictions"]
        filter = ["NodeUnschedulable", "NodeResourcesFit", "VolumeRestrictions", "TaintToleration"]
        post-filter = ["DefaultPreemption"]
        pre-score = ["NodeResourcesFit"]
        score = [{ name = "NodeResourcesFit", weight = 2 }]
        bind = ["DefaultBinder"]

        [args.NodeResourcesFit]
        scoring-strategy = { type = "MostAllocated" }
    "##]]
    .assert_eq(&profile);
    let folder = Folder::with(&[("profiles/autoscaled.toml", &profile)]);
    folder.schedc(&["check"]).ok();
}

#[test]
fn a_policy_is_imported_without_a_configuration() {
    let folder = Folder::with(&[]);
    let run = folder.schedc_with_input(&["import", "-", "--name", "old"], POLICY);
    assert!(run.ok().contains("scheduler-name = \"old\"\n"));
}
