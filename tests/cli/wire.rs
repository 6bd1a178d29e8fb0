//! `schedc bench --wire`

use crate::cli::harness::schedc;

#[test]
fn run_is_measured_at_a_fake_api_server() {
    if slow_tests::is_skipped("it measures for half a minute") {
        return;
    }
    let report = schedc(&["bench", "--wire", "--nodes", "20", "--seconds", "1", "-o", "json"]).json();
    let loads = report["loads"].as_array().expect("a list");
    let pods: Vec<_> = loads.iter().map(|load| load["pods"].as_u64()).collect();
    assert_eq!((&report["nodes"], pods), (&20.into(), vec![Some(20), Some(500)]));
    let start = &report["start"];
    assert!(start["first_binding_ms"].as_f64().is_some_and(|time| time > 0.0), "{start}");
    let cpu = |key: &str| loads[1][key].as_f64().is_some_and(|amount| amount > 0.0);
    assert!(!cfg!(target_os = "linux") || cpu("cpu_us_per_pod") && cpu("resident_mb"), "{report}");
}

#[test]
fn wire_excludes_other_measurements() {
    for args in [["bench", "--wire", "some.yaml"], ["bench", "--wire", "--cost"]] {
        let run = schedc(&args);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("cannot be used with"), "{}", run.stderr);
    }
    let run = schedc(&["bench", "--wire", "--program", "target/none"]);
    assert!(run.refused().contains("target/none: cannot start: "));
}
