//! The header declares what the library exports.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> String {
    fs::read_to_string(package().join("include/schedc.h")).unwrap()
}

/// Returns the names of functions that follow `before` in a text.
fn functions(text: &str, before: &str) -> BTreeSet<String> {
    let names = text.split(before).skip(1).filter(|rest| rest.starts_with("schedc_"));
    names
        .filter_map(|rest| rest.split_once('('))
        .map(|(name, _)| name.to_owned())
        .filter(|name| !name.contains(' '))
        .collect()
}

#[test]
fn every_exported_function_is_declared_and_called_in_c() {
    let mut exported = BTreeSet::new();
    for entry in fs::read_dir(package().join("src")).unwrap() {
        exported.extend(functions(&fs::read_to_string(entry.unwrap().path()).unwrap(), "extern \"C\" fn "));
    }
    assert!(exported.len() > 20, "{exported:?}");
    assert_eq!(functions(&header(), " "), exported);
    let program = fs::read_to_string(package().join("tests/conformance.c")).unwrap();
    let missing: Vec<_> = exported.iter().filter(|name| !program.contains(&format!("{name}("))).collect();
    assert!(missing.is_empty(), "tests/conformance.c does not call {missing:?}");
}

#[test]
fn the_header_is_the_output_of_cbindgen() {
    let cbindgen = env::var_os("CBINDGEN").unwrap_or_else(|| "cbindgen".into());
    let output = Command::new(cbindgen).arg("--quiet").arg(package()).output();
    let Ok(output) = output else {
        // The test passes even if this write fails.
        let _ = writeln!(
            io::stderr().lock(),
            "skipped the_header_is_the_output_of_cbindgen: cbindgen is not installed (`cargo install cbindgen --locked`)"
        );
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let generated = String::from_utf8(output.stdout).unwrap();
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(package().join("include/schedc.h"), &generated).unwrap();
    }
    assert_eq!(
        header(),
        generated,
        "UPDATE_EXPECT=1 cargo test -p schedc-c --test main header updates include/schedc.h"
    );
}
