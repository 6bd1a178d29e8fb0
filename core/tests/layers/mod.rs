//! Each layer of this crate uses only itself and the layers before it, and the tables of modules in the documentation
//! are complete.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The layers, the lowest first.
const LAYERS: [&str; 5] = ["model", "plugin_api", "profile_api", "engine", "scheduler"];

/// Files outside of the layers. They re-export names of all layers.
const FACADES: [&str; 2] = ["lib.rs", "prelude.rs"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { sources(&path, found)? } else { found.push(path) }
    }
    Ok(())
}

/// Returns the root modules that are named by the paths in a line: each is the segment after `crate::`, or after as
/// many `super::` as lead to the root. The line is in a module at `depth` below the root.
fn modules_at_root(line: &str, depth: usize) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or("");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate` in a macro is a path for other crates.
        if !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == '$') {
            found.push(segment(&code[at + "crate::".len()..]));
        }
    }
    let mut rest = code;
    while let Some(at) = rest.find("super::") {
        let mut above = 0;
        rest = &rest[at..];
        while let Some(further) = rest.strip_prefix("super::") {
            (rest, above) = (further, above + 1);
        }
        if above >= depth && LAYERS.contains(&segment(rest)) {
            found.push(segment(rest));
        }
    }
    found
}

fn segment(path: &str) -> &str {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("")
}

/// Returns the position of a layer; `None` for other modules.
fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == name)
}

/// Returns whether code in the layer at `user` may use `module` of the crate root. Re-exports at the root are not
/// accepted: an import has to name the layer.
fn may_use(user: usize, module: &str) -> bool {
    layer(module).is_some_and(|used| used <= user)
}

#[test]
fn no_layer_uses_a_later_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files).unwrap();
    let mut faults = Vec::new();
    for file in files {
        let path = file.strip_prefix(&root).unwrap();
        let names: Vec<&str> = path.iter().map(|name| name.to_str().unwrap()).collect();
        if names.len() == 1 && FACADES.contains(&names[0]) {
            continue;
        }
        let Some(user) = layer(names[0]) else {
            faults.push(format!("{} is in no layer", path.display()));
            continue;
        };
        let depth = names.len() - usize::from(names.ends_with(&["mod.rs"]));
        for (line, text) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            if !modules_at_root(text, depth).into_iter().all(|module| may_use(user, module)) {
                faults.push(format!("{}:{}: {}", path.display(), line + 1, text.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "paths to a later layer, or without a layer:\n{}", faults.join("\n"));
}

/// Returns the modules that a file declares, and that the table in its documentation lacks.
fn missing_in_table(source: &str) -> Vec<&str> {
    let rows: Vec<&str> = source.lines().filter(|line| line.starts_with("//! | ")).collect();
    if !rows.iter().any(|row| row.starts_with("//! | module |")) {
        return Vec::new();
    }
    let declared =
        source.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let is_listed = |module: &str| rows.iter().any(|row| row.contains(&format!("`{module}`")));
    declared.filter(|module| *module != "tests" && !is_listed(module)).collect()
}

#[test]
fn tables_of_modules_are_complete() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files).unwrap();
    let mut missing = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        missing.extend(missing_in_table(&source).into_iter().map(|module| format!("{}: {module}", file.display())));
    }
    assert!(missing.is_empty(), "missing in the table of modules:\n{}", missing.join("\n"));
    assert_eq!(missing_in_table("//! | module |\n//! | `a` |\nmod a;\npub mod b;\nmod tests;"), ["b"]);
}

#[test]
fn paths_to_later_layers_are_detected() {
    let engine = layer("engine").unwrap();
    let accepted = |line, depth| modules_at_root(line, depth).into_iter().all(|module| may_use(engine, module));
    assert!(accepted("use crate::model::Pod;", 2));
    assert!(accepted("use super::feasible::nodes_to_find;", 2));
    assert!(accepted("    // As in crate::scheduler::Outcome.", 2));
    assert!(accepted("$crate::catalog_checks::Filter", 2));
    assert!(!accepted("use crate::scheduler::Outcome;", 2));
    assert!(!accepted("let outcome: Option<crate::scheduler::Outcome> = None;", 2));
    assert!(!accepted("use super::super::scheduler::Outcome;", 2));
    assert!(!accepted("use crate::queue::SchedulingQueue;", 2));
}
