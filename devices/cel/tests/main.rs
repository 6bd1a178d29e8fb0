//! Expressions with their results: CEL's language, Kubernetes' libraries, the device, errors, costs and limits.

mod allocations;
mod costs;
mod device;
mod errors;
mod language;
mod libraries;
mod limits;
mod macros;
mod properties;
mod table;

use schedc_cel::{Attribute, Devices, Selector};

/// Creates a table with one GPU, which has attributes of all types.
pub(crate) fn gpu() -> Devices {
    let mut devices = Devices::new();
    devices
        .add("gpu.example.com", false)
        .attribute("model", Attribute::String("A100".into()))
        .attribute("numa", Attribute::Int(1))
        .attribute("healthy", Attribute::Bool(true))
        .version("driverVersion", "1.2.3")
        .attribute("dra.example.com/pcieRoot", Attribute::String("pci0000:01".into()))
        .capacity("memory", "40Gi".parse().expect("a quantity"))
        .capacity("dra.example.com/lanes", "16".parse().expect("a quantity"));
    devices
}

/// Returns the result of an expression for the GPU.
pub(crate) fn evaluate(text: &str) -> Result<bool, String> {
    let selector = Selector::compile(text).map_err(|error| format!("compile: {error}"))?;
    let devices = gpu();
    selector.matches(devices.get(0).expect("one device")).map_err(|error| format!("run: {error}"))
}

/// Checks that each line is true.
#[track_caller]
pub(crate) fn all_true(lines: &str) {
    all(lines, true);
}

/// Checks that each line is false.
#[track_caller]
pub(crate) fn all_false(lines: &str) {
    all(lines, false);
}

#[track_caller]
fn all(lines: &str, expected: bool) {
    let wrong: Vec<String> = lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .filter_map(|line| match evaluate(line) {
            Ok(result) if result == expected => None,
            other => Some(format!("{line}\n    {other:?}")),
        })
        .collect();
    assert!(wrong.is_empty(), "expected {expected}:\n{}", wrong.join("\n"));
}

/// Checks that each expression fails with a message that contains the text.
#[track_caller]
pub(crate) fn all_fail(rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(text, message)| match evaluate(text) {
            Err(error) if error.contains(message) => None,
            other => Some(format!("{text}\n    expected {message}\n    {other:?}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
