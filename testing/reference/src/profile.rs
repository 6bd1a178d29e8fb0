//! The plugins of a profile.

use std::fmt;

use crate::args::Args;
use crate::plugin::Plugin;
use crate::plugins;

/// Plugins of a profile, with their arguments.
pub struct Profile {
    pub(crate) pre_filters: Vec<&'static dyn Plugin>,
    pub(crate) filters: Vec<&'static dyn Plugin>,
    pub(crate) scores: Vec<(&'static dyn Plugin, i64)>,
    pub(crate) args: Args,
}

/// Error for a profile with a plugin that has no reference implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPlugin(pub String);

impl fmt::Display for UnknownPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no reference implementation of {}", self.0)
    }
}

impl std::error::Error for UnknownPlugin {}

impl Profile {
    /// Returns a profile with these plugins in the given order. `scores` has the Score plugins with their weights.
    ///
    /// # Errors
    /// Returns an error if a plugin is unknown.
    pub fn new<'n>(
        pre_filters: impl IntoIterator<Item = &'n str>,
        filters: impl IntoIterator<Item = &'n str>,
        scores: impl IntoIterator<Item = (&'n str, i64)>,
        args: Args,
    ) -> Result<Profile, UnknownPlugin> {
        let find = |name: &'n str| plugins::named(name).ok_or_else(|| UnknownPlugin(name.to_owned()));
        let scores = scores.into_iter().map(|(name, weight)| Ok((find(name)?, weight)));
        Ok(Profile {
            pre_filters: pre_filters.into_iter().map(find).collect::<Result<_, _>>()?,
            filters: filters.into_iter().map(find).collect::<Result<_, _>>()?,
            scores: scores.collect::<Result<_, _>>()?,
            args,
        })
    }
}
