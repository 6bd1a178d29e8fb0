//! The command line of this program, and the name under which it was started.

use std::env;
use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// File name prefix of kubectl plugins.
const PLUGIN_PREFIX: &str = "kubectl-";

/// The command line, if it is not that of the process.
static ARGUMENTS: Mutex<Option<Vec<OsString>>> = Mutex::new(None);

/// Replaces the command line of the process, for a library whose process is another program.
pub(crate) fn set_arguments(arguments: Vec<OsString>) {
    *ARGUMENTS.lock().unwrap_or_else(PoisonError::into_inner) = Some(arguments);
}

/// Returns the command line. Its first argument is the name of this program.
pub(crate) fn arguments() -> Vec<OsString> {
    let arguments = ARGUMENTS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    arguments.unwrap_or_else(|| env::args_os().collect())
}

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
    let path = arguments().into_iter().next()?;
    let name = Path::new(&path).file_name()?.to_str()?;
    Some(name.strip_suffix(EXE_SUFFIX).unwrap_or(name).to_owned())
}

/// Returns the command line of a kubectl plugin with this file name. kubectl reads dashes in the name as spaces, and
/// underscores as dashes. Returns `None` for other programs.
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
