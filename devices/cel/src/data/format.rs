//! Named formats of the Kubernetes API.

/// Format that strings can be validated against.
#[derive(Debug)]
pub(crate) struct Format {
    pub(crate) name: &'static str,
    /// Kubernetes' estimate of the length of the format's regular expression, which determines the cost.
    pub(crate) regex_size: u64,
    /// Returns the reason why a string does not have this format.
    pub(crate) check: fn(&str) -> Option<String>,
}
