//! `schedc build`

mod package;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use clap::Args;
use schedc_codegen::Options;
use schedc_codegen::load::{CargoEnvironment, load_with};
use schedc_codegen::select::PROFILES_VARIABLE;
use schedc_core::erased::AnyBundle;
use serde_json::Value;

use super::failure::Failure;
use super::origin::Origin;
use super::output;
use super::sources::{self, Profile};
use package::Package;

/// Compile a program that has these profiles and can do nothing but `run`: small, and as fast as it gets
///
/// It is built by cargo, in the package around the current folder: a scheduler that `schedc new` began, or a checkout of
/// schedc. Elsewhere, it is built in the checkout that this command comes from. What is wrong with a profile is told before
/// cargo starts.
#[derive(Args)]
pub(crate) struct Build {
    /// Profiles: names of files in profiles/ or of profiles that are compiled in, paths, or folders
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// Where the program goes
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The platform that it is for, as rustc calls it, such as aarch64-unknown-linux-gnu [default: this one]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,

    /// Build with cargo's `release` instead of `dist`: sooner done, larger and slower
    #[arg(long)]
    release: bool,

    /// Ask no network: what is not here is an error
    #[arg(long)]
    offline: bool,
}

impl Build {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        if self.output.is_dir() {
            return Err(Failure::new(format_args!(
                "{} is a folder: say what the program is called",
                self.output.display()
            )));
        }
        let profiles = sources::profiles(bundle, &self.profiles)?;
        let root = root()?;
        let files = profiles.into_iter().map(|profile| {
            let file = match profile {
                Profile::File(path) => path,
                // Its file is in the package that this program was built from.
                Profile::CompiledIn(_, source) => root.join(source.path),
            };
            let cannot_read = |error| Failure::new(format_args!("cannot read {}: {error}", file.display()));
            fs::canonicalize(&file).map_err(cannot_read)
        });
        let files = files.collect::<Result<Vec<PathBuf>, Failure>>()?;
        let mut environment = CargoEnvironment::of_process();
        environment.is_offline |= self.offline;
        let compilation = load_with(&files, &Options { manifest_dir: root.clone() }, &environment)?;
        let package = Package::of(&root)?;
        package.check(&compilation.plans)?;
        let program = self.cargo(&package, &package.features(&compilation.plans), &files)?;
        copy(&program, &self.output)?;
        let bytes = fs::metadata(&self.output).map_or(0, |metadata| metadata.len());
        let profiles: Vec<&str> = compilation.plans.iter().map(|plan| plan.stem.as_str()).collect();
        let megabytes = bytes as f64 / 1e6;
        output::note(format_args!("wrote {}, {megabytes:.1} MB, with {}", self.output.display(), profiles.join(", ")));
        Ok(())
    }

    /// Has cargo build the program, which tells people on standard error how far it is.
    fn cargo(&self, package: &Package, features: &str, files: &[PathBuf]) -> Result<PathBuf, Failure> {
        let picked: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        let mut command = cargo();
        command
            .args(["build", "--message-format", "json-render-diagnostics", "--no-default-features"])
            .args(["--profile", if self.release { "release" } else { "dist" }])
            .args(["--bin", &package.program, "--features", features])
            .args(self.target.iter().flat_map(|target| ["--target", target]))
            .args(self.offline.then_some("--offline"))
            // Build scripts run cargo, too.
            .envs(self.offline.then_some(("CARGO_NET_OFFLINE", "true")))
            .current_dir(&package.root)
            .env(PROFILES_VARIABLE, picked.join(","))
            .stdout(Stdio::piped());
        let mut child = command.spawn().map_err(no_cargo)?;
        let told = child.stdout.take().map(BufReader::new);
        let lines = told.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
        let program = lines.filter_map(|line| executable(&line)).last();
        let status = child.wait().map_err(no_cargo)?;
        match program.filter(|_| status.success()) {
            Some(program) => Ok(program),
            None => Err(Failure::new("cargo could not build the program; what it says is above")),
        }
    }
}

/// The package around the current folder, else the checkout that this program comes from.
fn root() -> Result<PathBuf, Failure> {
    let current = env::current_dir().unwrap_or_default();
    if let Some(folder) = current.ancestors().find(|folder| folder.join("Cargo.toml").is_file()) {
        return Ok(folder.to_owned());
    }
    let missing = || {
        Failure::new(
            "there is no package here, and no checkout of schedc where this command was built: run it in a checkout, or in \
             a scheduler that `schedc new` began",
        )
    };
    Origin::find().ok().and_then(Origin::folder).ok_or_else(missing)
}

/// Cargo, as cargo itself says if this was started by it.
fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn no_cargo(error: io::Error) -> Failure {
    Failure::new(format_args!("cannot start cargo: {error}; rustup.rs has it, and CARGO says where it is"))
}

/// The program that a message of cargo tells of.
fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

/// In place of what may be there, which may be running, and stays if this fails.
fn copy(program: &Path, output: &Path) -> Result<(), Failure> {
    let mut beside = output.as_os_str().to_owned();
    beside.push(".new");
    let copied = fs::copy(program, &beside).and_then(|_| fs::rename(&beside, output));
    copied.map_err(|error| {
        // What is half written is of no use; why it is, is what people want to know.
        let _ = fs::remove_file(&beside);
        Failure::new(format_args!("cannot write {}: {error}", output.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_program_stays_until_a_new_one_exists() {
        let folder = env::temp_dir().join(format!("schedc-build-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let [old, new] = ["old", "new"].map(|name| folder.join(name));
        fs::write(&old, "old").expect("a file");
        assert!(copy(&new, &old).is_err(), "there is nothing to copy");
        assert_eq!(fs::read_to_string(&old).ok().as_deref(), Some("old"));
        fs::write(&new, "new").expect("a file");
        assert!(copy(&new, &old).is_ok());
        assert_eq!(fs::read_to_string(&old).ok().as_deref(), Some("new"));
        assert_eq!(fs::read_dir(&folder).map(Iterator::count).ok(), Some(2), "nothing is left beside them");
        fs::remove_dir_all(&folder).expect("the folder is ours");
    }
}
