//! The tests in docs/pitfalls.md exist.

use std::collections::BTreeMap;
use std::path::Path;

/// Returns the texts between backquotes.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[test]
fn every_named_test_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = std::fs::read_to_string(root.join("docs/pitfalls.md")).unwrap();
    let mut folders = BTreeMap::new();
    let mut rows = 0;
    for line in document.lines() {
        if line.starts_with("- ") {
            let names: Vec<&str> = quoted(line).collect();
            folders.insert(names[0], names[1]);
        }
        if !line.starts_with("| ") || line.ends_with("| tests |") {
            continue;
        }
        rows += 1;
        let mut named = 0;
        for test in line.split(" | ").last().into_iter().flat_map(quoted) {
            let (module, name) = test.split_once("::").unwrap_or_else(|| panic!("`{test}` is not of a module"));
            let (folder, file) = module.split_once('/').unwrap_or_else(|| panic!("`{test}` is in no folder"));
            let folder = folders.get(folder).copied().unwrap_or(folder);
            let module = root.join(folder).join(file);
            let paths = [module.with_extension("rs"), module.join("mod.rs")];
            let path =
                paths.iter().find(|path| path.is_file()).unwrap_or_else(|| panic!("{test}: there is no such module"));
            let text = std::fs::read_to_string(path).unwrap();
            assert!(text.contains(&format!("fn {name}(")), "{} has no {name}", path.display());
            named += 1;
        }
        assert!(named > 0, "no test covers this: {line}");
    }
    assert!(rows > 20, "too few rows found: did the tables move?");
}
