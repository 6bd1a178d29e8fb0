//! Exit codes of commands, and the messages of their failures.

use std::io;
use std::io::Write;
use std::process::ExitCode;

use super::failure::Failure;
use super::output;

impl Failure {
    /// Prints the messages and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let mut stderr = anstream::stderr().lock();
        // If standard error is closed, the messages are lost.
        let _ = match self {
            Failure::OutputClosed => return ExitCode::SUCCESS,
            #[cfg(feature = "tools")]
            Failure::Reported => return ExitCode::FAILURE,
            Failure::Profiles(diagnostics) => write!(stderr, "{}", diagnostics.render(true)),
            Failure::Message(text) => write_errors(&mut stderr, &text),
            #[cfg(feature = "tools")]
            Failure::WithNote(text, note) => {
                let written = write_errors(&mut stderr, &text);
                drop(stderr);
                output::note(note);
                written
            }
        };
        ExitCode::FAILURE
    }
}

/// Returns the exit code of a command that answers a question: 0 for yes, 1 for no, 2 after an error, which is printed. A
/// closed standard output is no error and gives 0.
#[cfg(feature = "tools")]
pub(crate) fn exit_code(answer: Result<bool, Failure>) -> ExitCode {
    match answer {
        Ok(true) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            failure.report();
            ExitCode::from(2)
        }
    }
}

fn write_errors(stderr: &mut impl Write, text: &str) -> io::Result<()> {
    output::message(text).lines().try_for_each(|line| writeln!(stderr, "{} {line}", output::error("error:")))
}
