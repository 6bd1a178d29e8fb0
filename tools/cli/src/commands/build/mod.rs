//! `schedc build`

mod package;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use clap::Args;
use schedc_codegen::Options;
use schedc_codegen::load::{CargoEnvironment, load_with};
use schedc_codegen::plan::Plan;
use schedc_codegen::select::PROFILES_VARIABLE;
use schedc_core::erased::AnyBundle;
use serde_json::Value;

use super::failure::Failure;
use super::origin::Origin;
use super::output;
use super::sources::{self, Profile};
use package::Package;

/// Options of rustc that no cargo profile can set. They remove the tables for unwinding, because the program aborts
/// after a panic. They also remove relocations: like kube-scheduler, the program is loaded at a fixed address.
const LINUX_RUSTFLAGS: &str = r#"build.rustflags=["-Cforce-unwind-tables=no","-Crelocation-model=static"]"#;

/// Compile these profiles to a small, fast program that contains only the commands `run` and `profiles`
///
/// cargo builds it in the package that contains the current folder: a scheduler that `schedc new` created, or a
/// checkout of schedc. In other folders, it is built in the checkout that this command was built from. Errors
/// in profiles are reported before cargo starts.
#[derive(Args)]
pub(crate) struct Build {
    /// Profiles: names of files in profiles/ or of compiled-in profiles, paths, or folders
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// Path of the program to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Target platform in rustc's notation, such as aarch64-unknown-linux-gnu [default: this platform]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,

    /// Build with cargo's profile `release` instead of `dist`: a faster build of a larger and slower program
    #[arg(long)]
    release: bool,

    /// Do not use the network: report an error if something is missing locally
    #[arg(long)]
    offline: bool,
}

impl Build {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        if self.output.is_dir() {
            return Err(Failure::new(format_args!(
                "{} is a folder: append a file name for the program",
                self.output.display()
            )));
        }
        let profiles = sources::profiles(bundle, &self.profiles)?;
        let root = root()?;
        let files = profiles.into_iter().map(|profile| file_of(profile, &root)).collect::<Result<Vec<_>, _>>()?;
        let mut environment = CargoEnvironment::of_process();
        environment.is_offline |= self.offline;
        let compilation = load_with(&files, &Options { manifest_dir: root.clone() }, &environment)?;
        let package = Package::of(&root)?;
        package.check(&compilation.plans)?;
        let program = self.cargo(&package, &package.features(&compilation.plans), &files)?;
        let bytes = fs::metadata(&program).map_or(0, |metadata| metadata.len());
        check_size(&compilation.plans, bytes)?;
        copy(&program, &self.output)?;
        let profiles: Vec<&str> = compilation.plans.iter().map(|plan| plan.stem.as_str()).collect();
        let megabytes = bytes as f64 / 1e6;
        output::note(format_args!(
            "wrote {}, {megabytes:.1} MB, profiles: {}",
            self.output.display(),
            profiles.join(", ")
        ));
        Ok(())
    }

    /// Returns cargo's arguments for the target platform and rustc's options.
    fn target(&self) -> Vec<&str> {
        let target = self.target.as_deref();
        let is_linux = target.map_or(cfg!(target_os = "linux"), |triple| triple.contains("linux"));
        if self.release || !is_linux {
            return target.into_iter().flat_map(|target| ["--target", target]).collect();
        }
        // Without `--target`, cargo would apply the options to build scripts and procedural macros too, which unwind.
        vec!["--target", target.unwrap_or("host-tuple"), "--config", LINUX_RUSTFLAGS]
    }

    /// Runs cargo, which writes its progress to standard error.
    fn cargo(&self, package: &Package, features: &str, files: &[PathBuf]) -> Result<PathBuf, Failure> {
        let paths: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        let mut command = cargo();
        command
            .args(["build", "--message-format", "json-render-diagnostics", "--no-default-features"])
            .args(["--profile", if self.release { "release" } else { "dist" }])
            .args(["--bin", &package.program, "--features", features])
            .args(self.target())
            .args(self.offline.then_some("--offline"))
            // Build scripts run cargo, too.
            .envs(self.offline.then_some(("CARGO_NET_OFFLINE", "true")))
            .current_dir(&package.root)
            .env(PROFILES_VARIABLE, paths.join(","))
            .stdout(Stdio::piped());
        let mut child = command.spawn().map_err(no_cargo)?;
        let stdout = child.stdout.take().map(BufReader::new);
        let lines = stdout.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
        let program = lines.filter_map(|line| executable(&line)).last();
        let status = child.wait().map_err(no_cargo)?;
        match program.filter(|_| status.success()) {
            Some(program) => Ok(program),
            None => Err(Failure::new("cargo could not build the program; its messages are above")),
        }
    }
}

