//! Plugins that cannot start.

use std::fmt;
use std::ops::Deref;

use crate::plugin_api::handle::Handle;
use crate::plugin_api::plugin::Plugin;

/// Error of a plugin that cannot start, or another error at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError {
    /// The plugin; empty if the error has another origin.
    pub plugin: &'static str,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.plugin {
            "" => f.write_str(&self.reason),
            plugin => write!(f, "plugin {plugin} cannot start: {}", self.reason),
        }
    }
}

impl std::error::Error for StartError {}

/// The start errors of a scheduler; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartErrors(Vec<StartError>);

impl From<Vec<StartError>> for StartErrors {
    fn from(errors: Vec<StartError>) -> Self {
        StartErrors(errors)
    }
}

impl Deref for StartErrors {
    type Target = [StartError];
    fn deref(&self) -> &[StartError] {
        &self.0
    }
}

impl IntoIterator for StartErrors {
    type Item = StartError;
    type IntoIter = std::vec::IntoIter<StartError>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for StartErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for StartErrors {}

/// Creates a plugin. If it cannot start, adds the reason to `errors`.
pub fn start<P: Plugin>(args: &'static P::Args, handle: &Handle, errors: &mut Vec<StartError>) -> Option<P> {
    P::new(args, handle).map_err(|reason| errors.push(StartError { plugin: P::NAME, reason })).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_several_plugins_are_one_error_with_a_line_for_each() {
        fn text(error: &impl std::error::Error) -> String {
            error.to_string()
        }
        let error = |plugin, reason: &str| StartError { plugin, reason: reason.to_owned() };
        let errors = StartErrors(vec![error("A", "no room"), error("B", "no key")]);
        assert_eq!(text(&errors), "plugin A cannot start: no room\nplugin B cannot start: no key");
    }

    #[test]
    fn an_error_of_no_plugin_is_displayed_as_its_reason_alone() {
        let error = StartError { plugin: "", reason: "no profile".to_owned() };
        assert_eq!(error.to_string(), "no profile");
    }
}
