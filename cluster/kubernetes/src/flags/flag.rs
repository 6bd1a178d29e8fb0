//! Definitions of flags.

/// A flag of kube-scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Name, without dashes.
    pub name: &'static str,
    /// Type of the value.
    pub kind: ValueType,
    /// kube-scheduler's default, as its `--help` prints it.
    pub default: &'static str,
    /// Section of `--help`.
    pub section: Section,
    /// Help text.
    pub help: &'static str,
    /// Treatment by schedc.
    pub support: FlagSupport,
}

/// Treatment of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagSupport {
    /// Same effect as in kube-scheduler.
    Supported,
    /// Accepted without effect.
    Ignored(UnsupportedFlag),
    /// An error, since users of the flag rely on its effect.
    Refused(UnsupportedFlag),
}

/// Flag without support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedFlag {
    /// Values that describe schedc's behaviour, and therefore cause no message.
    pub accepted_values: &'static [&'static str],
    /// Reason why the flag is ignored, or the alternative to it.
    pub explanation: &'static str,
}

/// Type of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// String.
    Text,
    /// Strings, separated by commas.
    Texts,
    /// `true`, `false`, or empty, which means `true`.
    Bool,
    /// Integer.
    Int,
    /// Integer of 32 bits.
    Int32,
    /// Integers, separated by commas.
    Int32s,
    /// Floating-point number.
    Float32,
    /// Duration, such as `1m30s`.
    Duration,
    /// IP address.
    Ip,
    /// Number of bytes, such as `1Ki`.
    Quantity,
    /// Log verbosity.
    Level,
    /// `key=value`, separated by commas.
    Pairs,
    /// `component:key=value`, separated by commas.
    ComponentPairs,
    /// Files of a certificate and its key, with the host names that it serves.
    NamedCertificate,
    /// `file=level`, separated by commas.
    LevelPatterns,
    /// Prints the version and exits.
    Version,
}

/// Section of kube-scheduler's flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Flags without a section.
    Misc,
    /// The HTTPS server.
    Serving,
    /// Authentication.
    Authentication,
    /// Authorization.
    Authorization,
    /// Flags that kube-scheduler deprecates. `--config` replaces those for the connection.
    Deprecated,
    /// Leader election.
    LeaderElection,
    /// Feature gates and versions.
    Features,
    /// Metrics.
    Metrics,
    /// Logs.
    Logs,
    /// Flags of every program.
    Global,
}

impl Section {
    /// Returns the heading in `--help`.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Misc => "Kubernetes",
            Self::Serving => "Serving",
            Self::Authentication => "Authentication",
            Self::Authorization => "Authorization",
            Self::Deprecated => "Deprecated in kube-scheduler",
            Self::LeaderElection => "Leader election",
            Self::Features => "Feature gates",
            Self::Metrics => "Metrics",
            Self::Logs => "Logs",
            Self::Global => "Global",
        }
    }
}
