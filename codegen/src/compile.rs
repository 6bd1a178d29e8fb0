//! The phases `parse`, `resolve` and `check` in order, as a function of texts.

use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog::{Catalog, Catalogs};
use crate::check;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::messages;
use crate::parse::{self, RawCrate, RawProfile};
use crate::plan::{Plan, PlanCrate};
use crate::resolve;
use crate::source::{FileId, Files, Spanned};

/// The text of a profile.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// The path, as diagnostics and generated code show it.
    pub path: String,
    /// The text.
    pub text: String,
}

/// Valid profiles, which become one scheduler.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The profiles, in the order of the inputs.
    pub plans: Vec<Plan>,
    /// The texts of profiles and catalogs, for source locations.
    pub files: Files,
    /// The catalogs that the profiles use, the in-tree one first, each once.
    pub catalogs: Vec<Arc<Catalog>>,
    /// Every file with an effect on the compilation: profiles, catalogs of crates, and the manifests and
    /// the lock file that determine the crates' folders. The paths of profiles are absolute or relative, as the inputs
    /// were. [`compile()`] leaves the list empty, because it reads no files; `load` fills it.
    pub watched: Vec<PathBuf>,
}

/// Finds the catalogs of plugin crates.
pub trait CatalogFinder {
    /// Finds the catalog of the crate `wanted`, which a profile names. `profile` is the displayed path of this profile.
    fn find(&mut self, wanted: &RawCrate, profile: &str) -> Result<FoundCatalog, MissingCatalog>;
}

/// A catalog's text.
#[derive(Clone, Debug)]
pub struct FoundCatalog {
    /// The displayed path. Two texts with equal paths are the same catalog.
    pub path: String,
    /// The text.
    pub text: String,
    /// The texts of the crate's Rust files, which declare the arguments of its plugins; empty if they are
    /// unavailable.
    pub sources: Vec<String>,
}

/// Reason why a catalog was not found.
#[derive(Clone, Debug)]
pub enum MissingCatalog {
    /// The package that compiles the profile does not depend on the crate.
    NotADependency {
        /// The package.
        package: String,
        /// Its dependencies.
        dependencies: Vec<String>,
    },
    /// There is no `schedc.toml`.
    NoCatalog {
        /// The expected path.
        expected_path: PathBuf,
    },
    /// The package depends on the crate on other platforms only.
    OtherPlatform {
        /// The package.
        package: String,
    },
    /// The manifest of the package, or of its workspace, cannot be read.
    NoManifest {
        /// The path and the reason.
        error: String,
    },
    /// `cargo metadata` failed. It runs only if the manifests and the lock file do not determine the crate's folder.
    NoMetadata {
        /// The error of the run without the network.
        offline: String,
        /// The error of the run with the network.
        online: String,
    },
}

/// A finder for profiles that use in-tree plugins only.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCrates;

impl CatalogFinder for NoCrates {
    fn find(&mut self, _: &RawCrate, _: &str) -> Result<FoundCatalog, MissingCatalog> {
        Err(MissingCatalog::NotADependency { package: "this package".to_owned(), dependencies: Vec::new() })
    }
}

/// Compiles profiles into plans: parse, resolve, check. All errors of all profiles are returned together.
pub fn compile<F: CatalogFinder>(sources: &[SourceText], finder: &mut F) -> Result<Compilation, Diagnostics> {
    let mut files = Files::default();
    let mut diagnostics = Vec::new();
    match Catalog::in_tree(&mut files, &mut diagnostics) {
        Some(in_tree) => compile_with(in_tree, files, sources, finder),
        None => Err(Diagnostics::new(files, diagnostics)),
    }
}

/// Compiles profiles like [`compile()`], with another in-tree catalog. `files` contains the text of that
/// catalog.
pub fn compile_with<F: CatalogFinder>(
    in_tree: Arc<Catalog>,
    mut files: Files,
    sources: &[SourceText],
    finder: &mut F,
) -> Result<Compilation, Diagnostics> {
    let mut diagnostics = Vec::new();
    let mut third_party = ThirdParty { finder, read: Vec::new() };
    let profiles: Vec<FileId> = sources.iter().map(|source| files.add(&source.path, &source.text)).collect();
    let mut plans = Vec::new();
    let mut are_valid = Vec::new();
    for file in profiles {
        let found_before = diagnostics.len();
        let Some(raw) = parse::profile(&files, file, &mut diagnostics) else { continue };
        let (named, catalogs_complete) = third_party.catalogs_of(&raw, &in_tree, &mut files, &mut diagnostics);
        let crates =
            named.iter().map(|(name, catalog)| PlanCrate { written: name.value.clone(), catalog: catalog.file });
        let crates = crates.collect();
        let catalogs = named.into_iter().map(|(_, catalog)| catalog).collect();
        let catalogs = Catalogs::new(Arc::clone(&in_tree), catalogs, &mut diagnostics);
        let plan = Plan { crates, ..resolve::plan(&files, &raw, &catalogs) };
        let cx = check::Context { raw: &raw, plan: &plan, catalogs: &catalogs, catalogs_complete };
        check::check(&cx, &mut diagnostics);
        plans.push(plan);
        are_valid.push(diagnostics.len() == found_before);
    }
    check::cross_profile::names(&plans, &mut diagnostics);
    let valid: Vec<&Plan> =
        plans.iter().zip(are_valid).filter_map(|(plan, is_valid)| is_valid.then_some(plan)).collect();
    check::cross_profile::queue(&valid, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(Diagnostics::new(files, diagnostics));
    }
    Ok(Compilation { plans, files, catalogs: third_party.into_catalogs(in_tree), watched: Vec::new() })
}

