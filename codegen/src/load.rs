//! Reads profiles and their catalogs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

pub use crate::dependencies::CargoEnvironment;

use crate::catalog::Catalog;
use crate::compile::{CatalogFinder, Compilation, FoundCatalog, MissingCatalog, SourceText, catalogs, compile};
use crate::dependencies::{Dependencies, Unavailable};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::messages;
use crate::parse::RawCrate;
use crate::paths::{display_path, normalize};
use crate::plan::Plan;
use crate::source::{Files, Span};

/// The name of a crate's catalog, in the folder of its manifest.
const CATALOG: &str = "schedc.toml";

/// The crate with the client for extenders.
const EXTENDER_CRATE: &str = "schedc-extender";

/// Options for loading profiles.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the manifest of the package that compiles the profiles. Crates are looked up among its
    /// dependencies, and paths are displayed relative to it. Inside a build script: `CARGO_MANIFEST_DIR`.
    pub manifest_dir: PathBuf,
}

/// A profile to load.
#[derive(Clone, Debug)]
pub enum Input {
    /// The file at this path.
    File(PathBuf),
    /// A text in the program.
    Embedded(Embedded),
}

/// The text of a profile, with the texts of its catalogs.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// The displayed path.
    pub path: String,
    /// The text.
    pub text: String,
    /// The catalogs of plugin crates: each crate as named in the profile, and the text of its catalog.
    pub catalogs: Vec<(String, String)>,
}

/// Compiles the profiles in these files. [`Compilation::watched`] contains the files that were read.
///
/// # Errors
///
/// All errors of all files, including unreadable files.
pub fn load(inputs: &[PathBuf], options: &Options) -> Result<Compilation, Diagnostics> {
    load_with(inputs, options, &CargoEnvironment::of_process())
}

/// Compiles profiles like [`load()`], with another environment than that of this process.
///
/// # Errors
///
/// As [`load()`].
pub fn load_with(inputs: &[PathBuf], options: &Options, cargo: &CargoEnvironment) -> Result<Compilation, Diagnostics> {
    let inputs: Vec<Input> = inputs.iter().cloned().map(Input::File).collect();
    load_inputs(&inputs, options, cargo)
}

/// Compiles profiles like [`load_with()`], also from texts in the program.
///
/// # Errors
///
/// As [`load()`].
pub fn load_inputs(inputs: &[Input], options: &Options, cargo: &CargoEnvironment) -> Result<Compilation, Diagnostics> {
    let texts = Texts::read(inputs, options);
    let mut finder = Finder::new(&texts, options, cargo);
    let result = compile(&texts.sources, &mut finder);
    let result = result.and_then(|compilation| finder.check_extender_crate(compilation));
    let result = result.and_then(|compilation| finder.check_plugin_features(compilation));
    let of_crates = finder.catalogs.into_iter().chain(finder.dependencies.files());
    let watched = texts.files.iter().map(|(_, file)| file.clone()).chain(of_crates).collect();
    let compilation = texts.or_unreadable(result)?;
    Ok(Compilation { watched, ..compilation })
}

/// Reads the in-tree catalog, the package's catalog, if any, and the catalogs that these profiles name.
///
/// # Errors
///
/// Unreadable files, profiles that are not TOML, and all errors of catalogs. Other errors of profiles are ignored.
pub fn load_catalogs(inputs: &[Input], options: &Options) -> Result<Vec<Arc<Catalog>>, Diagnostics> {
    let mut texts = Texts::read(inputs, options);
    let own = options.manifest_dir.join(CATALOG);
    let own = match fs::read_to_string(&own) {
        Ok(text) => {
            let path = display_path(&own, &options.manifest_dir);
            Some(FoundCatalog { path, text, sources: rust_sources(&options.manifest_dir) })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            texts.unreadable.push(messages::unreadable_file(&own, &error.to_string()));
            None
        }
    };
    let cargo = CargoEnvironment::of_process();
    let mut finder = Finder::new(&texts, options, &cargo);
    let result = catalogs(&texts.sources, own.as_ref(), &mut finder);
    texts.or_unreadable(result)
}

/// Reads the Rust files of a crate: those below `src` or, without such a folder, those next to the catalog.
///
/// Unreadable files are omitted. rustc still checks the arguments that are declared in them.
pub(crate) fn rust_sources(folder: &Path) -> Vec<String> {
    let src = folder.join("src");
    let (mut folders, recursive) = if src.is_dir() { (vec![src], true) } else { (vec![folder.to_owned()], false) };
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.extend(recursive.then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                texts.extend(fs::read_to_string(path));
            }
        }
    }
    texts
}

/// Profiles as texts.
struct Texts<'i> {
    sources: Vec<SourceText>,
    /// The files, each with its displayed path.
    files: Vec<(String, PathBuf)>,
    /// The profiles in the program, by displayed path.
    embedded: HashMap<&'i str, &'i Embedded>,
    unreadable: Vec<Diagnostic>,
}

