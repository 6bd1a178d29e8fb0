//! `schedc explain`

use clap::{Args, value_parser};
use schedc_core::erased::AnyBundle;
use schedc_objects::Objects;

use super::failure::Failure;
use super::objects::{self, SchedulerSetup};
use super::output::{self, Format};
use super::pods::{Pods, check_nodes, name_of};
use super::tables::explanation::{Nodes, table, tables};
use super::validate;
use crate::cluster::scheduler_name;
use crate::explanation::{Explanation, Options, explain};

/// Tell where a pod would go and why, node by node
///
/// For every node either the plugin that rejects it with its reasons, or every plugin's score: raw, normalised to
/// 0..=100, and weighted. The nodes hold the pods that are bound to them; other pending pods are placed first with
/// --after only. A pod that is bound already is explained as if it had no node yet.
#[derive(Args)]
#[command(mut_arg("files", |files| files.required(false).required_unless_present("selector")))]
pub(crate) struct Explain {
    #[command(flatten)]
    pods: Pods,

    /// Place the other pending pods first, as far as `schedc simulate` tries them before this one
    ///
    /// The result is that of `schedc simulate` for this pod. If the pod is tried several times, its last attempt is explained.
    #[arg(long)]
    after: bool,

    /// Which of several equally good nodes is drawn: the same number, the same node as of `schedc simulate`
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,

    /// Show every plugin that rejects a node, not the first alone
    #[arg(long)]
    all_filters: bool,

    /// Print every node in a separate row, not the best nodes and numbers of rejected ones
    #[arg(long, conflicts_with_all = ["node", "top"])]
    nodes: bool,

    /// Print this node alone; may be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "top")]
    node: Vec<String>,

    /// Print so many feasible nodes, those with the highest totals
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = value_parser!(u32).range(1..))]
    top: u32,

    /// How to print the result
    ///
    /// JSON and YAML have all nodes, whatever the options of the table are.
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    #[command(flatten)]
    input: objects::Input,
}

impl Explain {
    pub(crate) fn run(mut self, bundle: &AnyBundle) -> Result<(), Failure> {
        if let Some(file) = self.pods.first_file() {
            self.input.add_first(file.into());
        }
        let setup = self.input.setup(bundle)?;
        let objects = self.input.load(bundle)?;
        validate::warn(&objects.ignored);
        let subjects = self.pods.find(&objects)?;
        check_nodes(&self.node, objects.nodes.iter().filter_map(|node| node.object.metadata.name.as_deref()))?;
        let (mut explanations, mut unserved) = (Vec::new(), Vec::new());
        for subject in subjects {
            let pod = &objects.pods[subject].object;
            match setup.routes.profile_of(pod) {
                Some(profile) => {
                    explanations.push(self.explain(subject, profile, objects.clone(), &setup)?);
                }
                None => unserved.push(format!(
                    "pod {} asks for scheduler `{}`, which is none of the profiles; choose one with --profile",
                    name_of(pod),
                    scheduler_name(pod)
                )),
            }
        }
        if explanations.is_empty() {
            return Err(Failure::Message(unserved.join("\n")));
        }
        unserved.iter().for_each(output::note);
        explanations.iter().take(1).for_each(|explanation| objects::note_uncounted(&explanation.budgets));
        let view = if self.nodes {
            Nodes::All
        } else if self.node.is_empty() {
            Nodes::Top(self.top as usize)
        } else {
            Nodes::Named(self.node)
        };
        match self.pods.first_file() {
            Some(_) => output::print(self.output, &explanations, |explanations| tables(explanations, &view)),
            None => explanations
                .iter()
                .try_for_each(|explanation| output::print(self.output, explanation, |one| table(one, &view))),
        }
    }

    fn explain(
        &self,
        subject: usize,
        profile: usize,
        objects: Objects,
        setup: &SchedulerSetup,
    ) -> Result<Explanation, Failure> {
        let name = name_of(&objects.pods[subject].object);
        let options = Options {
            routes: setup.routes,
            profile,
            seed: self.seed,
            after: self.after,
            all_filters: self.all_filters,
            extenders: setup.extenders,
        };
        let explanation = explain(&setup.bundle, objects, subject, options)?;
        explanation.ok_or_else(|| Failure::new(format_args!("pod {name} does not wait for a scheduler")))
    }
}
