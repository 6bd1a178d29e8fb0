//! From a KubeSchedulerConfiguration to profiles of schedc, and back.
//!
//! | step | module | from | to |
//! |---|---|---|---|
//! | read | `tree` | YAML or JSON | values with their places |
//! | modernise | `legacy` | versions before `v1`, a Policy | `v1` |
//! | decode | `config` | values | the configuration as written, strictly |
//! | effective | `effective` | a profile | what kube-scheduler runs: plugins, order, weights |
//! | validate | `validate`, `args` | all of it | errors, warnings, notes |
//! | translate | `profile`, `extenders` | a profile | the same in schedc's words |
//! | mean | `summary` | that | the same as lists |
//! | write | `write` | that | TOML |
//! | verify | `verify` | TOML | the proof that it means the same |
//!
//! The last step compiles what was written, compares it with what kube-scheduler would run, and lists plugins one by one
//! where the two differ. There is no I/O here.

mod args;
mod arguments;
mod config;
mod decode;
mod difference;
mod effective;
pub mod export;
mod extenders;
mod kube_scheduler;
#[cfg(feature = "legacy")]
mod legacy;
mod messages;
mod profile;
mod report;
mod summary;
#[cfg(test)]
mod tests;
mod tree;
mod validate;
mod verify;
mod write;

use schedc_codegen::catalog::Catalog;
use schedc_codegen::source::{FileId, Files, Span};
use schedc_codegen::{Diagnostic, Diagnostics};

pub use arguments::arguments;
pub use difference::{Difference, differences};
use report::Report;
pub use report::{Level, Remark};
pub use summary::{PluginsAt, ProfileSummary};
use tree::Node;

/// Whether kube-scheduler 1.36 has this plugin and runs it by default.
pub fn is_kube_scheduler_plugin(name: &str) -> bool {
    kube_scheduler::find(name).is_some()
}

/// What became of a configuration.
#[derive(Clone, Debug)]
pub struct Import {
    /// The profiles in the order of the configuration, or everything that is wrong with it.
    pub profiles: Result<Vec<Imported>, Diagnostics>,
    /// What else there is to know.
    pub remarks: Vec<Remark>,
    /// The texts that places refer to.
    pub files: Files,
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its `scheduler-name`.
    pub scheduler_name: String,
    /// The profile.
    pub toml: String,
    /// What it runs.
    pub summary: ProfileSummary,
}

impl Import {
    /// The profile with this scheduler name; without a name, the only profile.
    ///
    /// # Errors
    /// What is wrong with the configuration; or that there is no such profile, or more than one.
    pub fn profile(&self, name: Option<&str>) -> Result<(usize, &Imported), Diagnostics> {
        let profiles = self.profiles.as_ref().map_err(Clone::clone)?;
        match (name, profiles.as_slice()) {
            (None, [only]) => Ok((0, only)),
            (Some(name), _) if profiles.iter().any(|profile| profile.scheduler_name == name) => profiles
                .iter()
                .enumerate()
                .find(|(_, profile)| profile.scheduler_name == name)
                .ok_or_else(|| Diagnostics::new(self.files.clone(), Vec::new())),
            _ => {
                let names: Vec<&str> = profiles.iter().map(|profile| profile.scheduler_name.as_str()).collect();
                Err(Diagnostics::new(self.files.clone(), vec![messages::several_profiles(&names, name)]))
            }
        }
    }
}

/// Imports a KubeSchedulerConfiguration of `kubescheduler.config.k8s.io/v1` in YAML or JSON. `path` is what messages call
/// it.
pub fn import(path: &str, text: &str) -> Import {
    import_document(path, text, None, |document, _, _| Some(document))
}

/// How to import a configuration of any version.
#[cfg(feature = "legacy")]
#[derive(Clone, Debug, Default)]
pub struct Options<'o> {
    /// What to call the profile, if the configuration has one only.
    pub name: Option<&'o str>,
    /// The policy that an `algorithmSource` of `v1alpha1` names: what messages call the file, and its text.
    pub policy: Option<(&'o str, &'o str)>,
}

