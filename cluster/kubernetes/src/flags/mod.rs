//! kube-scheduler's command line.
//!
//! The [table](FLAGS) contains every flag of kube-scheduler 1.36.2. A supported flag sets a field of [`Flags`]. Other
//! flags are ignored with a warning, or refused with an alternative. There is no warning and no error for a value that
//! describes schedc's behaviour.
//!
//! All problems of a command line that clap can parse are reported at once.

mod check;
mod flag;
mod flag_values;
mod table;
mod values;

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches, value_parser};

use crate::election::LeaderElectionConfiguration;

pub use flag::{Flag, FlagSupport, Section, UnsupportedFlag, ValueType};
pub use flag_values::FlagValues;
pub use table::FLAGS;
pub(crate) use table::NO_GO_PROFILES;
pub use values::duration;

/// Parsed command line. A field is `None` if its flag is not set; a value in the file of `--config`, or the default,
/// then applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Flags {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--write-config-to`
    pub write_config_to: Option<PathBuf>,
    /// Connection to the API server.
    pub connection: Connection,
    /// `--pod-max-in-unschedulable-pods-duration`
    pub max_unschedulable_time: Option<Duration>,
    /// Leader election.
    pub leader_election: LeaderElection,
    /// The HTTPS server.
    pub serving: Serving,
    /// Authentication of clients of the HTTPS server.
    pub authentication: Authentication,
    /// Authorization of clients of the HTTPS server.
    pub authorization: Authorization,
    /// `--disabled-metrics`
    pub disabled_metrics: Vec<String>,
    /// Logs.
    pub logging: Logging,
    /// Warnings about flags without effect.
    pub warnings: Vec<String>,
}

/// Connection to the API server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connection {
    /// `--kubeconfig`; if `None`, `master` or else the environment of a pod determines the API server.
    pub kubeconfig: Option<PathBuf>,
    /// `--master`
    pub master: Option<String>,
    /// `--kube-api-qps`; no limit unless given.
    pub qps: Option<f32>,
    /// `--kube-api-burst`
    pub burst: Option<u32>,
}

/// Leader election flags, which override the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaderElection {
    /// `--leader-elect`
    pub leader_elect: Option<bool>,
    /// `--leader-elect-lease-duration`
    pub lease_duration: Option<Duration>,
    /// `--leader-elect-renew-deadline`
    pub renew_deadline: Option<Duration>,
    /// `--leader-elect-retry-period`
    pub retry_period: Option<Duration>,
    /// `--leader-elect-resource-name`
    pub name: Option<String>,
    /// `--leader-elect-resource-namespace`
    pub namespace: Option<String>,
}

/// The HTTPS server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serving {
    /// `--bind-address`
    pub address: IpAddr,
    /// `--secure-port`; 0 disables the server.
    pub port: u16,
    /// `--permit-address-sharing`
    pub share_address: bool,
    /// `--permit-port-sharing`
    pub share_port: bool,
    /// `--cert-dir`
    pub certificates: Option<PathBuf>,
    /// `--tls-cert-file` and `--tls-private-key-file`
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Whether `--tls-min-version` is `VersionTLS13`.
    pub tls13_only: bool,
    /// `--tls-cipher-suites`, supported ones only; empty: all.
    pub cipher_suites: Vec<String>,
    /// Whether HTTP/2 is served: the opposite of `--disable-http2-serving`.
    pub http2: bool,
    /// `--http2-max-streams-per-connection`
    pub streams: Option<u32>,
}

/// Authentication of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentication {
    /// `--authentication-kubeconfig`
    pub kubeconfig: Option<PathBuf>,
    /// `--authentication-skip-lookup`
    pub skip_lookup: bool,
    /// `--authentication-tolerate-lookup-failure`
    pub tolerate_lookup_failure: bool,
    /// `--authentication-token-webhook-cache-ttl`
    pub token_ttl: Duration,
    /// `--client-ca-file`
    pub client_ca: Option<PathBuf>,
    /// `--requestheader-client-ca-file`
    pub proxy_ca: Option<PathBuf>,
    /// `--requestheader-allowed-names`
    pub proxy_names: Vec<String>,
    /// `--requestheader-username-headers`
    pub user_headers: Vec<String>,
    /// `--requestheader-uid-headers`
    pub uid_headers: Vec<String>,
    /// `--requestheader-group-headers`
    pub group_headers: Vec<String>,
    /// `--requestheader-extra-headers-prefix`
    pub extra_headers: Vec<String>,
}

