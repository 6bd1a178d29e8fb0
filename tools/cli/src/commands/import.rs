//! `schedc import`

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use schedc_import::{Import as Imported, Level, Options, import_any};

use super::failure::Failure;
use super::output;

/// Convert kube-scheduler's configuration to a profile
///
/// Prints a profile that runs the same plugins in the same order with the same weights and arguments.
/// Standard error lists settings that kube-scheduler would ignore and settings without an equivalent in
/// profiles. Settings that kube-scheduler would refuse are errors.
#[derive(Args)]
pub(crate) struct Import {
    /// The configuration in YAML or JSON, or `-` for standard input
    ///
    /// A KubeSchedulerConfiguration of any version from v1alpha1 to v1, a Policy, or a ConfigMap that contains
    /// one of these.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Convert the profile with this schedulerName; if there is only one profile, give it this name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The policy that a v1alpha1 configuration references in `algorithmSource`: a Policy, or a ConfigMap that
    /// contains it
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Write all profiles, or the one of --name, as NAME.toml files into this folder
    #[arg(short, long, value_name = "FOLDER")]
    output_dir: Option<PathBuf>,

    /// Replace existing files
    #[arg(long, requires = "output_dir")]
    force: bool,
}

impl Import {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let (path, text) = read(&self.file)?;
        let policy = self.policy.as_deref().map(read).transpose()?;
        let policy = policy.as_ref().map(|(path, text)| (path.as_str(), text.as_str()));
        let import = import_any(&path, &text, &Options { name: self.name.as_deref(), policy });
        let wanted = match (&self.output_dir, &self.name) {
            (Some(_), None) if import.profiles.is_ok() => None,
            (_, name) => Some(import.profile(name.as_deref())),
        };
        let only = wanted.as_ref().and_then(|wanted| wanted.as_ref().ok()).map(|(index, _)| *index);
        if only.is_some() || wanted.is_none() || import.profiles.is_err() {
            report_remarks(&import, only);
        }
        let profiles = match wanted {
            Some(profile) => vec![profile?.1],
            None => import.profiles.as_ref().map_err(|errors| Failure::from(errors.clone()))?.iter().collect(),
        };
        let Some(folder) = &self.output_dir else {
            return profiles.iter().try_for_each(|profile| output::print_text(&profile.toml));
        };
        let files: Vec<(PathBuf, &str)> = profiles
            .iter()
            .map(|profile| (folder.join(format!("{}.toml", profile.scheduler_name)), profile.toml.as_str()))
            .collect();
        self.write(folder, &files)
    }

    fn write(&self, folder: &Path, files: &[(PathBuf, &str)]) -> Result<(), Failure> {
        if let Some((path, _)) = files.iter().find(|(path, _)| !self.force && path.exists()) {
            return Err(Failure::new(format_args!("{} exists already; --force replaces it", path.display())));
        }
        let cannot =
            |path: &Path, error: io::Error| Failure::new(format_args!("cannot write {}: {error}", path.display()));
        fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
        for (path, text) in files {
            fs::write(path, text).map_err(|error| cannot(path, error))?;
            output::note(format_args!("wrote {}", path.display()));
        }
        Ok(())
    }
}

/// Reads a file. Returns its display name and its text.
pub(crate) fn read(file: &Path) -> Result<(String, String), Failure> {
    let (name, bytes) = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        ("standard input".to_owned(), io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (file.to_string_lossy().into_owned(), fs::read(file))
    };
    let bytes = bytes.map_err(|error| Failure::new(format_args!("cannot read {name}: {error}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(Failure::new(format_args!("{name} is not UTF-8 text"))),
    }
}

/// Prints the remarks about one profile or all profiles, and about the whole file.
pub(crate) fn report_remarks(import: &Imported, only: Option<usize>) {
    for remark in &import.remarks {
        if remark.profile.is_none() || only.is_none() || remark.profile == only {
            let line = remark.one_line(&import.files);
            match remark.level {
                Level::Warning => output::warning(line),
                Level::Note => output::note(line),
            }
        }
    }
}
