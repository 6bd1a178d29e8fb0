//! Tests of the allocator, one file per topic.

mod admin_access;
mod all_mode;
mod alternatives;
mod basic;
mod changes;
mod cluster;
mod constraints;
mod consumable_capacity;
mod corpus;
mod count;
mod explanation;
mod incremental;
mod memory;
mod nodes;
mod partitions;
mod pools;
mod reference;
mod taints;

/// Returns a claim with one request `r` for `count` devices of class `gpu`. `fields`: other fields of the request.
fn request(count: u32, fields: &str) -> String {
    format!("requests: [{}]", part("r", count, fields))
}

/// Returns a request in a claim.
fn part(name: &str, count: u32, fields: &str) -> String {
    format!("{{name: {name}, exactly: {}}}", exactly(count, fields))
}

fn exactly(count: u32, fields: &str) -> String {
    format!("{{deviceClassName: gpu, allocationMode: ExactCount, count: {count}, {fields}}}")
}

/// Returns a claim with one request `r` for all devices of class `gpu`.
fn all(fields: &str) -> String {
    format!("requests: [{{name: r, exactly: {{deviceClassName: gpu, allocationMode: All, {fields}}}}}]")
}

fn selector(expression: &str) -> String {
    format!("selectors: [{{cel: {{expression: '{expression}'}}}}]")
}

/// Returns devices with these names and models.
fn models(devices: &[(&str, &str)]) -> String {
    let device = |(name, model): &(&str, &str)| format!("{{name: {name}, attributes: {{model: {{string: {model}}}}}}}");
    devices.iter().map(device).collect::<Vec<_>>().join(", ")
}

const NONE: &str = "cannot allocate all claims";