/// Authorization of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// `--authorization-kubeconfig`
    pub kubeconfig: Option<PathBuf>,
    /// `--authorization-always-allow-paths`
    pub always_allow: Vec<String>,
    /// `--authorization-webhook-cache-authorized-ttl`
    pub authorized_ttl: Duration,
    /// `--authorization-webhook-cache-unauthorized-ttl`
    pub unauthorized_ttl: Duration,
}

/// Logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logging {
    /// Whether `--logging-format` is `json`.
    pub json: bool,
    /// `-v`
    pub verbosity: u8,
    /// Whether only errors, and in text format also warnings, go to standard error, and all else to standard output:
    /// `--log-text-split-stream` or `--log-json-split-stream`, depending on the format.
    pub split: bool,
}

impl Default for Flags {
    /// Returns the values of a command line without flags.
    fn default() -> Self {
        Flags {
            config: None,
            write_config_to: None,
            connection: Connection::default(),
            max_unschedulable_time: None,
            leader_election: LeaderElection::default(),
            serving: Serving::default(),
            authentication: Authentication::default(),
            authorization: Authorization::default(),
            disabled_metrics: Vec::new(),
            logging: Logging::default(),
            warnings: Vec::new(),
        }
    }
}

impl Default for Serving {
    fn default() -> Self {
        Serving {
            address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            port: 10259,
            share_address: false,
            share_port: false,
            certificates: None,
            certificate: None,
            tls13_only: false,
            cipher_suites: Vec::new(),
            http2: true,
            streams: None,
        }
    }
}

impl Default for Authentication {
    fn default() -> Self {
        Authentication {
            kubeconfig: None,
            skip_lookup: false,
            tolerate_lookup_failure: true,
            token_ttl: TTL,
            client_ca: None,
            proxy_ca: None,
            proxy_names: Vec::new(),
            user_headers: vec!["x-remote-user".to_owned()],
            uid_headers: Vec::new(),
            group_headers: vec!["x-remote-group".to_owned()],
            extra_headers: vec!["x-remote-extra-".to_owned()],
        }
    }
}

impl Default for Authorization {
    fn default() -> Self {
        let always_allow = ["/healthz", "/readyz", "/livez"].map(str::to_owned).into();
        Authorization { kubeconfig: None, always_allow, authorized_ttl: TTL, unauthorized_ttl: TTL }
    }
}

/// Default lifetime of cached reviews.
const TTL: Duration = Duration::from_secs(10);

