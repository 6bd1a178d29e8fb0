//! A custom resource that a plugin reads.

use schedc_core::custom::{CustomResource, Lister};
use schedc_core::intern::Symbol;
use serde::Deserialize;

#[derive(Deserialize)]
pub struct Shift {
    pub spec: ShiftSpec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShiftSpec {
    pub night_only: bool,
}

impl CustomResource for Shift {
    /// Resource, version and group.
    const RESOURCE: &'static str = "shifts.v1.example.com";
}

fn is_for_nights(shifts: &Lister<Shift>, namespace: Symbol, name: Symbol) -> Result<bool, String> {
    match shifts.get(namespace, name).map(|listed| &listed.content) {
        Some(Ok(shift)) => Ok(shift.spec.night_only),
        Some(Err(error)) => Err(format!("the shift cannot be read: {error}")),
        None => Err("there is no such shift".to_owned()),
    }
}

#[test]
fn a_missing_shift_is_not_a_night_shift() {
    let found = is_for_nights(&Lister::default(), Symbol::EMPTY, Symbol::EMPTY);
    assert_eq!(found, Err("there is no such shift".to_owned()));
}
