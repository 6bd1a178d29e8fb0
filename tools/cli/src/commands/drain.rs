//! `schedc drain`

use std::convert::Infallible;
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use schedc_core::erased::AnyBundle;

use super::exit_code::exit_code;
use super::failure::Failure;
use super::objects::TrialArgs;
use super::output;
use super::pods::check_nodes;
use super::tables::drain::table;
use super::validate;
use crate::cluster;
use crate::drain::{Permissions, plan};

/// Plan how to empty nodes: the order of evictions, and the new nodes of the pods
///
/// The plan is printed and never executed. In a cluster in memory, the nodes are cordoned and their pods are evicted
/// one by one. The disruption budgets must allow each eviction. Before the next eviction, the profile must place the
/// pod that the controller creates instead, without preemption. Pods of DaemonSets and static pods stay. The exit code
/// is 0 if all nodes can be emptied, 1 if not, and 2 after an error, such as wrong input.
#[derive(Args)]
pub(crate) struct Drain {
    /// The nodes to empty, separated by commas
    #[arg(value_name = "NODE,...")]
    nodes: NodeNames,

    /// Delete pods without a controller, which are not created again
    #[arg(long)]
    force: bool,

    /// Evict pods with emptyDir volumes, whose data is lost
    #[arg(long)]
    delete_emptydir_data: bool,

    #[command(flatten)]
    trials: TrialArgs,
}

/// Names of nodes, each once, in the given order.
#[derive(Clone, Debug)]
pub(crate) struct NodeNames(pub(crate) Vec<String>);

impl FromStr for NodeNames {
    type Err = Infallible;
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let mut names: Vec<String> = Vec::new();
        for name in text.split(',') {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        Ok(NodeNames(names))
    }
}

impl Drain {
    pub(crate) fn run(self, bundle: &AnyBundle) -> ExitCode {
        exit_code(self.print_plan(bundle))
    }

    /// Prints the plan, and returns whether it empties all nodes.
    fn print_plan(self, bundle: &AnyBundle) -> Result<bool, Failure> {
        let TrialArgs { output, input, .. } = &self.trials;
        let setup = input.setup(bundle)?;
        let objects = input.load(bundle)?;
        validate::warn(&objects.ignored);
        let NodeNames(nodes) = self.nodes;
        check_nodes(&nodes, objects.nodes.iter().filter_map(|node| node.object.metadata.name.as_deref()))?;
        let permissions = Permissions { force: self.force, delete_empty_dir_data: self.delete_emptydir_data };
        let options = self.trials.options(&setup);
        let plan = plan(&setup.bundle, &cluster::objects(objects), &nodes, permissions, &options)?;
        output::print(*output, &plan, |plan| table(plan, &nodes))?;
        Ok(plan.blocked.is_empty())
    }
}