impl<'i> Texts<'i> {
    fn read(inputs: &'i [Input], options: &Options) -> Self {
        let mut texts =
            Self { sources: Vec::new(), files: Vec::new(), embedded: HashMap::new(), unreadable: Vec::new() };
        for input in inputs {
            match input {
                Input::Embedded(profile) => {
                    texts.embedded.insert(&profile.path, profile);
                    texts.sources.push(SourceText { path: profile.path.clone(), text: profile.text.clone() });
                }
                Input::File(file) => match fs::read_to_string(file) {
                    Err(error) => texts.unreadable.push(messages::unreadable_file(file, &error.to_string())),
                    Ok(text) => {
                        let path = display_path(file, &options.manifest_dir);
                        texts.files.push((path.clone(), file.clone()));
                        texts.sources.push(SourceText { path, text });
                    }
                },
            }
        }
        texts
    }

    /// Returns the result if all files were readable. Otherwise, returns the errors of unreadable files, after those of
    /// the result.
    fn or_unreadable<T>(self, result: Result<T, Diagnostics>) -> Result<T, Diagnostics> {
        let unreadable = self.unreadable;
        match result {
            Err(diagnostics) => Err(diagnostics.extended(unreadable)),
            Ok(_) if !unreadable.is_empty() => Err(Diagnostics::new(Files::default(), unreadable)),
            Ok(value) => Ok(value),
        }
    }
}

/// Finds catalogs by crate names and by paths.
struct Finder<'a> {
    options: &'a Options,
    /// The files of profiles, by displayed path.
    profiles: HashMap<&'a str, &'a Path>,
    embedded: &'a HashMap<&'a str, &'a Embedded>,
    dependencies: Dependencies<'a>,
    /// The files of the catalogs that were read.
    catalogs: Vec<PathBuf>,
}

impl CatalogFinder for Finder<'_> {
    fn find(&mut self, wanted: &RawCrate, profile: &str) -> Result<FoundCatalog, MissingCatalog> {
        let (RawCrate::Name(written) | RawCrate::Path(written)) = wanted;
        if let Some(embedded) = self.embedded.get(profile)
            && let Some((name, text)) = embedded.catalogs.iter().find(|(name, _)| *name == written.value)
        {
            let path = format!("{name}/{CATALOG}");
            return Ok(FoundCatalog { path, text: text.clone(), sources: Vec::new() });
        }
        let folder = match wanted {
            RawCrate::Path(path) => {
                let profile = self.profiles.get(profile).copied().unwrap_or(Path::new(profile));
                normalize(&profile.parent().unwrap_or(Path::new("")).join(&path.value))
            }
            RawCrate::Name(name) => self.dependencies.find(&name.value)?,
        };
        let path = folder.join(CATALOG);
        match fs::read_to_string(&path) {
            Err(_) => Err(MissingCatalog::NoCatalog { expected_path: path }),
            Ok(text) => {
                let display_path = display_path(&path, &self.options.manifest_dir);
                if !self.catalogs.contains(&path) {
                    self.catalogs.push(path);
                }
                Ok(FoundCatalog { path: display_path, text, sources: rust_sources(&folder) })
            }
        }
    }
}

impl<'a> Finder<'a> {
    fn new(texts: &'a Texts<'a>, options: &'a Options, cargo: &'a CargoEnvironment) -> Self {
        Self {
            options,
            profiles: texts.files.iter().map(|(path, file)| (path.as_str(), file.as_path())).collect(),
            embedded: &texts.embedded,
            dependencies: Dependencies::new(&options.manifest_dir, cargo),
            catalogs: Vec::new(),
        }
    }

    /// Checks that generated code can refer to the crate with the client for extenders.
    fn check_extender_crate(&self, compilation: Compilation) -> Result<Compilation, Diagnostics> {
        let plans = self.plans_of_files(&compilation);
        let extenders: Vec<Span> =
            plans.filter_map(|plan| plan.extenders.first()).map(|extender| extender.at).collect();
        if extenders.is_empty() {
            return Ok(compilation);
        }
        let Some(unavailable) = self.dependencies.unavailable(EXTENDER_CRATE) else { return Ok(compilation) };
        let diagnostics = extenders.into_iter().map(|at| match &unavailable {
            Unavailable::NotADependency { package } => messages::extender_crate_missing(at, package),
            Unavailable::FeatureOff { package, feature } => messages::extender_crate_off(at, package, feature),
        });
        Err(Diagnostics::new(compilation.files, diagnostics.collect()))
    }

    /// Checks that generated code can refer to plugins that features of the package enable.
    fn check_plugin_features(&self, compilation: Compilation) -> Result<Compilation, Diagnostics> {
        let mut diagnostics = Vec::new();
        for plan in self.plans_of_files(&compilation) {
            for plugin in &plan.plugins {
                let disabled = plugin
                    .entry
                    .feature()
                    .and_then(|feature| Some((feature, self.dependencies.disabled_feature(feature)?)));
                if let Some((feature, package)) = disabled {
                    let at = plugin.named_at.unwrap_or(Span { file: plan.file, start: 0, end: 0 });
                    diagnostics.push(messages::plugin_off(at, &plugin.entry.name, package, feature));
                }
            }
        }
        if diagnostics.is_empty() { Ok(compilation) } else { Err(Diagnostics::new(compilation.files, diagnostics)) }
    }

    /// Returns the plans of profiles in files. Embedded profiles are omitted: their crates and features were available when
    /// the program was built.
    fn plans_of_files<'c>(&'c self, compilation: &'c Compilation) -> impl Iterator<Item = &'c Plan> {
        compilation.plans.iter().filter(|plan| !self.embedded.contains_key(plan.path.as_str()))
    }
}
