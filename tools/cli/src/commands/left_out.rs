//! Commands that this program lacks, because it was built without their feature.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::failure::Failure;

/// Optional commands, by the features that they need. The names of the features are separated by commas.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("run", &["run"]),
    ("run,tools", &["manifest", "serve"]),
    (
        "tools",
        &[
            "build",
            "capacity",
            "check",
            "completions",
            "defragment",
            "diff",
            "drain",
            "evaluate",
            "expand",
            "explain",
            "export",
            "import",
            "man",
            "new",
            "provision",
            "schema",
            "simulate",
        ],
    ),
    ("bench", &["bench"]),
    ("recordings", &["backtest"]),
    ("recordings,run", &["record", "replay"]),
];

/// Returns an error that names the missing features, if `error` is about a command that other features would add.
pub(super) fn failure(error: &clap::Error) -> Option<Failure> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let (features, _) = COMMANDS.iter().find(|(_, commands)| commands.contains(&name.as_str()))?;
    Some(Failure::new(format_args!(
        "this program was built without the command `{name}`; add `--features {features}` to its `cargo build`"
    )))
}

/// Returns a list of the commands that `command` lacks, for its help; `None` if it lacks none.
pub(super) fn help(command: &clap::Command) -> Option<String> {
    let lines: Vec<_> = COMMANDS
        .iter()
        .filter_map(|(features, commands)| {
            let missing: Vec<_> =
                commands.iter().copied().filter(|name| command.find_subcommand(name).is_none()).collect();
            (!missing.is_empty()).then(|| format!("  --features {features}: {}", missing.join(", ")))
        })
        .collect();
    (!lines.is_empty()).then(|| format!("Commands that this program was built without:\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};
    use expect_test::expect;

    use super::{COMMANDS, failure, help};
    use crate::commands::Cli;

    fn tailored() -> Command {
        Command::new("schedc").subcommand(Command::new("run")).subcommand(Command::new("profiles"))
    }

    #[test]
    fn a_command_that_was_left_out_names_its_features() {
        let errors = ["simulate", "bench", "simulat"]
            .map(|name| tailored().try_get_matches_from(["schedc", name]).expect_err("an unknown command"));
        let Some(super::Failure::Message(message)) = failure(&errors[0]) else { panic!("no message") };
        expect!["this program was built without the command `simulate`; add `--features tools` to its `cargo build`"]
            .assert_eq(&message);
        assert!(failure(&errors[1]).is_some() && failure(&errors[2]).is_none());
    }

    #[test]
    fn help_lists_the_commands_that_were_left_out() {
        expect![[r#"
            Commands that this program was built without:
              --features run,tools: manifest, serve
              --features tools: build, capacity, check, completions, defragment, diff, drain, evaluate, expand, explain, export, import, man, new, provision, schema, simulate
              --features bench: bench
              --features recordings: backtest
              --features recordings,run: record, replay"#]]
        .assert_eq(&help(&tailored()).expect("commands"));
    }

    #[test]
    fn every_command_but_profiles_needs_a_feature() {
        let listed = |name: &str| COMMANDS.iter().any(|(_, commands)| commands.contains(&name));
        let command = Cli::command();
        let unlisted: Vec<_> = command.get_subcommands().map(Command::get_name).filter(|name| !listed(name)).collect();
        assert_eq!(unlisted, ["profiles"]);
    }
}
