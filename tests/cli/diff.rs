//! `schedc diff`

use expect_test::expect;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

#[test]
fn equal_profiles_have_no_differences() {
    let run = schedc(&["diff", "edge", "profiles/edge.toml"]);
    assert_eq!(run.code, Some(0));
    expect![[r#"
        edge and profiles/edge.toml are equivalent
    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn a_profile_is_compared_with_kube_scheduler() {
    let run = schedc(&["diff", "edge", "kube-scheduler"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    expect![[r#"
        edge and kube-scheduler: 36 differences

        Settings
          SETTING                   EDGE  KUBE-SCHEDULER  EFFECT ON PODS
          percentageOfNodesToScore  100   0               with kube-scheduler, a smaller share of nodes is evaluated in larger clusters; with edge, all nodes

        pre-enqueue
          PLUGIN             EDGE  KUBE-SCHEDULER  EFFECT ON PODS
          SchedulingGates    -     yes             without it, pods are scheduled in spite of their scheduling gates
          DynamicResources   -     yes             without it, pods are attempted before their resource claims exist
          DefaultPreemption  -     yes             without it, a pod is retried before its victims are gone

        pre-filter
          PLUGIN                EDGE  KUBE-SCHEDULER  EFFECT ON PODS
          VolumeRestrictions    -     yes             a consequence of the missing filter
          NodeVolumeLimits      -     yes             a consequence of the missing filter
          VolumeBinding         -     yes             a consequence of the missing filter
          VolumeZone            -     yes             a consequence of the missing filter
          PodTopologySpread     -     yes             a consequence of the missing filter
          InterPodAffinity      -     yes             a consequence of the missing filter
          DynamicResources      -     yes             a consequence of the missing filter
          NodeDeclaredFeatures  -     yes             a consequence of the missing filter

        filter
          PLUGIN                EDGE  KUBE-SCHEDULER  EFFECT ON PODS
          VolumeRestrictions    -     yes             without it, volumes for one node or one pod may be used by several
          NodeVolumeLimits      -     yes             without it, nodes may get more volumes than can be attached
          VolumeBinding         -     yes             without it, nodes that a pod's volumes cannot reach are not rejected
          VolumeZone            -     yes             without it, pods may be placed in other zones than their volumes
          PodTopologySpread     -     yes             without it, spreading constraints with DoNotSchedule are ignored
          InterPodAffinity      -     yes             without it, required affinity and anti-affinity between pods are ignored
          DynamicResources      -     yes             without it, nodes without the devices of a pod's resource claims are not rejected
          NodeDeclaredFeatures  -     yes             without it, pods may be placed on nodes without a feature that they need

        post-filter
          PLUGIN             EDGE  KUBE-SCHEDULER  EFFECT ON PODS
          DynamicResources   -     yes             without it, no claim is deallocated for an unschedulable pod
          DefaultPreemption  -     yes             without it, no pod is preempted for an unschedulable pod

        pre-score
          PLUGIN                           EDGE  KUBE-SCHEDULER  EFFECT ON PODS
          VolumeBinding                    -     yes             a consequence of the missing score
          PodTopologySpread                -     yes             a consequence of the missing score
          InterPodAffinity                 -     yes             a consequence of the missing score
          NodeResourcesBalancedAllocation  -     yes             a consequence of the missing score

        score
          PLUGIN                           EDGE  KUBE-SCHEDULER  EFFECT ON PODS
          VolumeBinding                    -     x1              without it, pods do not prefer volumes that are no larger than requested
          PodTopologySpread                -     x2              without it, pods do not prefer to be spread over nodes and zones
          InterPodAffinity                 -     x2              without it, pods do not prefer to be near or away from the pods that their preferred terms select
          DynamicResources                 -     x2              without it, pods do not prefer devices that their claims list first
          NodeResourcesBalancedAllocation  -     x1              without it, pods do not prefer nodes with balanced requests of cpu and memory
          ImageLocality                    -     x1              without it, pods do not prefer nodes that have their images

        reserve
          PLUGIN            EDGE  KUBE-SCHEDULER  EFFECT ON PODS
          VolumeBinding     -     yes             without it, nothing is reserved for a pod whose node is chosen
          DynamicResources  -     yes             without it, nothing is reserved for a pod whose node is chosen

        pre-bind
          PLUGIN            EDGE  KUBE-SCHEDULER  EFFECT ON PODS
          VolumeBinding     -     yes             without it, no binding is prepared
          DynamicResources  -     yes             without it, no binding is prepared
    "#]].assert_eq(&run.stdout);
}

const CONFIGURATION: &str = "\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podMaxBackoffSeconds: 60
profiles:
- schedulerName: one
- schedulerName: two
  percentageOfNodesToScore: 30
  plugins:
    filter: {enabled: [{name: NodePorts}]}
    score: {enabled: [{name: ImageLocality, weight: 20}]}
  pluginConfig:
  - {name: InterPodAffinity, args: {hardPodAffinityWeight: 9, ignorePreferredTermsOfExistingPods: true}}
  - {name: DefaultPreemption, args: {minCandidateNodesAbsolute: 5}}
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 2}]}}}
";

#[test]
fn order_weights_and_arguments_are_compared() {
    let folder = Folder::with(&[("scheduler.yaml", CONFIGURATION)]);
    let run = folder.schedc(&["diff", "scheduler.yaml#one", "scheduler.yaml#two"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    expect![[r#"
        scheduler.yaml#one and scheduler.yaml#two: 9 differences

        Settings
          SETTING                   SCHEDULER.YAML#ONE  SCHEDULER.YAML#TWO  EFFECT ON PODS
          percentageOfNodesToScore  0                   30                  with scheduler.yaml#one, a smaller share of nodes is evaluated in larger clusters; with scheduler.yaml#two, 30 % of them

        filter
          different order; effect on pods: none for placements; of several plugins that reject a node, another one may be reported
            scheduler.yaml#one:
              NodeUnschedulable, NodeName, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit,
              VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread,
              InterPodAffinity, DynamicResources, NodeDeclaredFeatures
            scheduler.yaml#two:
              NodePorts, NodeUnschedulable, NodeName, TaintToleration, NodeAffinity, NodeResourcesFit,
              VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread,
              InterPodAffinity, DynamicResources, NodeDeclaredFeatures

        score
          PLUGIN         SCHEDULER.YAML#ONE  SCHEDULER.YAML#TWO  EFFECT ON PODS
          ImageLocality  x1                  x20                 pods prefer nodes that have their images; this counts more with scheduler.yaml#two: 20 of 34 parts of the score, not 1 of 15
          different order; effect on pods: none: scores are added up
            scheduler.yaml#one:
              TaintToleration, NodeAffinity, NodeResourcesFit, VolumeBinding, PodTopologySpread,
              InterPodAffinity, DynamicResources, NodeResourcesBalancedAllocation, ImageLocality
            scheduler.yaml#two:
              ImageLocality, TaintToleration, NodeAffinity, NodeResourcesFit, VolumeBinding,
              PodTopologySpread, InterPodAffinity, DynamicResources, NodeResourcesBalancedAllocation

        Arguments
          ARGUMENT                                             SCHEDULER.YAML#ONE                                        SCHEDULER.YAML#TWO           EFFECT ON PODS
          DefaultPreemption minCandidateNodesAbsolute          100                                                       5                            with scheduler.yaml#one, preemption evaluates more nodes
          NodeResourcesFit scoringStrategy.resources           [{"name":"cpu","weight":1},{"name":"memory","weight":1}]  [{"name":"cpu","weight":2}]  other resources or weights determine how full a node is
          NodeResourcesFit scoringStrategy.type                LeastAllocated                                            MostAllocated                pods prefer the emptiest nodes with scheduler.yaml#one, and the fullest nodes with enough room with scheduler.yaml#two
          InterPodAffinity hardPodAffinityWeight               1                                                         9                            with scheduler.yaml#two, required affinity of running pods attracts pods more
          InterPodAffinity ignorePreferredTermsOfExistingPods  false                                                     true                         only with scheduler.yaml#one, preferences of running pods affect pods without preferences
    "#]].assert_eq(&run.stdout);
}

#[test]
fn differences_are_printed_as_json() {
    let folder = Folder::with(&[("scheduler.yaml", CONFIGURATION)]);
    let run = folder.schedc(&["diff", "scheduler.yaml#one", "kube-scheduler", "-o", "json"]);
    assert_eq!(run.code, Some(1));
    expect![[r#"
        {
          "a": {
            "name": "scheduler.yaml#one",
            "schedulerName": "one"
          },
          "b": {
            "name": "kube-scheduler",
            "schedulerName": "default-scheduler"
          },
          "equal": false,
          "differences": [
            {
              "what": "setting",
              "name": "podMaxBackoffSeconds",
              "a": 60,
              "b": 10,
              "effect": "with scheduler.yaml#one, a pod with many failed attempts is retried less often"
            }
          ]
        }
    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn pods_with_different_nodes_are_listed() {
    let run = schedc(&["diff", "binpack", "default", "--cluster", EXAMPLE]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    let pods = &run.stdout[run.stdout.find("Pods\n").expect("a table of pods")..];
    expect![[r#"
        Pods
          6 of 21 pods would be placed differently:
          POD                    BINPACK  DEFAULT
          research/report-2      north-1  north-2
          research/report-3      north-2  south-1
          research/report-4      north-2  north-1
          research/spark-driver  north-2  north-1
          shop/cache-0           north-1  south-1
          shop/web-2             north-1  north-2
    "#]]
    .assert_eq(pods);
    let run = schedc(&["diff", "default", "kube-scheduler", "--cluster", EXAMPLE]);
    expect![[r#"
        default and kube-scheduler: 1 difference

        Settings
          SETTING                   DEFAULT  KUBE-SCHEDULER  EFFECT ON PODS
          percentageOfNodesToScore  100      0               with kube-scheduler, a smaller share of nodes is evaluated in larger clusters; with default, all nodes

        Pods
          21 pods, all on the same nodes with both profiles
    "#]].assert_eq(&format!("{}{}", run.stderr, run.stdout));
}

#[test]
fn profiles_that_are_not_compiled_in_are_interpreted_for_pods() {
    let mine = "\
scheduler-name = \"mine\"
percentage-of-nodes-to-score = 50
[args.NodeResourcesFit.scoring-strategy]
type = \"MostAllocated\"
resources = [{ name = \"cpu\", weight = 1 }, { name = \"memory\", weight = 1 }]
";
    let folder = Folder::with(&[("profiles/mine.toml", mine), ("scheduler.yaml", CONFIGURATION)]);
    let example = format!("{}/{EXAMPLE}", env!("CARGO_MANIFEST_DIR"));
    let elsewhere = |a: &str, b: &str| {
        let run = folder.schedc(&["diff", a, b, "--cluster", &example]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
        run.stdout[run.stdout.find("Pods\n").expect("a table of pods")..].to_owned()
    };
    // The pods get the same nodes as with the compiled profile, because all nodes are considered in a cluster this
    // small.
    assert_eq!(elsewhere("mine", "default").replace("MINE   ", "BINPACK"), elsewhere("binpack", "default"));
    expect![[r#"
        Pods
          1 of 21 pods would be placed differently:
          POD                    SCHEDULER.YAML#TWO  MINE
          research/spark-driver  north-1             north-2
    "#]]
    .assert_eq(&elsewhere("scheduler.yaml#two", "mine"));
}

#[test]
fn a_profile_with_unknown_plugins_cannot_place_pods() {
    let own = format!(
        "crates = [{{ path = \"{}/examples/out-of-tree\" }}]\n[plugins]\nmulti-point = {{ enabled = [\"Maintenance\"] }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    let folder = Folder::with(&[("own.toml", &own), ("nodes.yaml", "")]);
    let run = folder.schedc(&["diff", "own.toml", "default", "--cluster", "nodes.yaml"]);
    assert_eq!(run.code, Some(2));
    expect![[r#"
        error: own.toml: plugin Maintenance of crate out_of_tree is not compiled into this program, so the profile cannot be interpreted; compile it with a build script or `profile!` in a crate that depends on out_of_tree
    "#]].assert_eq(&run.stderr);
}

#[test]
fn incomparable_inputs_are_errors() {
    let folder =
        Folder::with(&[("scheduler.yaml", CONFIGURATION), ("profiles/a.toml", ""), ("profiles/b.toml", "x = 1")]);
    for (sides, expected) in [
        (
            ["scheduler.yaml", "kube-scheduler"],
            expect![[r#"
                error: scheduler.yaml has several profiles: name one, such as `scheduler.yaml#one`
            "#]],
        ),
        (
            ["a", "b"],
            expect![[r#"
                error: unknown key `x`
                 --> profiles/b.toml:1:1
                  |
                1 | x = 1
                  | ^ not a key of a profile
                  |
                  = note: a profile has `scheduler-name`, `percentage-of-nodes-to-score`, `pod-initial-backoff-seconds`, `pod-max-backoff-seconds`, `crates`, `plugins`, `args`, `extender` and `budget`

                error: 1 error in profiles/b.toml
            "#]],
        ),
        (
            ["c", "a"],
            expect![[r#"
                error: no profile is called `c`
                 |
                 = note: folder profiles has `a` and `b`
                 = note: compiled in: `binpack`, `default` and `edge`
                 = help: name one of these profiles, or the path of a TOML file

                error: 1 error
            "#]],
        ),
    ] {
        let run = folder.schedc(&["diff", sides[0], sides[1]]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
        expected.assert_eq(&run.stderr);
    }
}
