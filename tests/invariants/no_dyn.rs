//! No virtual call happens from the pop of a pod to its decision: core, plugins and generated code contain no `dyn`,
//! except for background tasks of plugins and the type-erased schedulers around whole steps.

use std::path::{Path, PathBuf};

/// Returns the code of a line without comments and doc attributes, because these may contain the word `dyn`.
fn code(line: &str) -> &str {
    let code = line.split("//").next().unwrap_or("");
    if code.trim_start().starts_with("#[doc") { "" } else { code }
}

fn holds_dyn(line: &str) -> bool {
    code(line).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "dyn")
}

/// Background tasks of plugins, for which no decision waits, and type-erased schedulers, whose virtual calls are whole
/// steps such as an attempt.
const EXCEPTIONS: [&str; 2] = ["core/src/plugin_api/background", "core/src/scheduler/erased"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn core_and_plugins_hold_no_dyn() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("core/src"), &mut files);
    sources(&root.join("plugins/src"), &mut files);
    assert!(files.len() > 40, "too few sources found: did they move?");
    for exception in EXCEPTIONS.map(|exception| root.join(exception)) {
        assert!(files.iter().any(|file| file.starts_with(&exception)), "{} is there", exception.display());
        files.retain(|file| !file.starts_with(&exception));
    }
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        for (at, line) in text.lines().enumerate() {
            assert!(!holds_dyn(line), "{}:{}: {line}", file.display(), at + 1);
        }
    }
}

#[test]
fn generated_code_holds_no_dyn_and_no_function_pointer() {
    let generated = include_str!(concat!(env!("OUT_DIR"), "/pipelines.rs"));
    assert!(generated.contains("fn filter"), "this is the generated code");
    for line in generated.lines() {
        assert!(!holds_dyn(line), "{line}");
        assert!(!code(line).contains(": fn("), "{line}");
    }
}

#[test]
fn the_check_detects_a_dyn() {
    assert!(holds_dyn("    plugins: Vec<Box<dyn Plugin>>,"));
    assert!(!holds_dyn("    // no dyn here"));
    assert!(!holds_dyn("    let dynamic = 1;"));
}
