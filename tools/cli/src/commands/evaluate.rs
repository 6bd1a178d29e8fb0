//! `schedc evaluate`

use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use schedc_bounds::text::shortened;
use schedc_core::erased::AnyBundle;

use super::extenders::Extenders;
use super::failure::Failure;
use super::lines::{Line, Lines};
use super::live::{LiveCluster, UsedKinds};
use super::output;
use super::validate::{self, Validate};
use crate::cluster::Routes;
use crate::evaluation::{Errors, Evaluator, LineError, Scenario};

/// Evaluate the scheduling decisions of many scenarios
///
/// A scenario has a cluster's objects, and steps that add, update and delete objects, and schedule pods. The output has
/// one line of JSON for each scenario, with the result of each pod's scheduling cycle: every node's verdict and scores,
/// the chosen node, the message, and the victims of preemption. Objects are used as given, without the defaults of an
/// API server. docs/evaluate.md has the formats.
///
/// All errors of a scenario are reported with their location, and the other scenarios are still evaluated. The
/// exit code is then 1.
#[derive(Args)]
pub(crate) struct Evaluate {
    /// Scenarios, one per line in JSON: files, also compressed by gzip, or `-` for standard input, the default
    ///
    /// With --live, there is one scenario for each profile with pending pods: it has the objects of the cluster, and
    /// schedules these pods by priority and age.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    live: LiveCluster,

    /// Let this profile decide, regardless of the profiles that scenarios name
    ///
    /// The name of a profile or its scheduler name. `schedc profiles` lists them.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Report which events return a rejected pod to the queue
    ///
    /// A scenario has a cluster, a rejected pod with the plugins that rejected it, and a change of one object.
    /// Its line of output has the events of the change, the result of the plugins' queueing hints for each event, and
    /// the pod's place in the queue afterwards.
    #[arg(long, conflicts_with_all = ["live", "kubeconfig", "context"])]
    hints: bool,

    #[command(flatten)]
    validate: Validate,

    #[command(flatten)]
    extenders: Extenders,
}

impl Evaluate {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let mut evaluator = Evaluator::new(bundle, self.extenders.overrides(bundle.profiles)?)?;
        if let Some(name) = &self.profile {
            evaluator.use_profile(name)?;
        }
        evaluator.set_validation(self.validate.validation());
        let mut output = BufWriter::new(io::stdout().lock());
        let mut problems = 0;
        if self.live.is_named() {
            self.live.is_source(&self.files)?;
            problems += self.evaluate_cluster(bundle, &mut evaluator, &mut output)?;
        } else if self.files.is_empty() {
            problems += evaluate_file(Path::new("-"), self.hints, &mut evaluator, &mut output)?;
        }
        for file in &self.files {
            problems += evaluate_file(file, self.hints, &mut evaluator, &mut output)?;
        }
        output.flush()?;
        validate::warn(evaluator.ignored());
        match problems {
            0 => Ok(()),
            1 => Err(Failure::new("one scenario or file was left out")),
            n => Err(Failure::new(format_args!("{n} scenarios or files were left out"))),
        }
    }

    /// Evaluates the pending pods of the cluster, in one scenario for each profile. Returns the number of invalid scenarios.
    fn evaluate_cluster(
        &self,
        bundle: &AnyBundle,
        evaluator: &mut Evaluator,
        output: &mut impl Write,
    ) -> Result<usize, Failure> {
        let mut objects = Vec::new();
        self.live.read(bundle, UsedKinds::Compiled, |_, _, object| objects.push(object))?;
        let routes = match &self.profile {
            Some(name) => Routes::to(bundle.profiles, name)?,
            None => Routes::by_scheduler_name(bundle.profiles),
        };
        let scenarios = Scenario::of_cluster(objects, &routes);
        if scenarios.is_empty() {
            output::note("no pod of the cluster waits for a profile that is compiled in");
        }
        let mut problems = 0;
        for scenario in scenarios {
            let id = scenario.id.clone();
            match evaluator.evaluate(scenario) {
                Ok(result) => writeln!(output, "{}", output::json_line(&result).map_err(Failure::new)?)?,
                Err(errors) => {
                    problems += 1;
                    print_errors(format_args!("profile {id}"), &errors);
                }
            }
        }
        Ok(problems)
    }
}

/// Prints the first errors of a scenario, and the number of the other errors.
fn print_errors(scenario: impl Display, errors: &Errors) {
    let (shown, others) = errors.shown();
    for error in shown {
        output::print_error(format_args!("{scenario}: {error}"));
    }
    if others > 0 {
        let noun = if others == 1 { "error" } else { "errors" };
        output::print_error(format_args!("{scenario}: and {others} more {noun}"));
    }
}

/// Evaluates the scenarios of a file. Returns the number of invalid lines, plus 1 if the file cannot be read to its end.
///
/// # Errors
/// Returns an error if the output cannot be written.
fn evaluate_file(
    path: &Path,
    hints: bool,
    evaluator: &mut Evaluator,
    output: &mut impl Write,
) -> Result<usize, io::Error> {
    let mut problems = 0;
    let print_error =
        |place: &dyn Display, problem: &dyn Display| output::print_error(format_args!("{place}: {problem}"));
    let mut lines = match Lines::open(path) {
        Ok(lines) => lines,
        Err(error) => {
            print_error(&path.display(), &format_args!("cannot be read: {error}"));
            return Ok(1);
        }
    };
    loop {
        let (place, line) = match lines.next() {
            Ok(Some(Line { place, text: Ok(line) })) => (place, line),
            Ok(Some(Line { place, text: Err(too_long) })) => {
                print_error(&place, &too_long);
                problems += 1;
                continue;
            }
            Ok(None) => return Ok(problems),
            Err(error) => {
                print_error(&path.display(), &format_args!("cannot be read: {error}"));
                return Ok(problems + 1);
            }
        };
        let result = if hints { evaluator.hints_line(line) } else { evaluator.evaluate_line(line) };
        problems += usize::from(result.is_err());
        match result {
            Ok(text) => {
                output.write_all(text.as_bytes())?;
                output.write_all(b"\n")?;
            }
            Err(LineError::Scenario { id, errors }) => {
                print_errors(format_args!("{place}: scenario {}", shortened(&id, 200)), &errors);
            }
            Err(LineError::Invalid(error)) if error.column > 0 => {
                print_error(&format_args!("{place}:{}", error.column), &shortened(&error.message, 2000));
            }
            Err(LineError::Invalid(error)) => print_error(&place, &shortened(&error.message, 2000)),
            Err(LineError::Json(error)) => return Err(error.into()),
        }
    }
}
