//! Configurations and the results of their import.

mod arguments;
mod conformance;
mod errors;
mod extenders;
mod forms;
#[cfg(feature = "legacy")]
mod legacy;
mod plugins;
mod round_trips;

use expect_test::Expect;
use schedc_codegen::catalog::Catalog;
use schedc_codegen::source::Files;

use crate::{Import, Level, import, kube_scheduler};

/// Returns the remarks, followed by the profiles or the errors.
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

/// Imports a configuration, and compares the remarks and the profiles. `rest` follows `apiVersion` and `kind`.
fn check(rest: &str, expect: Expect) {
    expect.assert_eq(&shown(&import("c.yaml", &format!("{HEAD}{rest}"))));
}

/// Compares only the errors, one line each.
fn check_errors(rest: &str, expect: Expect) {
    let import = import("c.yaml", &format!("{HEAD}{rest}"));
    let errors = import.profiles.map(|_| "no errors".to_owned()).unwrap_or_else(|errors| errors.one_lines().join("\n"));
    expect.assert_eq(&errors);
}

/// Compares only the remarks.
fn check_remarks(rest: &str, expect: Expect) {
    let import = import("c.yaml", &format!("{HEAD}{rest}"));
    assert!(import.profiles.is_ok(), "{}", shown(&import));
    let lines: Vec<String> = import.remarks.iter().map(|remark| remark.one_line(&import.files)).collect();
    expect.assert_eq(&lines.join("\n"));
}

#[test]
fn the_table_of_plugins_agrees_with_the_catalog() {
    let mut files = Files::default();
    let catalog = Catalog::in_tree(&mut files, &mut Vec::new()).unwrap();
    let default: Vec<&str> = catalog.default.iter().map(|name| name.value.as_str()).collect();
    assert_eq!(default, kube_scheduler::DEFAULT_PLUGINS.each_ref().map(|plugin| plugin.name));
    let planned: Vec<&str> = catalog.planned.iter().map(|name| name.value.as_str()).collect();
    assert_eq!(planned, kube_scheduler::ALPHA_PLUGINS);
    assert_eq!(catalog.plugins.len(), kube_scheduler::DEFAULT_PLUGINS.len());
    for entry in &catalog.plugins {
        let known = kube_scheduler::find(&entry.name).unwrap();
        assert_eq!(entry.points, known.points, "{}", entry.name);
        assert_eq!(entry.default_weight, known.default_weight.max(1), "{}", entry.name);
    }
}
