//! The cluster manifests that commands read.

use std::path::PathBuf;

use clap::Args;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::profile::ProfileInfo;
use schedc_interpret::Interpretation;
use schedc_objects::{Kinds, Objects, Options};

use super::extenders::Extenders;
use super::failure::Failure;
use super::live::{LiveCluster, UsedKinds};
use super::output::{self, Format};
use super::sources;
use super::validate::Validate;
use crate::budgets::Status;
use crate::cluster::Routes;
use crate::trial;

/// The profiles that decide, and the pods that each of them serves.
pub(crate) struct SchedulerSetup {
    pub(crate) bundle: AnyBundle,
    /// Whether the profiles are interpreted rather than compiled in.
    pub(crate) is_interpreted: bool,
    pub(crate) routes: Routes,
    /// Overrides of the profiles' extender settings.
    pub(crate) extenders: &'static Overrides,
}

/// The source of the objects, and the profiles that serve them.
#[derive(Args)]
pub(crate) struct Input {
    /// Manifests in YAML or JSON: files, folders, or `-` for standard input
    ///
    /// Files may contain several documents, and lists in the format of `kubectl get -o yaml` and `-o json`.
    /// Folders are read recursively: all .yaml, .yml, .json and .jsonl files. These kinds are used: Nodes, Pods,
    /// PriorityClasses, Namespaces, Services, ReplicationControllers, ReplicaSets, StatefulSets, Deployments,
    /// PodDisruptionBudgets, PersistentVolumes, PersistentVolumeClaims, StorageClasses, CSINodes, CSIDrivers,
    /// CSIStorageCapacities, VolumeAttachments, ResourceClaims, ResourceClaimTemplates, ResourceSlices, DeviceClasses
    /// and the kinds that plugins declare. Objects of other kinds are counted and skipped.
    #[arg(value_name = "FILE|FOLDER")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    live: LiveCluster,

    /// Let this profile serve all pods, regardless of their scheduler name
    ///
    /// The name of a profile or its scheduler name. `schedc profiles` lists them.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Interpret this profile without a build, instead of using the compiled-in profiles
    ///
    /// The name of a file in profiles/ or of a compiled-in profile, or a path. Only plugins of schedc itself are
    /// available. The decisions equal those of a build, but take longer. May be given several times: the profiles then
    /// form one scheduler.
    #[arg(long, value_name = "PROFILE")]
    interpret: Vec<PathBuf>,

    /// Use objects as given, without the defaults and validation of an API server
    ///
    /// By default, objects are completed as an API server does on creation: requests from limits, allocatable
    /// from capacity, priorities from PriorityClasses, and so on. Objects that an API server would refuse are
    /// errors.
    #[arg(long)]
    no_api_defaults: bool,

    #[command(flatten)]
    validate: Validate,

    #[command(flatten)]
    extenders: Extenders,
}

/// Options of the commands that try changes in a copy of the cluster.
#[derive(Args)]
pub(crate) struct TrialArgs {
    /// Seed for the choice among equally good nodes: equal seeds give equal placements
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,

    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: Format,

    #[command(flatten)]
    pub(crate) input: Input,
}

impl TrialArgs {
    /// Returns the options of trials with these profiles.
    pub(crate) fn options(&self, setup: &SchedulerSetup) -> trial::Options {
        trial::Options { routes: setup.routes, seed: self.seed, extenders: setup.extenders }
    }
}

impl Input {
    /// Adds a file or folder before the others.
    pub(crate) fn add_first(&mut self, file: PathBuf) {
        self.files.insert(0, file);
    }

    /// Returns the files and folders; empty for a live cluster.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Reads the objects of the files or of the cluster.
    pub(crate) fn load(&self, bundle: &AnyBundle) -> Result<Objects, Failure> {
        let options = Options {
            api_server_defaults: !self.no_api_defaults,
            kinds: Kinds::declared(bundle.kinds),
            validation: self.validate.validation(),
        };
        let kinds = if self.interpret.is_empty() { UsedKinds::Compiled } else { UsedKinds::All };
        self.live.load(&self.files, bundle, kinds, options)
    }

    /// Returns the profiles that decide: the interpreted ones, if any, else the compiled ones.
    pub(crate) fn setup(&self, bundle: &AnyBundle) -> Result<SchedulerSetup, Failure> {
        if self.interpret.is_empty() {
            return self.setup_of(bundle.clone(), false);
        }
        self.setup_of(Interpretation::of(sources::load(bundle, &self.interpret)?)?.bundle(), true)
    }

    fn setup_of(&self, bundle: AnyBundle, is_interpreted: bool) -> Result<SchedulerSetup, Failure> {
        let (routes, extenders) = (self.routes(bundle.profiles)?, self.extenders.overrides(bundle.profiles)?);
        Ok(SchedulerSetup { bundle, is_interpreted, routes, extenders })
    }

    /// Returns the profile for each pod.
    fn routes(&self, profiles: &'static [ProfileInfo]) -> Result<Routes, Failure> {
        match &self.profile {
            Some(name) => Ok(Routes::to(profiles, name)?),
            None => Ok(Routes::by_scheduler_name(profiles)),
        }
    }
}

/// Reports the disruption budgets that allow nothing because their pods could not be counted.
pub(crate) fn note_uncounted(budgets: &[Status]) {
    for Status { budget, problem, .. } in budgets {
        if let Some(problem) = problem {
            output::note(format_args!("PodDisruptionBudget {budget} allows no disruption: {problem}"));
        }
    }
}
