//! What is said of a flag.

/// A flag of kube-scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its name, without dashes.
    pub name: &'static str,
    /// What its value is.
    pub kind: ValueType,
    /// kube-scheduler's default, as its `--help` prints it.
    pub default: &'static str,
    /// Where `--help` lists it.
    pub section: Section,
    /// A sentence.
    pub help: &'static str,
    /// What becomes of it.
    pub support: FlagSupport,
}

/// What becomes of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagSupport {
    /// It does what it does in kube-scheduler.
    Honoured,
    /// It is accepted and changes nothing.
    Ignored(UnsupportedFlag),
    /// It is an error, since whoever sets it relies on it.
    Refused(UnsupportedFlag),
}

/// A flag that is not honoured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedFlag {
    /// Values that say what is so anyway: nothing needs to be said about them.
    pub accepted_values: &'static [&'static str],
    /// Why it is ignored, or what to do instead.
    pub explanation: &'static str,
}

/// What the value of a flag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A text.
    Text,
    /// Texts, separated by commas.
    Texts,
    /// `true`, `false`, or nothing, which is `true`.
    Bool,
    /// A number.
    Int,
    /// A number of 32 bits.
    Int32,
    /// Numbers, separated by commas.
    Int32s,
    /// A number with a fraction.
    Float32,
    /// A duration, such as `1m30s`.
    Duration,
    /// An address.
    Ip,
    /// An amount of bytes, such as `1Ki`.
    Quantity,
    /// How much is logged.
    Level,
    /// `key=value`, separated by commas.
    Pairs,
    /// `component:key=value`, separated by commas.
    ComponentPairs,
    /// Files of a certificate and its key, and the names that it is for.
    NamedCertificate,
    /// `file=level`, separated by commas.
    LevelPatterns,
    /// Prints a version and ends.
    Version,
}

/// kube-scheduler's groups of flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// What fits nowhere else.
    Misc,
    /// The HTTPS server.
    Serving,
    /// Who calls.
    Authentication,
    /// Who may call.
    Authorization,
    /// What `--config` is for.
    Deprecated,
    /// One of several replicas.
    LeaderElection,
    /// What depends on the version.
    Features,
    /// Metrics.
    Metrics,
    /// Logs.
    Logs,
    /// What every program has.
    Global,
}

impl Section {
    /// The heading in `--help`.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Misc => "Kubernetes",
            Self::Serving => "Serving",
            Self::Authentication => "Authentication",
            Self::Authorization => "Authorization",
            Self::Deprecated => "Connection (ignored with --config)",
            Self::LeaderElection => "Leader election",
            Self::Features => "Feature gates",
            Self::Metrics => "Metrics",
            Self::Logs => "Logs",
            Self::Global => "Global",
        }
    }
}
