//! The example with devices: simulation, and explanations of pods without devices.

use expect_test::expect;

use crate::cli::harness::schedc;

const DEVICES: &str = "examples/devices";

#[test]
fn pods_of_the_example_get_devices() {
    let report = schedc(&["simulate", DEVICES, "-o", "json"]).json();
    let text = |entry: &serde_json::Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let list = |key: &str| report[key].as_array().expect("a list").clone();
    let placed = list("placements").into_iter().map(|pod| format!("{} {}\n", text(&pod, "pod"), text(&pod, "node")));
    let others = list("unschedulable").into_iter().map(|pod| format!("{} -\n", text(&pod, "pod")));
    expect![[r#"
        ml/notebook-1 train-2
        ml/training-1 train-1
        ml/training-2 train-2
        ml/inference-1 serve-1
        ml/inference-2 serve-1
        ml/streaming-1 train-1
        ml/streaming-2 train-2
        ml/training-3 -
        ml/inference-3 -
        ml/streaming-3 -
    "#]]
    .assert_eq(&placed.chain(others).collect::<String>());
}

fn explained(pod: &str, options: &[&str], expected: &[&str]) {
    let args = [&["explain", pod, DEVICES, "--after"], options].concat();
    let text = schedc(&args).ok();
    for line in expected {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn the_table_by_reason_refers_to_the_one_by_node() {
    explained("ml/training-3", &[], &["--nodes shows the devices of each rejected node"]);
}

#[test]
fn a_constraint_prevents_an_allocation() {
    let constraint = "no available devices meet the constraint matchAttribute example.com/numa";
    explained("ml/training-3", &["--node", "train-1"], &[constraint]);
    explained(
        "ml/training-3",
        &["--node", "train-2"],
        &["request gpu: 0 of 2 devices of the class are available, 1 needed"],
    );
}

#[test]
fn shared_counters_prevent_an_allocation() {
    explained("ml/inference-3", &["--node", "serve-1"], &["not enough left of shared counter gpu-0/memory"]);
}

#[test]
fn consumed_capacity_prevents_an_allocation() {
    explained("ml/streaming-3", &["--node", "train-1"], &["not enough capacity: nic.example.com/train-1/nic-0"]);
}

#[test]
fn programs_get_the_reason_of_each_device() {
    let report = schedc(&["explain", "ml/training-3", DEVICES, "--after", "-o", "json"]).json();
    let train = report["nodes"].as_array().expect("nodes").iter().find(|node| node["node"] == "train-1");
    let shortage = &train.expect("a node")["shortage"];
    assert_eq!(shortage["conflict"]["matchAttribute"], "example.com/numa");
    assert_eq!(shortage["requests"].as_array().map(Vec::len), Some(2));
}