impl clap::Args for Flags {
    fn augment_args(command: Command) -> Command {
        FLAGS
            .iter()
            .filter(|flag| flag.section != Section::Global)
            .fold(command, |command, flag| command.arg(arg(flag)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Defines a flag for clap. Of repeated flags the last one wins, except for lists, which accumulate.
fn arg(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.name).help(help(flag)).help_heading(flag.section.heading());
    let arg = if flag.kind == ValueType::Level { arg.short('v').long(flag.name) } else { arg.long(flag.name) };
    let arg = arg.hide_short_help(flag.support != FlagSupport::Supported);
    let one = |arg: Arg| arg.action(ArgAction::Set).overrides_with(flag.name).num_args(1).allow_hyphen_values(true);
    match flag.kind {
        ValueType::Bool => arg
            .action(ArgAction::Set)
            .overrides_with(flag.name)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("BOOL")
            .value_parser(values::boolean),
        ValueType::Texts | ValueType::ComponentPairs | ValueType::Pairs | ValueType::LevelPatterns => {
            arg.action(ArgAction::Append).num_args(1).value_delimiter(',').value_name("LIST")
        }
        ValueType::Duration => one(arg).value_name("DURATION").value_parser(duration),
        ValueType::Ip => one(arg).value_name("ADDRESS").value_parser(value_parser!(IpAddr)),
        ValueType::Int => one(arg).value_name("NUMBER").value_parser(value_parser!(i64)),
        ValueType::Int32 => one(arg).value_name("NUMBER").value_parser(value_parser!(i32)),
        ValueType::Float32 => one(arg).value_name("NUMBER").value_parser(value_parser!(f32)),
        ValueType::Level => one(arg).value_name("NUMBER").value_parser(value_parser!(u8)),
        ValueType::Text
        | ValueType::Int32s
        | ValueType::Quantity
        | ValueType::NamedCertificate
        | ValueType::Version => one(arg).value_name("TEXT"),
    }
}

fn help(flag: &Flag) -> String {
    let default = match flag.default.trim_matches('"') {
        "" | "[]" => String::new(),
        default => format!(" [kube-scheduler's default: {default}]"),
    };
    match flag.support {
        FlagSupport::Supported => format!("{}{default}", flag.help),
        FlagSupport::Ignored(unsupported) => format!("{}{default}. Ignored: {}", flag.help, unsupported.explanation),
        FlagSupport::Refused(unsupported) => {
            format!("{}{default}. Not supported: {}", flag.help, unsupported.explanation)
        }
    }
}

impl LeaderElection {
    /// Returns `settings`, overridden by the flags that are set.
    pub(crate) fn override_settings(&self, settings: LeaderElectionConfiguration) -> LeaderElectionConfiguration {
        LeaderElectionConfiguration {
            leader_elect: self.leader_elect.unwrap_or(settings.leader_elect),
            lease_duration: self.lease_duration.unwrap_or(settings.lease_duration),
            renew_deadline: self.renew_deadline.unwrap_or(settings.renew_deadline),
            retry_period: self.retry_period.unwrap_or(settings.retry_period),
            name: self.name.clone().unwrap_or(settings.name),
            namespace: self.namespace.clone().unwrap_or(settings.namespace),
        }
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = ParsedFlags(matches);
        let (mut problems, warnings) = given.unsupported();
        let flags = Flags { warnings, ..given.flags(&mut problems) };
        let (more, warnings) = check::check(&flags);
        problems.extend(more);
        if problems.is_empty() {
            return Ok(Flags { warnings: [flags.warnings, warnings].concat(), ..flags }.with_known_cipher_suites());
        }
        Err(Error::raw(ErrorKind::ValueValidation, problems.join("\nerror: ") + "\n"))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Flags::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Flags {
    fn with_known_cipher_suites(mut self) -> Self {
        self.serving.cipher_suites.retain(|suite| check::is_cipher_suite(suite));
        self
    }
}

/// Command line as clap parsed it.
struct ParsedFlags<'a>(&'a ArgMatches);

impl ParsedFlags<'_> {
    fn get<T: Clone + Send + Sync + 'static>(&self, name: &str) -> Option<T> {
        self.0.get_one::<T>(name).cloned()
    }
    fn text(&self, name: &str) -> Option<String> {
        self.get::<String>(name).filter(|text| !text.is_empty())
    }
    fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }
    fn texts(&self, name: &str) -> Option<Vec<String>> {
        let texts = self.0.get_many::<String>(name)?;
        Some(texts.filter(|text| !text.is_empty()).cloned().collect())
    }
    fn is(&self, name: &str, default: bool) -> bool {
        self.get(name).unwrap_or(default)
    }

    /// Returns messages about refused flags and about ignored ones.
    fn unsupported(&self) -> (Vec<String>, Vec<String>) {
        let (mut refused, mut ignored) = (Vec::new(), Vec::new());
        for flag in FLAGS {
            let (messages, unsupported, what) = match flag.support {
                FlagSupport::Supported => continue,
                FlagSupport::Ignored(unsupported) => (&mut ignored, unsupported, "is ignored"),
                FlagSupport::Refused(unsupported) => (&mut refused, unsupported, "is not supported"),
            };
            let Some(values) = self.0.get_raw(flag.name) else { continue };
            let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
            let is_reported = |value: &str| !unsupported.accepted_values.contains(&value) && !value.is_empty();
            if values.iter().any(|value| is_reported(value)) {
                messages.push(format!("--{}={} {what}: {}", flag.name, values.join(","), unsupported.explanation));
            }
        }
        (refused, ignored)
    }

    fn flags(&self, problems: &mut Vec<String>) -> Flags {
        Flags {
            config: self.path("config"),
            write_config_to: self.path("write-config-to"),
            connection: Connection {
                kubeconfig: self.path("kubeconfig"),
                master: self.text("master"),
                qps: self.get("kube-api-qps"),
                burst: self.number::<i32, _>("kube-api-burst", problems),
            },
            max_unschedulable_time: self.get("pod-max-in-unschedulable-pods-duration"),
            leader_election: LeaderElection {
                leader_elect: self.get("leader-elect"),
                lease_duration: self.get("leader-elect-lease-duration"),
                renew_deadline: self.get("leader-elect-renew-deadline"),
                retry_period: self.get("leader-elect-retry-period"),
                // An empty name is an error, not the default.
                name: self.get("leader-elect-resource-name"),
                namespace: self.get("leader-elect-resource-namespace"),
            },
            serving: self.serving(problems),
            authentication: self.authentication(),
            authorization: self.authorization(),
            disabled_metrics: self.texts("disabled-metrics").unwrap_or_default(),
            logging: self.logging(problems),
            warnings: Vec::new(),
        }
    }

    fn serving(&self, problems: &mut Vec<String>) -> Serving {
        let default = Serving::default();
        let certificate = match (self.path("tls-cert-file"), self.path("tls-private-key-file")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                problems.push("--tls-cert-file and --tls-private-key-file must be set together".to_owned());
                None
            }
        };
        let tls13_only = match self.text("tls-min-version").as_deref() {
            None | Some("VersionTLS12") => false,
            Some("VersionTLS13") => true,
            Some(other) => {
                problems.push(format!("--tls-min-version={other}: the value must be VersionTLS12 or VersionTLS13"));
                false
            }
        };
        Serving {
            address: self.get("bind-address").unwrap_or(default.address),
            port: self.number::<i64, _>("secure-port", problems).unwrap_or(default.port),
            share_address: self.is("permit-address-sharing", false),
            share_port: self.is("permit-port-sharing", false),
            certificates: self.path("cert-dir"),
            certificate,
            tls13_only,
            cipher_suites: self.texts("tls-cipher-suites").unwrap_or_default(),
            http2: !self.is("disable-http2-serving", false),
            streams: self.number::<i64, _>("http2-max-streams-per-connection", problems).filter(|&streams| streams > 0),
        }
    }

