//! `schedc fuzz`

use crate::cli::harness::schedc;

#[test]
fn nothing_breaks() {
    let args = ["fuzz", "--seed", "5", "--steps", "3000"];
    let text = schedc(&args).ok();
    assert!(text.starts_with("3,000 steps in "), "{text}");
    assert!(text.lines().any(|line| line.ends_with("  bind: conflict")), "{text}");
    let report = schedc(&[&args[..], &["-o", "json"]].concat()).json();
    assert_eq!((&report["seed"], &report["simulated"]["steps"]), (&5.into(), &3000.into()));
    let bound = report["attempt"]["bound"].as_u64().unwrap_or_default();
    assert!(bound > 50, "{report}");
}