/// Imports a KubeSchedulerConfiguration of any version, a Policy, or a ConfigMap that holds one of these.
#[cfg(feature = "legacy")]
pub fn import_any(path: &str, text: &str, options: &Options<'_>) -> Import {
    import_document(path, text, options.name, |document, files, report| {
        let policy = options.policy.map(|(path, text)| files.add(path, text));
        legacy::convert_to_v1(document, policy, files, report)
    })
}

/// `convert_to_v1` makes a document of today of what is there, or reports why it cannot.
fn import_document(
    path: &str,
    text: &str,
    name: Option<&str>,
    convert_to_v1: impl FnOnce(Node, &mut Files, &mut Report) -> Option<Node>,
) -> Import {
    let mut files = Files::default();
    let mut found = Vec::new();
    let Some(catalog) = Catalog::in_tree(&mut files, &mut found) else {
        return Import { profiles: Err(Diagnostics::new(files.clone(), found)), remarks: Vec::new(), files };
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = files.add(path, text);
    let mut report = Report::default();
    let document = document(&files, file, &mut report);
    let document = document.and_then(|document| convert_to_v1(document, &mut files, &mut report));
    let profiles = document.and_then(|document| profiles(&catalog, &files, file, &document, name, &mut report));
    let profiles = match profiles {
        Some(Ok(profiles)) if report.errors.is_empty() => Ok(profiles),
        Some(Err(diagnostics)) if report.errors.is_empty() => Err(diagnostics),
        _ => Err(Diagnostics::new(files.clone(), report.errors)),
    };
    let mut remarks = report.remarks;
    remarks.sort_by_key(|remark| (remark.level, start(&remark.diagnostic)));
    Import { profiles, remarks, files }
}

fn start(diagnostic: &Diagnostic) -> Option<usize> {
    diagnostic.primary.as_ref().map(|label| label.span.start)
}

/// The first document of a file; `None` if there are errors in `report`.
fn document(files: &Files, file: FileId, report: &mut Report) -> Option<Node> {
    let mut documents = match tree::read(files, file) {
        Ok(documents) => documents.into_iter(),
        Err(error) => {
            report.error(*error);
            return None;
        }
    };
    let first = documents.next();
    if first.is_none() {
        report.error(messages::nothing_written(Span { file, start: 0, end: 0 }));
    }
    for other in documents {
        report.warning(messages::further_document(other.span));
    }
    first
}

/// `None` if there are errors in `report`.
fn profiles(
    catalog: &Catalog,
    files: &Files,
    file: FileId,
    document: &Node,
    name: Option<&str>,
    report: &mut Report,
) -> Option<Result<Vec<Imported>, Diagnostics>> {
    let config = config::configuration(document, &mut report.errors)?;
    let effective: Vec<_> = config.profiles.iter().map(verify::effective).collect();
    validate::configuration(&config, &effective, report);
    let extenders = extenders::translate(&config.extenders, report);
    let mut translated = Vec::new();
    for (index, (written, effective)) in config.profiles.iter().zip(&effective).enumerate() {
        report.profile = Some(index);
        let mut args = args::of_profile(index, written, effective, catalog, report);
        extenders::replace_ignored(&mut args, &extenders, report);
        let extenders = extenders::of_profile(&extenders, effective, report);
        translated.push(profile::translate(&config, index, effective, catalog, args, extenders));
    }
    report.profile = None;
    if let (Some(name), [only]) = (name, translated.as_mut_slice())
        && only.scheduler_name != name
        && validate::requested_scheduler_name(name, report)
    {
        report.note(messages::renamed(&only.scheduler_name, name));
        only.rename(name);
    }
    if !report.errors.is_empty() {
        return None;
    }
    let source = files.path(file);
    let written = translated.into_iter().zip(config.profiles.iter().zip(&effective));
    let written = written.map(|(mut profile, (written, effective))| {
        let scheduler_name = profile.scheduler_name.clone();
        let (toml, plan) = verify::text(&mut profile, written, source, catalog, files)?;
        let summary = ProfileSummary::new(&profile, effective, &plan, catalog);
        Ok(Imported { scheduler_name, toml, summary })
    });
    Some(written.collect())
}
