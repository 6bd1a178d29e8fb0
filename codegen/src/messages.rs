//! Messages about profiles and catalogs, by topic: one function for each error. `schedc-profile-rules` has those about the
//! form of values, arguments, extenders and the sum of weights.

mod catalogs;
mod cross_profile;
mod plugins;
mod settings;

pub(crate) use catalogs::*;
pub(crate) use cross_profile::*;
pub(crate) use plugins::*;
pub(crate) use schedc_profile_rules::messages::*;
pub(crate) use settings::*;
