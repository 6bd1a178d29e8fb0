//! A cluster as the source of objects, instead of files.

#[cfg(feature = "run")]
mod lists;

#[cfg(feature = "run")]
use std::path::Path;
use std::path::PathBuf;

use clap::Args;
use schedc_core::erased::AnyBundle;
use schedc_objects::{Objects, Options};

use super::failure::Failure;
use super::program;

/// Options of commands that can read a cluster instead of files.
#[derive(Args)]
pub(crate) struct LiveCluster {
    /// Read the objects of a cluster instead of files, without changing anything
    ///
    /// All objects of the kinds that the profiles use are listed once. The cluster is that of --kubeconfig, else
    /// of the environment variable KUBECONFIG, else of ~/.kube/config, else the cluster in which this program
    /// runs. --kubeconfig and --context imply this flag. As a kubectl plugin, a command that needs a cluster and gets
    /// no file reads the cluster even without this flag.
    #[arg(long, help_heading = "Cluster")]
    live: bool,

    #[command(flatten)]
    choice: ClusterChoice,
}

/// Options that choose a cluster.
#[derive(Args)]
pub(crate) struct ClusterChoice {
    /// Read the cluster of this kubeconfig
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    kubeconfig: Option<PathBuf>,

    /// Read the cluster of this context of the kubeconfig
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    context: Option<String>,
}

#[cfg(feature = "run")]
impl ClusterChoice {
    /// Returns the path of the kubeconfig, if it is given.
    pub(crate) fn kubeconfig(&self) -> Option<&Path> {
        self.kubeconfig.as_deref()
    }

    /// Returns the name of the context, if it is given; without it, the current context applies.
    pub(crate) fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }
}

/// The kinds that are read from a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsedKinds {
    /// The kinds that the compiled-in profiles watch.
    Compiled,
    /// All kinds, for profiles that are read at run time.
    All,
}

impl LiveCluster {
    /// Returns whether options name a cluster.
    pub(crate) fn is_named(&self) -> bool {
        self.live || self.choice.kubeconfig.is_some() || self.choice.context.is_some()
    }

    /// Returns whether a command reads its objects from a cluster instead of `files`.
    ///
    /// # Errors
    /// Returns an error if both files and a cluster are named. If neither is named, a kubectl plugin reads the cluster;
    /// other programs return an error.
    pub(crate) fn is_source(&self, files: &[PathBuf]) -> Result<bool, Failure> {
        match (files, self.is_named()) {
            ([], true) => Ok(true),
            ([], false) if program::kubectl_command().is_some() => Ok(true),
            ([], false) => Err(Failure::new(
                "no file or folder is given; `-` is standard input, and --live reads the objects of a cluster",
            )),
            ([_, ..], false) => Ok(false),
            ([file, ..], true) => Err(Failure::new(format_args!(
                "{}: objects come either from files or, with --live, --kubeconfig or --context, from a cluster",
                file.display()
            ))),
        }
    }

    /// Reads the objects from files or from the cluster.
    pub(crate) fn load(
        &self,
        files: &[PathBuf],
        bundle: &AnyBundle,
        kinds: UsedKinds,
        options: Options,
    ) -> Result<Objects, Failure> {
        match self.is_source(files)? {
            true => self.objects(bundle, kinds, options),
            false => Ok(Objects::load(files, options)?),
        }
    }

    #[cfg(feature = "run")]
    fn objects(&self, bundle: &AnyBundle, kinds: UsedKinds, options: Options) -> Result<Objects, Failure> {
        use schedc_objects::ObjectReader;
        use schedc_objects::manifests::{Collector, SourceLocation};

        let mut collector = Collector::new(ObjectReader::new(options.kinds, options.validation));
        self.read(bundle, kinds, |source, at, object| {
            let item = Some(u32::try_from(at).unwrap_or(u32::MAX));
            collector.add(object, SourceLocation { file: source.clone(), line: 0, item });
        })?;
        Ok(Objects::new(collector.finish()?, options)?)
    }

    #[cfg(not(feature = "run"))]
    fn objects(&self, _: &AnyBundle, _: UsedKinds, _: Options) -> Result<Objects, Failure> {
        Err(unsupported())
    }

    /// Lists the objects of the cluster. Calls `each` for each object with the address of its list, its index in the list,
    /// and its JSON.
    #[cfg(feature = "run")]
    pub(crate) fn read(
        &self,
        bundle: &AnyBundle,
        kinds: UsedKinds,
        each: impl FnMut(&std::sync::Arc<str>, usize, serde_json::Value),
    ) -> Result<(), Failure> {
        lists::read(self.choice.kubeconfig(), self.choice.context(), &lists::resources(bundle, kinds)?, each)
    }

    /// Returns an error: this program has no client of API servers.
    #[cfg(not(feature = "run"))]
    pub(crate) fn read(
        &self,
        _: &AnyBundle,
        _: UsedKinds,
        _: impl FnMut(&std::sync::Arc<str>, usize, serde_json::Value),
    ) -> Result<(), Failure> {
        Err(unsupported())
    }
}

#[cfg(not(feature = "run"))]
fn unsupported() -> Failure {
    Failure::new(
        "this program cannot read a cluster, because it was built without the feature `run`; add `--features run` to its \
         `cargo build`, or pass the output of `kubectl get -A -o json` instead",
    )
}
