//! The two profiles that are compared.

use std::path::{Path, PathBuf};

use schedc_codegen::{Compilation, Diagnostics, NoCrates, SourceText, compile};
use schedc_core::erased::AnyBundle;
use schedc_import::{Level, Options, ProfileSummary, import_any};

use crate::commands::failure::Failure;
use crate::commands::sources::{self, Profile};
use crate::commands::{import, output};

/// Argument for kube-scheduler's defaults.
const KUBE_SCHEDULER: &str = "kube-scheduler";

/// A profile from any source.
pub(crate) struct Side {
    /// Display name.
    pub(crate) name: String,
    pub(crate) scheduler_name: String,
    pub(crate) summary: ProfileSummary,
    /// Source of the profile; `None` for a compiled-in one.
    source: Option<Source>,
}

/// Source of a profile that is not compiled in.
enum Source {
    /// The compiled text of a profile.
    Profile(Box<Compilation>),
    /// kube-scheduler's configuration, converted to a profile.
    Imported(SourceText),
}

impl Side {
    /// Loads the profile that an argument names. If no profile is named `default`, this name means kube-scheduler's defaults.
    pub(crate) fn load(bundle: &AnyBundle, argument: &str) -> Result<Self, Failure> {
        let (path, profile) = argument.rsplit_once('#').map_or((argument, None), |(path, name)| (path, Some(name)));
        if is_configuration(path) {
            let (path, text) = import::read(Path::new(path))?;
            return Self::import(&path, &text, profile);
        }
        if argument == KUBE_SCHEDULER {
            return Self::kube_scheduler();
        }
        let profiles = match sources::profiles(bundle, &[PathBuf::from(argument)]) {
            Err(_) if argument == "default" && !Path::new(argument).is_dir() => return Self::kube_scheduler(),
            profiles => profiles?,
        };
        match profiles[..] {
            [Profile::CompiledIn(profile, _)] => Ok(Side {
                name: profile.name.to_owned(),
                scheduler_name: profile.scheduler_name.to_owned(),
                summary: ProfileSummary::from(profile),
                source: None,
            }),
            _ => Self::read(argument, profiles),
        }
    }

    fn kube_scheduler() -> Result<Self, Failure> {
        let empty_configuration = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
        Self::import(KUBE_SCHEDULER, empty_configuration, None)
    }

    fn read(argument: &str, profiles: Vec<Profile>) -> Result<Self, Failure> {
        let compilation = sources::compile(profiles)?;
        match compilation.plans.as_slice() {
            [plan] => Ok(Side {
                name: plan.stem.clone(),
                scheduler_name: plan.scheduler_name.value.clone(),
                summary: ProfileSummary::from(plan),
                source: Some(Source::Profile(Box::new(compilation))),
            }),
            plans => {
                let number = plans.len();
                Err(Failure::new(format_args!("{argument} contains {number} profiles; name one of them")))
            }
        }
    }

    fn import(path: &str, text: &str, name: Option<&str>) -> Result<Self, Failure> {
        let import = import_any(path, text, &Options::default());
        if let (None, Ok([first, _, ..])) = (name, import.profiles.as_deref()) {
            let first = &first.scheduler_name;
            return Err(Failure::new(format_args!("{path} has several profiles: name one, such as `{path}#{first}`")));
        }
        let (index, imported) = import.profile(name)?;
        let concerns = |profile: Option<usize>| profile.is_none_or(|profile| profile == index);
        for remark in import.remarks.iter().filter(|remark| remark.level == Level::Warning && concerns(remark.profile))
        {
            output::warning(remark.one_line(&import.files));
        }
        let display_name = name.map_or_else(|| path.to_owned(), |name| format!("{path}#{name}"));
        Ok(Side {
            scheduler_name: imported.scheduler_name.clone(),
            summary: imported.summary.clone(),
            source: Some(Source::Imported(SourceText { path: display_name.clone(), text: imported.toml.clone() })),
            name: display_name,
        })
    }

    /// Compiles the source; `None` for a compiled-in profile.
    pub(crate) fn compilation(&self) -> Option<Result<Compilation, Diagnostics>> {
        Some(match self.source.as_ref()? {
            Source::Profile(compilation) => Ok((**compilation).clone()),
            Source::Imported(source) => compile(std::slice::from_ref(source), &mut NoCrates),
        })
    }
}

/// Returns whether an argument means kube-scheduler's configuration: a file in YAML or JSON, or standard input.
fn is_configuration(path: &str) -> bool {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    path == "-" || extension.is_some_and(|extension| ["yaml", "yml", "json"].contains(&extension))
}
