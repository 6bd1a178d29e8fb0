//! Errors that appear only in constants: a field that entries do not have, a default that a nested type does not have.

use schedc_core::args::{Args, List};

#[derive(Clone, Copy, Args)]
struct Resource {
    #[args(required)]
    name: &'static str,
}

#[derive(Clone, Copy, Args)]
struct Unique {
    #[args(unique = "nmae")]
    resources: List<Resource, 4>,
}

#[derive(Clone, Copy, Args)]
struct NoDefault {
    resource: Resource,
}

fn main() {}
