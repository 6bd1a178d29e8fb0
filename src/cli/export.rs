//! `schedc export`

use std::fs;
use std::path::PathBuf;

use clap::Args;
use schedc_codegen::load;
use schedc_codegen::plan::{Budget, Plan};
use schedc_import::{Meaning, export, is_kube_scheduler_plugin};

use super::failure::Failure;
use super::{output, sources};

/// Write profiles as a KubeSchedulerConfiguration of kube-scheduler 1.36
///
/// What the profiles run, with nothing left to defaults: the plugins of each extension point in their order, weights,
/// arguments, backoff. `schedc import` makes the same profiles of it again.
#[derive(Args)]
pub(crate) struct Export {
    /// Profiles of one scheduler: names of files in profiles/, paths, or folders
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// Write into this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output_file: Option<PathBuf>,

    /// Replace a file that is there already
    #[arg(long, requires = "output_file")]
    force: bool,
}

impl Export {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let files = sources::files(&self.profiles)?;
        let compilation = load(&files, &sources::options())?;
        compilation.plans.iter().for_each(tell);
        let profiles: Vec<(String, Meaning)> =
            compilation.plans.iter().map(|plan| (plan.scheduler_name.value.clone(), Meaning::from(plan))).collect();
        let text = serde_saphyr::to_string(&export::Configuration::new(&profiles)).map_err(Failure::new)?;
        let Some(path) = &self.output_file else { return output::print_text(&text) };
        let name = path.display();
        if !self.force && path.exists() {
            return Err(Failure::new(format_args!("{name} is there already; --force replaces it")));
        }
        fs::write(path, text).map_err(|error| Failure::new(format_args!("cannot write {name}: {error}")))?;
        output::note(format_args!("wrote {name}"));
        Ok(())
    }
}

/// Tells what kube-scheduler cannot be told, or does not have.
fn tell(plan: &Plan) {
    let names = plan.plugins.iter().map(|plugin| plugin.entry.name.as_str());
    let others: Vec<&str> = names.filter(|name| !is_kube_scheduler_plugin(name)).collect();
    if !others.is_empty() {
        output::warning(format_args!(
            "{}: kube-scheduler itself does not have {}: it starts only if the same is built into it",
            plan.path,
            others.join(", ")
        ));
    }
    if plan.budget != Budget::default() {
        output::note(format_args!("{}: the budget is left out: kube-scheduler has nothing like it", plan.path));
    }
}
