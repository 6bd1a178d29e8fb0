//! A custom resource that serde cannot deserialize.

use schedc_core::custom::CustomResource;

pub struct Shift {
    pub night_only: bool,
}

impl CustomResource for Shift {
    const RESOURCE: &'static str = "shifts.v1.example.com";
}

fn main() {}
