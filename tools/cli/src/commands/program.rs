//! The name under which this program was started.

use std::env;
use std::env::consts::EXE_SUFFIX;
use std::path::Path;

/// File name prefix of kubectl plugins.
const PLUGIN_PREFIX: &str = "kubectl-";

/// Returns the file name of this program, without `.exe`. It differs from `schedc` for a scheduler in a
/// separate package and for a kubectl plugin.
#[cfg(feature = "tools")]
pub(crate) fn name() -> String {
    started_as().unwrap_or_else(|| "schedc".to_owned())
}

/// Returns the command that users type to run this program as a kubectl plugin, such as `kubectl schedc`. `None` for
/// other programs.
pub(crate) fn kubectl_command() -> Option<String> {
    plugin_command(&started_as()?)
}

fn started_as() -> Option<String> {
    let path = env::args_os().next()?;
    let name = Path::new(&path).file_name()?.to_str()?;
    Some(name.strip_suffix(EXE_SUFFIX).unwrap_or(name).to_owned())
}

/// Returns the command line of a kubectl plugin. In its file name, kubectl reads dashes as spaces and underscores as
/// dashes.
fn plugin_command(program: &str) -> Option<String> {
    let words = program.strip_prefix(PLUGIN_PREFIX).filter(|words| !words.is_empty())?;
    Some(format!("kubectl {}", words.replace('-', " ").replace('_', "-")))
}

#[cfg(test)]
mod tests {
    use super::plugin_command;

    #[test]
    fn kubectl_plugins_are_shown_as_users_type_them() {
        assert_eq!(plugin_command("kubectl-schedc").as_deref(), Some("kubectl schedc"));
        assert_eq!(plugin_command("kubectl-my_scheduler-lab").as_deref(), Some("kubectl my-scheduler lab"));
        assert_eq!(plugin_command("schedc"), None);
        assert_eq!(plugin_command("kubectl-"), None);
    }
}
