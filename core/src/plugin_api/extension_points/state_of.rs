//! The cycle states that a plugin reads of other plugins.

use std::marker::PhantomData;

use super::PreFilterPlugin;
use crate::plugin_api::plugin::{CycleSlot, ReadSet};

/// The PreFilter state of a plugin that must be in the profile; otherwise the profile does not compile.
pub struct StateOf<P>(PhantomData<fn() -> P>);
impl<P: PreFilterPlugin> ReadSet for StateOf<P> {
    type Refs<'a> = &'a CycleSlot<<P as PreFilterPlugin>::Cycle>;
}

/// The PreFilter state of a plugin, if the profile has this plugin.
pub struct OptionalStateOf<P>(PhantomData<fn() -> P>);
impl<P: PreFilterPlugin> ReadSet for OptionalStateOf<P> {
    type Refs<'a> = Option<&'a CycleSlot<<P as PreFilterPlugin>::Cycle>>;
}
