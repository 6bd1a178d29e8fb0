//! `schedc explain`: the choice of pods by names, namespaces and labels.

use expect_test::expect;
use serde_json::json;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

#[test]
fn pods_are_found_by_namespace_and_labels() {
    let outcomes = |args: &[&str]| {
        let text = schedc(&[&["explain"], args].concat()).ok();
        text.lines().filter(|line| line.contains(" (profile ")).map(|line| format!("{line}\n")).collect::<String>()
    };
    expect![[r#"
        shop/web-1 goes to south-1 (profile default)
    "#]]
    .assert_eq(&outcomes(&["-n", "shop", "web-1", EXAMPLE]));
    expect![[r#"
        shop/web-0 goes to north-1 (profile default)
        shop/web-1 goes to south-1 (profile default)
        shop/web-2 goes to south-1 (profile default)
        shop/web-3 goes to south-1 (profile default)
        shop/web-4 goes to south-1 (profile default)
        shop/cache-0 goes to north-1 (profile default)
    "#]]
    .assert_eq(&outcomes(&["-l", "app in (web, cache)", EXAMPLE]));
    expect![[r#"
        research/training-1 goes to gpu-1 (profile default)
        research/training-2 is unschedulable (profile default)
        research/training-3 is unschedulable (profile default)
        research/report-1 goes to south-1 (profile default)
        research/report-2 goes to south-1 (profile default)
        research/report-3 goes to south-1 (profile default)
        research/report-4 goes to south-1 (profile default)
        research/report-5 goes to south-1 (profile default)
        research/simulation is unschedulable (profile default)
        research/metrics-proxy is unschedulable (profile default)
    "#]]
    .assert_eq(&outcomes(&["-n", "research", "-l", "!app", EXAMPLE]));
    let note = schedc(&["explain", "-n", "research", "-l", "!app", EXAMPLE]).stderr;
    expect![[r#"
        note: pod research/spark-driver has schedulerName `batch-scheduler`, which is none of the profiles; choose one with --profile
    "#]].assert_eq(&note);
    let array = schedc(&["explain", "-l", "app=cache", EXAMPLE, "-o", "json"]).json();
    let single = schedc(&["explain", "cache-0", EXAMPLE, "-o", "json"]).json();
    assert_eq!(array, json!([single]));
    let refused = |args: &[&str]| schedc(&[&["explain"], args].concat()).refused();
    expect![[r#"
        error: no pod in namespace `research` has the labels `app=web`
    "#]]
    .assert_eq(&refused(&["-n", "research", "-l", "app=web", EXAMPLE]));
    expect![[r#"
        error: `shop/web-1` is not in namespace `research`: omit one of the namespaces
    "#]]
    .assert_eq(&refused(&["-n", "research", "shop/web-1", EXAMPLE]));
    let usage = |args: &[&str]| schedc(&[&["explain"], args].concat());
    expect![[r#"
        error: invalid value 'app within (web)' for '--selector <SELECTOR>': `app within (web)`: write KEY in (VALUE,...) or KEY notin (VALUE,...)

        For more information, try '--help'.
    "#]].assert_eq(&usage(&["-l", "app within (web)", EXAMPLE]).stderr);
    expect![[r#"
        error: no file or folder is given; `-` is standard input, and --live reads the objects of a cluster
    "#]]
    .assert_eq(&usage(&["web-1"]).stderr);
}

#[test]
fn similar_pods_are_suggested() {
    let refused = |pod: &str| schedc(&["explain", pod, EXAMPLE]).refused();
    expect![[r#"
        error: there is no pod `serch-0` in the input; did you mean `search-0`?
    "#]]
    .assert_eq(&refused("serch-0"));
    expect![[r#"
        error: there is no pod `shop/serch-0` in the input; did you mean `shop/search-0`?
    "#]]
    .assert_eq(&refused("shop/serch-0"));
    expect![[r#"
        error: there is no pod `shp/search-0` in the input; did you mean `shop/search-0`?
    "#]]
    .assert_eq(&refused("shp/search-0"));
    expect![[r#"
        error: there is no pod `research/web-1` in the input; did you mean `shop/web-1`?
    "#]]
    .assert_eq(&refused("research/web-1"));
    expect![[r#"
        error: there is no pod `nothing-like-it` in the input
    "#]]
    .assert_eq(&refused("nothing-like-it"));
}

#[test]
fn ambiguous_pod_names_are_errors() {
    let pod = |namespace: &str, scheduler: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {namespace}}}, spec: {{schedulerName: {scheduler}, \
             containers: [{{name: c, image: i}}]}}}}\n---\n"
        )
    };
    let pods = pod("one", "default-scheduler") + &pod("two", "theirs");
    let folder = Folder::with(&[("pods.yaml", &pods)]);
    let refused = |args: &[&str]| folder.schedc(args).refused();
    expect![[r#"
        error: `p` is ambiguous: use one of one/p, two/p
    "#]]
    .assert_eq(&refused(&["explain", "p", "pods.yaml"]));
    expect![[r#"
        error: there is no pod `three/p` in the input; did you mean `one/p`?
    "#]]
    .assert_eq(&refused(&["explain", "three/p", "pods.yaml"]));
    expect![[r#"
        error: pod two/p has schedulerName `theirs`, which is none of the profiles; choose one with --profile
    "#]]
    .assert_eq(&refused(&["explain", "two/p", "pods.yaml"]));
    expect![[r#"
        two/p is unschedulable (profile edge)
          no nodes available to schedule pods

        No remedy found (5 decisions with one or two changes)
    "#]]
    .assert_eq(&folder.schedc(&["explain", "two/p", "pods.yaml", "--profile", "edge"]).ok());
}
