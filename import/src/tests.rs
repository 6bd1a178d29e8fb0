//! Configurations and what becomes of them.

mod arguments;
mod conformance;
mod errors;
mod forms;
mod plugins;

use std::sync::Arc;

use expect_test::Expect;
use schedc_codegen::catalog::{ArgsSchema, Catalog, PluginEntry};
use schedc_codegen::source::{Files, Span, Spanned};

use crate::{Import, Level, import, import_with, kube};

/// The catalog with all of kube-scheduler's plugins, whether schedc has them already or not.
fn complete_catalog() -> (Catalog, Files) {
    let mut files = Files::default();
    let mut found = Vec::new();
    let mut catalog = Arc::unwrap_or_clone(Catalog::in_tree(&mut files, &mut found).unwrap());
    let declared_at = Span { file: catalog.file, start: 0, end: 0 };
    for plugin in &kube::DEFAULT_PLUGINS {
        if catalog.plugins.iter().all(|entry| entry.name != plugin.name) {
            catalog.plugins.push(Arc::new(PluginEntry {
                name: plugin.name.to_owned(),
                declared_at,
                crate_name: "schedc_plugins".to_owned(),
                path: format!("schedc_plugins::{}", plugin.name),
                points: plugin.points.to_vec(),
                columns: Vec::new(),
                indexes: Vec::new(),
                reads: Vec::new(),
                default_weight: plugin.default_weight.max(1),
                normalizes: false,
                prepares_score: false,
                enqueue_extensions: false,
                watches: Vec::new(),
                description: String::new(),
                args: ArgsSchema::Opaque,
            }));
        }
    }
    catalog.planned.clear();
    catalog.default = kube::DEFAULT_PLUGINS
        .iter()
        .map(|plugin| Spanned { value: plugin.name.to_owned(), span: declared_at })
        .collect();
    (catalog, files)
}

fn complete_import(path: &str, text: &str) -> Import {
    let (catalog, files) = complete_catalog();
    import_with(&catalog, files, path, text)
}

/// What is said, then the profiles or the errors.
fn shown(import: &Import) -> String {
    let mut text = String::new();
    for remark in &import.remarks {
        let level = match remark.level {
            Level::Warning => "warning",
            Level::Note => "note",
        };
        text.push_str(&format!("{level}: {}\n", remark.one_line(&import.files)));
    }
    match &import.profiles {
        Ok(profiles) => profiles.iter().for_each(|profile| text.push_str(&profile.toml)),
        Err(errors) => text.push_str(&errors.to_string()),
    }
    text
}

const HEAD: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

/// Imports what follows the type of a configuration.
fn check(rest: &str, expect: Expect) {
    expect.assert_eq(&shown(&complete_import("c.yaml", &format!("{HEAD}{rest}"))));
}

/// The same, and only the errors, a line each.
fn check_errors(rest: &str, expect: Expect) {
    let import = complete_import("c.yaml", &format!("{HEAD}{rest}"));
    let errors = import.profiles.map(|_| "no errors".to_owned()).unwrap_or_else(|errors| errors.one_lines().join("\n"));
    expect.assert_eq(&errors);
}

/// The same, and only what is said besides.
fn check_remarks(rest: &str, expect: Expect) {
    let import = complete_import("c.yaml", &format!("{HEAD}{rest}"));
    assert!(import.profiles.is_ok(), "{}", shown(&import));
    let lines: Vec<String> = import.remarks.iter().map(|remark| remark.one_line(&import.files)).collect();
    expect.assert_eq(&lines.join("\n"));
}

#[test]
fn the_table_is_that_of_the_catalog() {
    let mut files = Files::default();
    let catalog = Catalog::in_tree(&mut files, &mut Vec::new()).unwrap();
    let mut named: Vec<&str> = catalog.default.iter().chain(&catalog.planned).map(|name| name.value.as_str()).collect();
    named.extend(
        catalog
            .plugins
            .iter()
            .map(|entry| entry.name.as_str())
            .filter(|name| !named.contains(name))
            .collect::<Vec<_>>(),
    );
    let mut known: Vec<&str> = kube::DEFAULT_PLUGINS.iter().map(|plugin| plugin.name).collect();
    named.sort_unstable();
    known.sort_unstable();
    assert_eq!(named, known);
    for entry in &catalog.plugins {
        let known = kube::find(&entry.name).unwrap();
        assert!(entry.points.iter().all(|point| known.points.contains(point)), "{}", entry.name);
        assert_eq!(entry.default_weight, known.default_weight.max(1), "{}", entry.name);
    }
}

#[test]
fn what_schedc_has_today_is_enough_for_a_profile() {
    let import = import("c.yaml", HEAD);
    assert!(import.profiles.is_ok(), "{}", shown(&import));
}
