//! `schedc simulate`: filters for the rows of its tables.

use expect_test::expect;

use crate::cli::harness::{EXAMPLE, schedc};

/// Returns the tables of a result before the one of utilisation, and the last line.
fn rows(args: &[&str]) -> String {
    let text = schedc(&[&["simulate", EXAMPLE], args].concat()).ok();
    let end = text.find("Utilisation\n").expect("the table");
    let last = text.lines().next_back().expect("a line");
    format!("{}{last}\n", &text[..end])
}

#[test]
fn rows_can_be_chosen_by_namespace_and_node() {
    expect![[r#"
        Placed
          POD            NODE
          shop/web-1     south-1
          shop/web-2     north-2
          shop/web-3     south-1
          shop/web-4     north-1
          shop/orders-0  south-2
          shop/cache-0   north-1
          shop/orders-1  north-2

        Unschedulable
          waiting for scheduling gates: [example.com/waits-for-approval]
            shop/checkout-canary
          0/6 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 4 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.
            shop/legacy-importer

        the tables show pods of namespace shop: 9 of 20
    "#]].assert_eq(&rows(&["-n", "shop"]));
    expect![[r#"
        Placed
          POD                  NODE
          research/training-3  gpu-1
          research/training-1  gpu-1

        Preempted
          POD                  NODE   BY
          research/notebook-1  gpu-1  research/training-3

        Protected from preemption by disruption budgets
          POD                  NODE   BUDGET                    FROM
          research/notebook-2  gpu-1  research/notebook-in-use  research/training-3

        the tables show pods on gpu-1: 3 of 20
    "#]]
    .assert_eq(&rows(&["--node", "gpu-1"]));
    expect![[r#"
        Placed
          POD            NODE
          shop/web-1     south-1
          shop/web-2     north-2
          shop/web-3     south-1
          shop/orders-1  north-2

        the tables show pods of namespace shop on north-2 or south-1: 4 of 20
    "#]]
    .assert_eq(&rows(&["-n", "shop", "--node", "north-2", "--node", "south-1"]));
    let log = schedc(&["simulate", EXAMPLE, "--log", "-n", "research", "--node", "gpu-1"]).ok();
    expect![[r#"
        Log
          AT  OBJECT                   WHAT
          0s  Pod research/training-1  created
          0s  Pod research/training-3  created
          0s  Pod research/training-3  unschedulable: 0/6 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) were unschedulable, 5 Insufficient example.com/gpu. Its nominated node is gpu-1, where research/notebook-1 will be preempted.
          0s  Pod research/notebook-1  preempted by Pod research/training-3
          0s  Pod research/training-3  bound to gpu-1
          0s  Pod research/training-1  bound to gpu-1
    "#]].assert_eq(&log[..log.find("\nPlaced").expect("the table")]);
}

#[test]
fn json_results_have_all_rows() {
    let report = |args: &[&str]| {
        let mut report = schedc(&[&["simulate", EXAMPLE, "-o", "json"], args].concat()).json();
        for time in ["seconds", "readSeconds", "scheduleSeconds"] {
            report["summary"].as_object_mut().expect("a summary").remove(time);
        }
        report
    };
    assert_eq!(report(&["-n", "shop", "--node", "gpu-1"]), report(&[]));
}

#[test]
fn filters_without_matches_are_rejected() {
    let refused = |args: &[&str]| schedc(&[&["simulate", EXAMPLE], args].concat()).refused();
    expect![[r#"
        error: no pod of the input is in namespace `shp`; did you mean `shop`?
    "#]]
    .assert_eq(&refused(&["-n", "shp"]));
    expect![[r#"
        error: there is no node `gpu1` in the input; did you mean `gpu-1`?
        error: there is no node `other` in the input
    "#]]
    .assert_eq(&refused(&["--node", "gpu1", "--node", "other"]));
    let later = ["--events", "examples/events/maintenance.yaml", "--node", "gpu-2"];
    let placed = schedc(&[&["simulate", EXAMPLE], &later[..]].concat()).ok();
    assert!(placed.contains("research/training-2  gpu-2"), "{placed}");
}
