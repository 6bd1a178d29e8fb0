//! `schedc explain`

use clap::{Args, value_parser};
use schedc_core::erased::AnyBundle;
use schedc_objects::Objects;

use super::failure::Failure;
use super::objects::{self, SchedulerSetup};
use super::output::{self, Format};
use super::pods::{Pods, check_nodes, name_of};
use super::reports::{self, ReportFile};
use super::tables::explanation::{Nodes, table, tables};
use super::validate;
use crate::cluster::scheduler_name;
use crate::explanation::{Explanation, Options, explain};

/// Explain the placement of a pod, node by node
///
/// Prints for each node the plugin that rejects it, with the reasons, or the scores of all plugins: raw, normalised (0
/// to 100), and weighted. The nodes contain the pods that are bound to them. Other pending pods are placed first only
/// with --after. A pod that is already bound is explained as if it had no node yet.
#[derive(Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pods: Pods,

    /// Place first the pending pods that `schedc simulate` attempts before this pod
    ///
    /// The result is that of `schedc simulate` for this pod. If the pod has several attempts, the last one is
    /// explained.
    #[arg(long)]
    after: bool,

    /// Seed for the choice among equally good nodes: equal seeds choose the node that `schedc simulate` chooses
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,

    /// Show every plugin that rejects a node, not only the first
    #[arg(long)]
    all_filters: bool,

    /// Print a row for every node, not only the best nodes and the counts of rejected nodes
    #[arg(long, conflicts_with_all = ["node", "top"])]
    nodes: bool,

    /// Print only this node; may be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "top")]
    node: Vec<String>,

    /// Number of feasible nodes to print, those with the highest totals
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = value_parser!(u32).range(1..))]
    top: u32,

    /// Compare the chosen node with this node
    ///
    /// Prints the deciding plugin and the difference of the totals. For each score plugin, prints the weight with which
    /// the other node would have the higher total, and the node that would be the best without this plugin's score. For
    /// an infeasible node, prints every plugin that rejects it.
    #[arg(long, value_name = "NODE")]
    against: Option<String>,

    /// Maximum number of remedies for an unschedulable pod; 0 does not search for any
    ///
    /// A remedy is a change of the pod, of a node, of other pods, of the cluster or of volumes, with which the
    /// scheduler places the pod. The remedies that disturb least come first.
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    max_remedies: u16,

    /// Output format
    ///
    /// JSON and YAML contain all nodes, regardless of the options of the table.
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    #[command(flatten)]
    report: ReportFile,

    #[command(flatten)]
    input: objects::Input,
}

impl Explain {
    pub(crate) fn run(mut self, bundle: &AnyBundle) -> Result<(), Failure> {
        if let Some(file) = self.pods.first_file() {
            self.input.add_first(file.into());
        }
        let setup = self.input.setup(bundle)?;
        let mut objects = self.input.load(bundle)?;
        validate::warn(&objects.ignored);
        let subjects = self.pods.find(&objects)?;
        let named: Vec<String> = self.node.iter().chain(&self.against).cloned().collect();
        check_nodes(&named, objects.nodes.iter().filter_map(|node| node.object.metadata.name.as_deref()))?;
        let (mut explanations, mut unserved) = (Vec::new(), Vec::new());
        let last = subjects.last().copied();
        for subject in subjects {
            let pod = &objects.pods[subject].object;
            match setup.routes.profile_of(pod) {
                Some(profile) => {
                    let given = if Some(subject) == last { std::mem::take(&mut objects) } else { objects.clone() };
                    explanations.push(self.explain(subject, profile, given, &setup)?);
                }
                None => unserved.push(format!(
                    "pod {} has schedulerName `{}`, which is none of the profiles; choose one with --profile",
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
            Nodes::Named(self.node.clone())
        };
        match self.pods.are_selected() {
            true => output::print(self.output, &explanations, |explanations| tables(explanations, &view)),
            false => explanations
                .iter()
                .try_for_each(|explanation| output::print(self.output, explanation, |one| table(one, &view))),
        }?;
        self.report.write(|| {
            let subtitle = format!("{}; seed {}", reports::names(self.input.files()), self.seed);
            reports::explanation::page(&explanations, subtitle)
        })
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
            against: self.against.as_deref(),
            max_remedies: self.max_remedies.into(),
            extenders: setup.extenders,
        };
        let explanation = explain(&setup.bundle, objects, subject, options)?;
        explanation.ok_or_else(|| Failure::new(format_args!("pod {name} does not wait for a scheduler")))
    }
}