/// Reads the in-tree catalog, the package's catalog (`own`), and the catalogs that profiles name, each once.
///
/// # Errors
///
/// Profiles that are not TOML, crates that a profile names twice, catalogs that are missing, and all errors of
/// catalogs. Other errors of profiles are ignored.
pub fn catalogs<F: CatalogFinder>(
    sources: &[SourceText],
    own: Option<&FoundCatalog>,
    finder: &mut F,
) -> Result<Vec<Arc<Catalog>>, Diagnostics> {
    let mut files = Files::default();
    let mut diagnostics = Vec::new();
    let Some(in_tree) = Catalog::in_tree(&mut files, &mut diagnostics) else {
        return Err(Diagnostics::new(files, diagnostics));
    };
    let mut third_party = ThirdParty { finder, read: Vec::new() };
    if let Some(own) = own {
        third_party.read(own, &in_tree, &mut files, &mut diagnostics);
    }
    for source in sources {
        let file = files.add(&source.path, &source.text);
        let mut profile_errors = Vec::new();
        match parse::profile(&files, file, &mut profile_errors) {
            Some(raw) => _ = third_party.catalogs_of(&raw, &in_tree, &mut files, &mut diagnostics),
            None => diagnostics.extend(profile_errors),
        }
    }
    if !diagnostics.is_empty() {
        return Err(Diagnostics::new(files, diagnostics));
    }
    Ok(third_party.into_catalogs(in_tree))
}

/// A crate name in a profile, and its catalog.
type NamedCatalog = (Spanned<String>, Arc<Catalog>);

/// The catalogs of plugin crates, each read once.
struct ThirdParty<'f, F> {
    finder: &'f mut F,
    read: Vec<(String, Option<Arc<Catalog>>)>,
}

impl<F: CatalogFinder> ThirdParty<'_, F> {
    /// Returns the in-tree catalog, followed by all other catalogs that were read without errors.
    fn into_catalogs(self, in_tree: Arc<Catalog>) -> Vec<Arc<Catalog>> {
        std::iter::once(in_tree).chain(self.read.into_iter().filter_map(|(_, catalog)| catalog)).collect()
    }

    /// Returns the crates that a profile names, each with its catalog, and whether all catalogs were read without errors.
    fn catalogs_of(
        &mut self,
        raw: &RawProfile,
        in_tree: &Catalog,
        files: &mut Files,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (Vec<NamedCatalog>, bool) {
        let mut catalogs: Vec<(String, Spanned<String>, Arc<Catalog>)> = Vec::new();
        let found_before = diagnostics.len();
        let mut complete = !raw.crates_incomplete;
        for wanted in &raw.crates {
            let (RawCrate::Name(name) | RawCrate::Path(name)) = wanted;
            let source = match self.finder.find(wanted, files.path(raw.file)) {
                Ok(source) => source,
                Err(missing) => {
                    diagnostics.push(missing_catalog(name, &missing));
                    continue;
                }
            };
            if let Some((_, first, _)) = catalogs.iter().find(|(path, ..)| *path == source.path) {
                diagnostics.push(messages::same_crate_twice(name, first.span));
                continue;
            }
            match self.read(&source, in_tree, files, diagnostics) {
                Some(catalog) => catalogs.push((source.path, name.clone(), catalog)),
                None => complete = false,
            }
        }
        complete &= diagnostics.len() == found_before;
        (catalogs.into_iter().map(|(_, name, catalog)| (name, catalog)).collect(), complete)
    }

    fn read(
        &mut self,
        source: &FoundCatalog,
        in_tree: &Catalog,
        files: &mut Files,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Arc<Catalog>> {
        if let Some((_, catalog)) = self.read.iter().find(|(path, _)| *path == source.path) {
            return catalog.clone();
        }
        let file = files.add(&source.path, &source.text);
        let found_before = diagnostics.len();
        let catalog = Catalog::third_party(files, file, &source.sources, in_tree, diagnostics);
        let catalog = catalog.filter(|_| diagnostics.len() == found_before);
        self.read.push((source.path.clone(), catalog.clone()));
        catalog
    }
}

fn missing_catalog(name: &Spanned<String>, missing: &MissingCatalog) -> Diagnostic {
    match missing {
        MissingCatalog::NotADependency { package, dependencies } => {
            messages::not_a_dependency(name, package, dependencies)
        }
        MissingCatalog::NoCatalog { expected_path } => messages::no_catalog(name, expected_path),
        MissingCatalog::OtherPlatform { package } => messages::not_on_this_platform(name, package),
        MissingCatalog::NoManifest { error } => messages::no_manifest(name, error),
        MissingCatalog::NoMetadata { offline, online } => messages::no_cargo_metadata(name, offline, online),
    }
}
