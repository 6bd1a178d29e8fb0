//! Values of all flags, for `/flagz`.

use std::collections::BTreeMap;

use clap::{ArgMatches, Command, Error, FromArgMatches};

use super::table::FLAGS;
use super::{Flag, Section, ValueType};

/// Values of all kube-scheduler flags except `--help` and `--version`, by name, defaults included. Add it to a command
/// by `#[command(flatten)]`, together with [`Flags`](super::Flags): both read the same arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlagValues(pub BTreeMap<String, String>);

impl clap::Args for FlagValues {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for FlagValues {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let flags = FLAGS.iter().filter(|flag| flag.section != Section::Global);
        Ok(FlagValues(flags.map(|flag| (flag.name.to_owned(), value_text(flag, matches))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = FlagValues::from_arg_matches(matches)?;
        Ok(())
    }
}

fn value_text(flag: &Flag, matches: &ArgMatches) -> String {
    let Some(values) = matches.get_raw(flag.name) else {
        return match (flag.kind, flag.default.trim_matches('"')) {
            (ValueType::Bool, "") => "false".to_owned(),
            (ValueType::Int | ValueType::Level, "") => "0".to_owned(),
            (ValueType::Texts, "") => "[]".to_owned(),
            (_, default) => default.to_owned(),
        };
    };
    let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
    let values = values.join(",");
    if flag.kind == ValueType::Texts { format!("[{values}]") } else { values }
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;
    use crate::flags::Flags;

    #[test]
    fn given_and_default_values() {
        let command = FlagValues::augment_args(Flags::augment_args(Command::new("run").no_binary_name(true)));
        let line = ["--leader-elect", "-v=4", "--secure-port=0", "--requestheader-allowed-names=a,b"];
        let FlagValues(flags) = FlagValues::from_arg_matches(&command.get_matches_from(line)).unwrap();
        for (name, expected) in [
            ("leader-elect", "true"),
            ("v", "4"),
            ("secure-port", "0"),
            ("requestheader-allowed-names", "[a,b]"),
            ("disable-http2-serving", "false"),
            ("leader-elect-resource-name", "kube-scheduler"),
            ("authorization-always-allow-paths", "[/healthz,/readyz,/livez]"),
            ("tls-cipher-suites", "[]"),
            ("config", ""),
        ] {
            assert_eq!(flags[name], expected, "{name}");
        }
    }
}
