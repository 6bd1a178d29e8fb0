//! Conversion from a KubeSchedulerConfiguration to profiles of schedc, and back.
//!
//! | step | module | from | to |
//! |---|---|---|---|
//! | read | `tree` | YAML or JSON | values with their locations |
//! | convert | `legacy` | versions before `v1`, a Policy | `v1` |
//! | decode | `config` | values | the configuration as written; unknown fields are errors |
//! | effective | `effective` | a profile | kube-scheduler's pipeline: plugins, order, weights |
//! | validate | `validate`, `args` | the configuration and its pipelines | errors, warnings, notes |
//! | translate | `profile`, `extenders` | a profile | an equivalent profile of schedc |
//! | summarize | `summary` | that profile | its pipeline as lists |
//! | write | `write` | that profile | TOML |
//! | verify | `verify` | TOML | proof of equivalence |
//!
//! The last two steps need the feature `write`. The last step compiles the written profile and compares it with
//! kube-scheduler's pipeline. If the two differ at an extension point, the profile is written again, with an explicit
//! list of plugins at this point. This crate does no I/O.

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
#[cfg(feature = "write")]
mod verify;
#[cfg(feature = "write")]
mod write;
pub mod yaml;

use schedc_profile_rules::point::Point;
use schedc_profile_rules::source::{FileId, Files, Span};
use schedc_profile_rules::tree::RawTable;
use schedc_profile_rules::{Diagnostic, Diagnostics, check_weights};

use args::Schemas;
pub use arguments::arguments;
pub use difference::{Difference, differences};
use effective::Effective;
use profile::Profile;
use report::Report;
pub use report::{Level, Remark};
pub use summary::{PluginsAt, ProfileSummary};
use tree::Node;

/// Returns whether kube-scheduler 1.36 has this plugin and runs it by default.
pub fn is_kube_scheduler_plugin(name: &str) -> bool {
    kube_scheduler::find(name).is_some()
}

/// Result of an import.
#[derive(Clone, Debug)]
pub struct Import {
    /// The profiles in the order of the configuration, or all errors.
    pub profiles: Result<Vec<Imported>, Diagnostics>,
    /// Warnings and notes.
    pub remarks: Vec<Remark>,
    /// The texts that locations refer to.
    pub files: Files,
}

/// An imported profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its `scheduler-name`.
    pub scheduler_name: String,
    /// The profile.
    #[cfg(feature = "write")]
    pub toml: String,
    /// Its pipeline.
    pub summary: ProfileSummary,
}

impl Import {
    /// Returns the profile with this scheduler name, and its index; without a name, the only profile.
    ///
    /// # Errors
    /// Returns the errors of the configuration. Also returns an error if no profile has this name, or if there are
    /// several profiles and no name.
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

/// Imports a KubeSchedulerConfiguration of `kubescheduler.config.k8s.io/v1` in YAML or JSON. `path` is its
/// name in messages.
pub fn import(path: &str, text: &str) -> Import {
    import_document(path, text, None, |document, _, _| Some(document))
}

/// Options for importing a configuration of any version.
#[cfg(feature = "legacy")]
#[derive(Clone, Debug, Default)]
pub struct Options<'o> {
    /// The new scheduler name of the profile, if the configuration has only one profile.
    pub name: Option<&'o str>,
    /// The policy that an `algorithmSource` of `v1alpha1` names: the file's name in messages, and its text.
    pub policy: Option<(&'o str, &'o str)>,
}

/// Imports a KubeSchedulerConfiguration of any version, a Policy, or a ConfigMap that contains one of these.
#[cfg(feature = "legacy")]
pub fn import_any(path: &str, text: &str, options: &Options<'_>) -> Import {
    import_document(path, text, options.name, |document, files, report| {
        let policy = options.policy.map(|(path, text)| files.add(path, text));
        legacy::convert_to_v1(document, policy, files, report)
    })
}