    fn authentication(&self) -> Authentication {
        let default = Authentication::default();
        Authentication {
            kubeconfig: self.path("authentication-kubeconfig"),
            skip_lookup: self.is("authentication-skip-lookup", default.skip_lookup),
            tolerate_lookup_failure: self.is("authentication-tolerate-lookup-failure", default.tolerate_lookup_failure),
            token_ttl: self.get("authentication-token-webhook-cache-ttl").unwrap_or(default.token_ttl),
            client_ca: self.path("client-ca-file"),
            proxy_ca: self.path("requestheader-client-ca-file"),
            proxy_names: self.texts("requestheader-allowed-names").unwrap_or(default.proxy_names),
            user_headers: self.texts("requestheader-username-headers").unwrap_or(default.user_headers),
            uid_headers: self.texts("requestheader-uid-headers").unwrap_or(default.uid_headers),
            group_headers: self.texts("requestheader-group-headers").unwrap_or(default.group_headers),
            extra_headers: self.texts("requestheader-extra-headers-prefix").unwrap_or(default.extra_headers),
        }
    }

    fn authorization(&self) -> Authorization {
        let default = Authorization::default();
        Authorization {
            kubeconfig: self.path("authorization-kubeconfig"),
            always_allow: self.texts("authorization-always-allow-paths").unwrap_or(default.always_allow),
            authorized_ttl: self.get("authorization-webhook-cache-authorized-ttl").unwrap_or(default.authorized_ttl),
            unauthorized_ttl: self
                .get("authorization-webhook-cache-unauthorized-ttl")
                .unwrap_or(default.unauthorized_ttl),
        }
    }

    fn logging(&self, problems: &mut Vec<String>) -> Logging {
        let is_json = match self.text("logging-format").as_deref() {
            None | Some("text") => false,
            Some("json") => true,
            Some(other) => {
                problems.push(format!("--logging-format={other}: the value must be `text` or `json`"));
                false
            }
        };
        let split = if is_json { "log-json-split-stream" } else { "log-text-split-stream" };
        Logging { json: is_json, verbosity: self.get("v").unwrap_or(0), split: self.is(split, false) }
    }

    /// Converts a number to the required type.
    fn number<From, To>(&self, name: &str, problems: &mut Vec<String>) -> Option<To>
    where
        From: Copy + Send + Sync + std::fmt::Display + 'static,
        To: TryFrom<From>,
    {
        let number: From = self.get(name)?;
        let fitting = To::try_from(number).ok();
        if fitting.is_none() {
            problems.push(format!("--{name}={number} is out of range"));
        }
        fitting
    }
}

#[cfg(test)]
mod tests;
