//! The profiles in profiles/, and the example with all features.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::path::{Path, PathBuf};

use schedc_codegen::plan::Plan;
use schedc_codegen::{Compilation, NoCrates, Options, SourceText, compile, load, select};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn shipped() -> Compilation {
    let mut profiles = select(&root().join("profiles"), None).unwrap().profiles;
    profiles.push(root().join("examples/features.toml"));
    load(&profiles, &Options { manifest_dir: root() }).unwrap_or_else(|errors| panic!("{errors}"))
}

fn empty() -> Compilation {
    let source = SourceText { path: "profiles/empty.toml".to_owned(), text: String::new() };
    compile(&[source], &mut NoCrates).unwrap()
}

/// Returns the settings, plugins and weights of a plan as text, without source locations.
fn plan_text(plan: &Plan) -> String {
    let mut text = format!(
        "{} {}% {}..{}s\n",
        plan.scheduler_name.value,
        plan.percentage_of_nodes_to_score.value,
        plan.pod_initial_backoff_seconds.value,
        plan.pod_max_backoff_seconds.value
    );
    for (point, steps) in plan.points.iter() {
        for step in steps {
            let weight = step.weight.as_ref().map(|weight| weight.value);
            text.push_str(&format!("{point} {} {weight:?}\n", plan.plugin(step).entry.name));
        }
    }
    text
}

#[test]
fn shipped_profiles_compile_together() {
    let names: Vec<String> = shipped().plans.iter().map(|plan| plan.stem.clone()).collect();
    for name in ["default", "edge", "binpack", "features"] {
        assert!(names.iter().any(|other| other == name), "{name} is in {names:?}");
    }
}

#[test]
fn default_is_the_empty_profile() {
    let shipped = shipped();
    let default = shipped.plans.iter().find(|plan| plan.stem == "default").unwrap();
    assert_eq!(plan_text(default), plan_text(&empty().plans[0]));
}

#[test]
fn the_example_with_all_features_names_all_points_and_settings() {
    let text = std::fs::read_to_string(root().join("examples/features.toml")).unwrap();
    let points = schedc_codegen::plan::Point::ALL.map(|point| point.name());
    let keys = ["scheduler-name", "percentage-of-nodes-to-score", "pod-initial-backoff-seconds"];
    let more = ["pod-max-backoff-seconds", "# crates", "multi-point", "enabled", "disabled", "weight", "[args."];
    for key in points.iter().chain(&keys).chain(&more) {
        assert!(text.contains(key), "{key} is shown");
    }
}

#[test]
fn the_example_with_all_features_has_arguments_of_every_plugin_that_has_any() {
    let text = std::fs::read_to_string(root().join("examples/features.toml")).unwrap();
    let args = std::fs::read_to_string(root().join("codegen/rules/catalog/in-tree-args.json")).unwrap();
    let args: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&args).unwrap();
    assert!(args.contains_key("NodeAffinity"));
    for plugin in args.keys() {
        assert!(text.contains(&format!("[args.{plugin}")), "{plugin}");
    }
}

#[test]
fn files_that_were_read_are_watched() {
    let selection = select(&root().join("profiles"), None).unwrap();
    assert_eq!(selection.watched, [root().join("profiles")]);
    assert_eq!(shipped().watched[..selection.profiles.len()], selection.profiles);
    assert_eq!(shipped().plans[0].path, "profiles/binpack.toml");
}

/// A profile with any part removed compiles, or its errors can be displayed.
#[test]
fn damaged_profiles_are_refused_with_messages() {
    let text = std::fs::read_to_string(root().join("examples/features.toml")).unwrap();
    let text: String = text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line} # é\n")).collect();
    let cuts = |width: usize| (0..text.len() - width).step_by(9).map(move |start| start..start + width);
    for cut in cuts(1).chain(cuts(4)).chain(cuts(200)) {
        let (Some(before), Some(after)) = (text.get(..cut.start), text.get(cut.end..)) else { continue };
        let source = SourceText { path: "profiles/damaged.toml".to_owned(), text: format!("{before}{after}") };
        if let Err(errors) = compile(&[source], &mut NoCrates) {
            assert!(errors.render(false).starts_with("error: "), "{errors}");
            assert!(errors.one_lines().iter().all(|line| line.starts_with("profiles/damaged.toml:")), "{errors}");
        }
    }
}