/// Imports a document. `convert_to_v1` converts it to the current version, or reports errors.
fn import_document(
    path: &str,
    text: &str,
    name: Option<&str>,
    convert_to_v1: impl FnOnce(Node, &mut Files, &mut Report) -> Option<Node>,
) -> Import {
    let mut files = Files::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = files.add(path, text);
    let mut report = Report::default();
    let document = document(&files, file, &mut report);
    let document = document.and_then(|document| convert_to_v1(document, &mut files, &mut report));
    let profiles = document.and_then(|document| profiles(&files, &document, name, &mut report));
    for diagnostic in report.errors.iter_mut().chain(report.remarks.iter_mut().map(|remark| &mut remark.diagnostic)) {
        keep_quotes(diagnostic, &files);
    }
    let profiles = match profiles {
        Some(Ok(profiles)) if report.errors.is_empty() => Ok(profiles),
        Some(Err(diagnostics)) if report.errors.is_empty() => Err(diagnostics),
        _ => Err(Diagnostics::new(files.clone(), report.errors)),
    };
    let mut remarks = report.remarks;
    remarks.sort_by_key(|remark| (remark.level, start(&remark.diagnostic)));
    Import { profiles, remarks, files }
}

/// Puts the replacement of a quoted scalar in quotes, too. A replacement that is a map has no quotes.
fn keep_quotes(diagnostic: &mut Diagnostic, files: &Files) {
    if let Some((span, replacement)) = diagnostic.help.as_mut().and_then(|help| help.replacement.as_mut())
        && let Some(quote @ ('"' | '\'')) = files.snippet(*span).chars().next()
        && !replacement.contains(':')
    {
        *replacement = format!("{quote}{replacement}{quote}");
    }
}

fn start(diagnostic: &Diagnostic) -> Option<usize> {
    diagnostic.primary.as_ref().map(|label| label.span.start)
}

/// Returns the first document of a file; `None` if `report` has errors.
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

/// Returns the profiles; `None` if `report` has errors.
fn profiles(
    files: &Files,
    document: &Node,
    name: Option<&str>,
    report: &mut Report,
) -> Option<Result<Vec<Imported>, Diagnostics>> {
    let schemas = match Schemas::read() {
        Ok(schemas) => schemas,
        Err(error) => return Some(Err(Diagnostics::new(files.clone(), vec![Diagnostic::new(error.to_string())]))),
    };
    let config = config::configuration(document, &mut report.errors)?;
    let effective: Vec<_> = config.profiles.iter().map(Effective::of_profile).collect();
    validate::configuration(&config, &effective, report);
    let extenders = extenders::translate(&config.extenders, report);
    let mut translated = Vec::new();
    for (index, (written, effective)) in config.profiles.iter().zip(&effective).enumerate() {
        report.profile = Some(index);
        let mut args = args::of_profile(index, written, effective, &schemas, report);
        extenders::replace_ignored(&mut args, &extenders, report);
        let extenders = extenders::of_profile(&extenders, effective, report);
        weights(effective, &extenders, document.span, report);
        translated.push(Profile { args, extenders, ..profile::translate(&config, index, effective) });
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
    let imported = translated.into_iter().enumerate().map(|(index, profile)| {
        let summary = ProfileSummary::new(&profile, &effective[index]);
        Ok(Imported {
            scheduler_name: profile.scheduler_name.clone(),
            #[cfg(feature = "write")]
            toml: verify::text(profile, &config.profiles[index], &summary, files, document.span.file)?,
            summary,
        })
    });
    Some(imported.collect())
}

/// Checks that the weights of a profile's plugins and extenders cannot make the sum of scores overflow.
fn weights(effective: &Effective, extenders: &[RawTable], start: Span, report: &mut Report) {
    let plugins = effective.point(Point::Score).iter().filter(|entry| profile::runs_at(&entry.name, Point::Score));
    let plugins = plugins.map(|entry| (entry.weight, None, entry.name.clone()));
    let extenders = extenders::weights(extenders).map(|(weight, at)| (weight, Some(at), "an extender".to_owned()));
    report.errors.extend(check_weights(plugins.chain(extenders).collect(), start));
}
