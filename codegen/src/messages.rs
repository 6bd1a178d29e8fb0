//! All messages about profiles and catalogs, by topic: one function for each error. Those about the form of values,
//! arguments and extenders are in `schedc-profile-rules`.

mod catalogs;
mod cross_profile;
mod plugins;
mod settings;

pub(crate) use catalogs::*;
pub(crate) use cross_profile::*;
pub(crate) use plugins::*;
pub(crate) use schedc_profile_rules::messages::*;
pub(crate) use settings::*;
