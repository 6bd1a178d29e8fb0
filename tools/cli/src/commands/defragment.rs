//! `schedc defragment`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use schedc_core::erased::AnyBundle;

use super::drain::NodeNames;
use super::exit_code::exit_code;
use super::failure::Failure;
use super::new_pods::{self, NewPods};
use super::objects::TrialArgs;
use super::output;
use super::pods::check_nodes;
use super::tables::defragment::table;
use super::validate;
use crate::cluster;
use crate::defragment::{Plan, Question, empty_nodes, make_room};
use crate::drain::Permissions;

/// Plan how to move pods to empty as many nodes as possible, or to make room for given pods
///
/// The plan has as few evictions as possible. It is printed and never executed. Each eviction is tried in a
/// cluster in memory, as for `schedc drain`. The disruption budgets must allow it. Before the next eviction, the
/// profile must place the pod that the controller creates instead, without preemption. For a cluster with GPUs, the
/// output has their fragmentation before and after the plan. The exit code is 0 if there is a plan, 1 if no node is
/// empty or can be emptied or if a given pod still waits, and 2 after an error, such as wrong input.
#[derive(Args)]
pub(crate) struct Defragment {
    /// Make room for the pods of this manifest, instead of emptying nodes; may be given several times
    #[arg(long = "for", value_name = "MANIFEST")]
    manifests: Vec<PathBuf>,

    /// Move pods away from these nodes only; names are separated by commas
    #[arg(long, value_name = "NODE,...")]
    nodes: Option<NodeNames>,

    /// Move also pods without a controller, which are deleted and not created again
    #[arg(long)]
    force: bool,

    /// Move also pods with emptyDir volumes, whose data is lost
    #[arg(long)]
    delete_emptydir_data: bool,

    /// Extended resource that counts GPUs; may be given several times [default: all resources named `gpu`, such
    /// as nvidia.com/gpu]
    #[arg(long = "gpu", value_name = "RESOURCE")]
    gpus: Vec<String>,

    #[command(flatten)]
    trials: TrialArgs,
}

impl Defragment {
    pub(crate) fn run(self, bundle: &AnyBundle) -> ExitCode {
        exit_code(self.print_plan(bundle))
    }

    /// Prints the plan, and returns whether it reaches its aim.
    fn print_plan(self, bundle: &AnyBundle) -> Result<bool, Failure> {
        let TrialArgs { output, input, .. } = &self.trials;
        let setup = input.setup(bundle)?;
        let objects = input.load(bundle)?;
        validate::warn(&objects.ignored);
        let nodes = self.nodes.as_ref().map(|NodeNames(nodes)| nodes.clone()).unwrap_or_default();
        check_nodes(&nodes, objects.nodes.iter().filter_map(|node| node.object.metadata.name.as_deref()))?;
        let permissions = Permissions { force: self.force, delete_empty_dir_data: self.delete_emptydir_data };
        let question = Question { permissions, nodes: &nodes, gpus: &self.gpus };
        let options = self.trials.options(&setup);
        let plan = if self.manifests.is_empty() {
            empty_nodes(&setup.bundle, &cluster::objects(objects), &question, &options)?
        } else {
            let NewPods { others, pods, .. } = new_pods::read(&self.manifests, &objects, &setup, &[])?;
            let mut all = cluster::objects(objects);
            all.extend(others);
            make_room(&setup.bundle, &all, pods, &question, &options)?
        };
        if !self.gpus.is_empty() && plan.gpus.is_none() {
            output::note(format_args!("no node has {}", self.gpus.join(" or ")));
        }
        output::print(*output, &plan, table)?;
        Ok(reaches_aim(&plan))
    }
}

/// Returns whether a plan leaves at least one node empty, or makes room for all pods.
fn reaches_aim(plan: &Plan) -> bool {
    let empties = plan.emptying.as_ref().is_none_or(|found| found.emptied.len() + found.already_empty.len() > 0);
    empties && plan.room.as_ref().is_none_or(|room| room.waiting.is_empty())
}
