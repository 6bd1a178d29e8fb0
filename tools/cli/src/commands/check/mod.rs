//! `schedc check`

mod manifests;
mod profiles;
mod sarif;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use schedc_core::erased::AnyBundle;

use super::exit_code::exit_code;
use super::objects;
use super::output::Format;

/// Check profiles, or with -f check manifests against a cluster before their submission
///
/// `schedc check [PROFILE]...` shows all errors of profiles. The checks are those of a build. They include the rules
/// between profiles, because all given profiles are checked as parts of one program. The exit code is 1 if there are
/// errors.
///
/// `schedc check -f MANIFEST FILE|FOLDER...` adds the pods of a manifest to the cluster of the files. The pods of
/// Deployments, ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets, Jobs and CronJobs are those that their
/// controllers create. The output has the node of each pod, the pods that it preempts, and the reasons why pods wait.
/// The pending pods of the cluster are placed first. The exit code is 0 if all pods of the manifest run, 1 if some
/// wait, and 2 after an error, such as wrong input.
#[derive(Args)]
#[command(
    mut_arg("files", |files| files
        .required(false)
        .value_name("PROFILE|FILE")
        .help("Profiles: names of files in profiles/ or of compiled-in profiles, paths, or folders [default: all of \
               profiles/]. With -f, the manifests of the cluster: files, folders, or `-` for standard input")),
    mut_arg("live", |live| live.requires("manifests")),
    mut_arg("kubeconfig", |kubeconfig| kubeconfig.requires("manifests")),
    mut_arg("context", |context| context.requires("manifests")),
    mut_arg("profile", |profile| profile.requires("manifests")),
    mut_arg("interpret", |interpret| interpret.requires("manifests")),
    mut_arg("no_api_defaults", |defaults| defaults.requires("manifests")),
    mut_arg("validate", |validate| validate.requires("manifests")),
)]
pub(crate) struct Check {
    /// Check this manifest against the cluster of the files; may be given several times
    #[arg(short = 'f', long = "filename", value_name = "MANIFEST")]
    manifests: Vec<PathBuf>,

    /// With -f, also exit with 1 if pods would be preempted
    #[arg(long, requires = "manifests")]
    fail_on_preemption: bool,

    /// With -f, the seed for the choice among equally good nodes: equal seeds give equal placements
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "manifests")]
    seed: u64,

    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: CheckFormat,

    #[command(flatten)]
    input: objects::Input,
}

/// Output format of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// A table for users
    Table,
    /// JSON for programs
    Json,
    /// YAML for users and programs
    Yaml,
    /// SARIF 2.1.0 for code review and CI
    Sarif,
}

impl CheckFormat {
    /// Converts to the output format of other commands; `None` for SARIF, which they do not have.
    fn common(self) -> Option<Format> {
        match self {
            CheckFormat::Table => Some(Format::Table),
            CheckFormat::Json => Some(Format::Json),
            CheckFormat::Yaml => Some(Format::Yaml),
            CheckFormat::Sarif => None,
        }
    }
}

impl Check {
    pub(crate) fn run(self, bundle: &AnyBundle) -> ExitCode {
        if self.manifests.is_empty() {
            return match self.profiles(bundle) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => failure.report(),
            };
        }
        exit_code(self.manifests(bundle))
    }
}
