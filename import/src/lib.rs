//! From a KubeSchedulerConfiguration to profiles of schedc.
//!
//! | step | module | from | to |
//! |---|---|---|---|
//! | read | `tree` | YAML or JSON | values with their places |
//! | decode | `config` | values | the configuration as written, strictly |
//! | effective | `effective` | a profile | what kube-scheduler runs: plugins, order, weights |
//! | validate | `validate`, `args` | all of it | errors, warnings, notes |
//! | translate | `profile` | a profile | the same in schedc's words |
//! | mean | `meaning` | that | the same as lists |
//! | write | `write` | that | TOML |
//! | verify | `verify` | TOML | the proof that it means the same |
//!
//! The last step compiles what was written, compares it with what kube-scheduler would run, and lists plugins one by one
//! where the two differ. There is no I/O here.

mod args;
mod config;
mod decode;
mod effective;
mod kube;
mod meaning;
mod messages;
mod profile;
mod report;
#[cfg(test)]
mod tests;
mod tree;
mod validate;
mod verify;
mod write;

use schedc_codegen::catalog::Catalog;
use schedc_codegen::source::{FileId, Files, Span};
use schedc_codegen::{Diagnostic, Diagnostics};

pub use meaning::{Meaning, PluginsAt};
use report::Report;
pub use report::{Level, Remark};

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
    pub means: Meaning,
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

/// Imports a KubeSchedulerConfiguration in YAML or JSON. `path` is what messages call it.
pub fn import(path: &str, text: &str) -> Import {
    import_named(path, text, None)
}

/// The same. If the configuration has one profile only, it gets this name.
pub fn import_named(path: &str, text: &str, name: Option<&str>) -> Import {
    let mut files = Files::default();
    let mut found = Vec::new();
    let Some(catalog) = Catalog::in_tree(&mut files, &mut found) else {
        return Import { profiles: Err(Diagnostics::new(files.clone(), found)), remarks: Vec::new(), files };
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = files.add(path, text);
    let mut report = Report::default();
    let profiles = profiles(&catalog, &files, file, name, &mut report);
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

/// `None` if there are errors in `report`.
fn profiles(
    catalog: &Catalog,
    files: &Files,
    file: FileId,
    name: Option<&str>,
    report: &mut Report,
) -> Option<Result<Vec<Imported>, Diagnostics>> {
    let documents = match tree::read(files, file) {
        Ok(documents) => documents,
        Err(error) => {
            report.error(*error);
            return None;
        }
    };
    let Some((document, others)) = documents.split_first() else {
        report.error(messages::nothing_written(Span { file, start: 0, end: 0 }));
        return None;
    };
    for other in others {
        report.warning(messages::further_document(other.span));
    }
    let config = config::configuration(document, &mut report.errors)?;
    let effective: Vec<_> = config.profiles.iter().map(verify::effective).collect();
    validate::configuration(&config, &effective, report);
    let mut translated = Vec::new();
    for (index, (written, effective)) in config.profiles.iter().zip(&effective).enumerate() {
        report.profile = Some(index);
        let args = args::of_profile(index, written, effective, catalog, report);
        translated.push(profile::translate(&config, index, effective, catalog, args));
    }
    report.profile = None;
    if let (Some(name), [only]) = (name, translated.as_mut_slice())
        && only.scheduler_name != name
        && validate::given_name(name, report)
    {
        report.note(messages::renamed(&only.scheduler_name, name));
        only.rename(name);
    }
    if !report.errors.is_empty() {
        return None;
    }
    let source = files.path(file);
    let written = translated.into_iter().zip(config.profiles.iter().zip(&effective));
    let written = written.map(|(profile, (written, effective))| {
        let scheduler_name = profile.scheduler_name.clone();
        let means = Meaning::new(&profile, effective, catalog);
        let toml = verify::text(profile, written, source, catalog, files)?;
        Ok(Imported { scheduler_name, toml, means })
    });
    Some(written.collect())
}
