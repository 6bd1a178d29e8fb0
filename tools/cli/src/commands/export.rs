//! `schedc export`

use std::fs;
use std::path::PathBuf;

use clap::Args;
use schedc_codegen::plan::{Budget, Plan, PlanExtender};
use schedc_core::erased::AnyBundle;
use schedc_import::{ProfileSummary, export, is_kube_scheduler_plugin};
use serde_json::Value;

use super::failure::Failure;
use super::{output, sources};

/// Write profiles as a KubeSchedulerConfiguration of kube-scheduler 1.36
///
/// The configuration does not depend on defaults: it has the plugins of each extension point in order, with their
/// weights and arguments, and the backoff. `schedc import` converts it back to the same profiles.
#[derive(Args)]
pub(crate) struct Export {
    /// Profiles of one scheduler: names of files in profiles/ or of compiled-in profiles, paths, or folders
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output_file: Option<PathBuf>,

    /// Replace an existing file
    #[arg(long, requires = "output_file")]
    force: bool,
}

impl Export {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let compilation = sources::load(bundle, &self.profiles)?;
        compilation.plans.iter().for_each(warn_unexported);
        let profiles: Vec<(String, ProfileSummary)> = compilation
            .plans
            .iter()
            .map(|plan| (plan.scheduler_name.value.clone(), ProfileSummary::from(plan)))
            .collect();
        check_extenders(&compilation.plans)?;
        let text = output::yaml(&export::Configuration::new(&profiles))?;
        let Some(path) = &self.output_file else { return output::print_text(&text) };
        let name = path.display();
        if !self.force && path.exists() {
            return Err(Failure::new(format_args!("{name} exists already; --force replaces it")));
        }
        fs::write(path, text).map_err(|error| Failure::new(format_args!("cannot write {name}: {error}")))?;
        output::note(format_args!("wrote {name}"));
        Ok(())
    }
}

/// Returns an error if extenders differ: kube-scheduler calls the same extenders for all of its profiles.
fn check_extenders(plans: &[Plan]) -> Result<(), Failure> {
    let extenders = |plan: &Plan| -> Vec<Value> { plan.extenders.iter().map(PlanExtender::to_json).collect() };
    let Some((first, others)) = plans.split_first() else { return Ok(()) };
    match others.iter().find(|other| extenders(other) != extenders(first)) {
        None => Ok(()),
        Some(other) => Err(Failure::new(format_args!(
            "{} and {} have different extenders, but kube-scheduler calls the same ones for all profiles; export the \
             profiles one by one",
            first.path, other.path
        ))),
    }
}

/// Warns of settings that the exported configuration lacks, or that kube-scheduler does not apply.
fn warn_unexported(plan: &Plan) {
    let names = plan.plugins.iter().map(|plugin| plugin.entry.name.as_str());
    let others: Vec<&str> = names.filter(|name| !is_kube_scheduler_plugin(name)).collect();
    if !others.is_empty() {
        output::warning(format_args!(
            "{}: kube-scheduler does not contain {}: the exported file needs a kube-scheduler that is built with it",
            plan.path,
            others.join(", ")
        ));
    }
    if plan.budget != Budget::default() {
        output::note(format_args!("{}: the budget is left out: kube-scheduler has no equivalent", plan.path));
    }
    for extender in plan.extenders.iter().filter(|extender| extender.unreserve_verb.is_some()) {
        output::warning(format_args!(
            "{}: `unreserve-verb` of {} is left out: kube-scheduler does not notify extenders of Unreserve",
            plan.path, extender.url_prefix
        ));
    }
    let resources = || plan.extenders.iter().flat_map(|extender| &extender.managed_resources);
    let ignored = || resources().filter(|resource| resource.ignored_by_scheduler);
    let fit = plan.find("NodeResourcesFit").and_then(|(_, fit)| fit.args.as_ref()).map(|args| args.to_json());
    let lost = fit.iter().flat_map(|args| args["ignored-resources"].as_array()).flatten().filter_map(Value::as_str);
    let lost: Vec<&str> = lost.filter(|name| ignored().all(|resource| resource.name != *name)).collect();
    if ignored().next().is_some() && !lost.is_empty() {
        output::warning(format_args!(
            "{}: kube-scheduler will not ignore {}: the ignored resources of extenders replace `ignoredResources`",
            plan.path,
            lost.join(", ")
        ));
    }
}