/// Returns the file of a profile.
///
/// # Errors
/// The file cannot be read. Or the profile is compiled in, and its file in `root` is missing or has other content.
fn file_of(profile: Profile, root: &Path) -> Result<PathBuf, Failure> {
    let file = match profile {
        Profile::File(path) => path,
        Profile::CompiledIn(profile, source) => {
            let file = root.join(source.path);
            if !fs::read_to_string(&file).is_ok_and(|text| text == source.lines.join("\n")) {
                return Err(Failure::new(format_args!(
                    "profile {} is compiled into this command, but {} does not have its content: build in the package of the \
                     profile, or give the path of its file",
                    profile.name,
                    file.display()
                )));
            }
            file
        }
    };
    fs::canonicalize(&file).map_err(|error| Failure::new(format_args!("cannot read {}: {error}", file.display())))
}

/// Returns the package that contains the current folder or, failing that, the checkout that this program was built
/// from.
fn root() -> Result<PathBuf, Failure> {
    let current = env::current_dir().unwrap_or_default();
    if let Some(folder) = current.ancestors().find(|folder| folder.join("Cargo.toml").is_file()) {
        return Ok(folder.to_owned());
    }
    let missing = || {
        Failure::new(
            "no package here, and the checkout of schedc that built this command is gone: run this command in a \
             checkout or in a scheduler that `schedc new` created",
        )
    };
    Origin::find().ok().and_then(Origin::folder).ok_or_else(missing)
}

/// Returns the command for cargo: the program that `CARGO` names, or `cargo`. Cargo sets `CARGO` for programs that it starts.
fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn no_cargo(error: io::Error) -> Failure {
    Failure::new(format_args!("cannot start cargo: {error}; install it from rustup.rs or set CARGO to its path"))
}

/// Returns the path of the program in a message of cargo; `None` if the message has none.
fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

/// Returns an error if the size of a program exceeds the budget of a profile. Other limits need a measurement (`schedc bench
/// --check`).
fn check_size(plans: &[Plan], bytes: u64) -> Result<(), Failure> {
    let exceeded = plans.iter().filter_map(|plan| {
        let allowed = plan.budget.binary_size.filter(|allowed| bytes > *allowed)?;
        Some(format!(
            "profile {}: the program has {bytes} bytes, `binary-size` of its budget allows {allowed}",
            plan.stem
        ))
    });
    let exceeded: Vec<String> = exceeded.collect();
    if exceeded.is_empty() { Ok(()) } else { Err(Failure::new(exceeded.join("\n"))) }
}

/// Replaces the output file atomically, because the old program may be running. If the copy fails, the old program
/// stays.
fn copy(program: &Path, output: &Path) -> Result<(), Failure> {
    let mut beside = output.as_os_str().to_owned();
    beside.push(".new");
    let copied = fs::copy(program, &beside).and_then(|_| fs::rename(&beside, output));
    copied.map_err(|error| {
        // A half-written file is useless. If it cannot be removed, only the error of the copy is reported.
        let _ = fs::remove_file(&beside);
        Failure::new(format_args!("cannot write {}: {error}", output.display()))
    })
}

#[cfg(test)]
mod tests {
    use schedc_codegen::{NoCrates, SourceText, compile};
    use schedc_core::profile::ProfileSource;

    use super::*;

    #[test]
    fn a_program_that_exceeds_a_budget_is_not_written() {
        let source = |name: &str, text: &str| SourceText { path: format!("{name}.toml"), text: text.to_owned() };
        let sources = [
            source("small", "scheduler-name = \"small\"\n[budget]\nbinary-size = 1000\n"),
            source("any", "scheduler-name = \"any\"\n"),
        ];
        let plans = compile(&sources, &mut NoCrates).unwrap_or_else(|errors| panic!("{errors}")).plans;
        assert!(check_size(&plans, 1000).is_ok());
        let Err(Failure::Message(message)) = check_size(&plans, 1001) else { panic!("no error") };
        assert_eq!(message, "profile small: the program has 1001 bytes, `binary-size` of its budget allows 1000");
    }

    #[test]
    fn a_compiled_in_profile_is_not_mistaken_for_a_file_of_another_package() {
        let folder = env::temp_dir().join(format!("schedc-build-root-{}", std::process::id()));
        fs::create_dir_all(folder.join("profiles")).expect("a folder");
        let bundle = AnyBundle::of::<default_profile::with_edge::Profiles>();
        let (profile, source) = bundle.profiles.iter().zip(bundle.sources).next().expect("a profile");
        let source: &ProfileSource = Box::leak(Box::new(ProfileSource { path: "profiles/a.toml", ..*source }));
        let file = || file_of(Profile::CompiledIn(profile, source), &folder);
        let message = format!("but {} does not have its content", folder.join("profiles/a.toml").display());
        let check_error = || assert!(matches!(file(), Err(Failure::Message(text)) if text.contains(&message)));
        check_error();
        fs::write(folder.join("profiles/a.toml"), "[plugins]\n").expect("a file");
        check_error();
        fs::write(folder.join("profiles/a.toml"), source.lines.join("\n")).expect("a file");
        assert!(file().is_ok_and(|file| file.ends_with("profiles/a.toml")));
        fs::remove_dir_all(&folder).expect("the folder can be removed");
    }

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
        assert_eq!(fs::read_dir(&folder).map(Iterator::count).ok(), Some(2), "no temporary file remains");
        fs::remove_dir_all(&folder).expect("the folder can be removed");
    }
}
