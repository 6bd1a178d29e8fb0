//! `schedc capacity`

use std::path::PathBuf;

use clap::{Args, value_parser};
use schedc_core::erased::AnyBundle;

use super::failure::Failure;
use super::new_pods::choose_profile;
use super::objects::TrialArgs;
use super::output;
use super::tables::capacity::table;
use super::validate;
use crate::capacity::{Question, capacity, prepare};
use crate::cluster;
use crate::workloads::{MAX_PODS, Submission};

/// Count how many more pods of a manifest fit in a cluster
///
/// Pods of the manifest are added one by one until one does not fit, and the profile places each of them. The
/// pending pods of the cluster are placed first. The number of pods of a workload such as a Deployment is not
/// limited by its replicas. No pod is preempted: a pod that could run only by preemption does not fit.
#[derive(Args)]
pub(crate) struct Capacity {
    /// Manifest of a pod or a workload, or `-` for standard input; may be given several times
    ///
    /// Workloads are Deployments, ReplicaSets, ReplicationControllers, StatefulSets, Jobs and CronJobs. The pods of
    /// several workloads are added in rounds, in the ratio of --ratio. Objects of other kinds, such as PriorityClasses,
    /// are added to the cluster.
    #[arg(short = 'f', long = "filename", value_name = "MANIFEST", required = true)]
    manifests: Vec<PathBuf>,

    /// Number of pods of each workload in a round, in the order of the manifests, such as 3:1 [default: 1 each]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ':', value_parser = value_parser!(u16).range(1..))]
    ratio: Vec<u16>,

    /// Report the capacity of each pool: the nodes with the same value of this label
    ///
    /// The report has two numbers for each pool: the pods on its nodes if pods may run on all nodes, and the number of
    /// pods that fit if they may run only in this pool.
    #[arg(long, value_name = "KEY")]
    pool_label: Option<String>,

    /// Maximum number of pods to add
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000, value_parser = value_parser!(u32).range(1..=MAX_PODS as i64))]
    max: u32,

    #[command(flatten)]
    trials: TrialArgs,
}

impl Capacity {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let TrialArgs { output, input, .. } = &self.trials;
        let setup = input.setup(bundle)?;
        let objects = input.load(bundle)?;
        validate::warn(&objects.ignored);
        let mut submission = Submission::read(&self.manifests, &objects)?;
        validate::warn(&submission.ignored);
        submission.check_profiles(&setup.routes).map_err(choose_profile)?;
        let ratio = prepare(&mut submission, &self.ratio).map_err(Failure::new)?;
        let question = Question { ratio: &ratio, max: self.max as usize, pool_label: self.pool_label.as_deref() };
        let options = self.trials.options(&setup);
        let objects = cluster::objects(objects);
        let found = capacity(&setup.bundle, &objects, &submission, &question, &options)?;
        output::print(*output, &found, |found| table(found, self.pool_label.as_deref()))
    }
}
