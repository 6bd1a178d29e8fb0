//! Combined results of the plugins of an extension point, to which generated code adds one result after the other.

use std::time::Duration;

use crate::model::NodeIndex;
use crate::model::intern::Symbol;
use crate::plugin_api::extension_points::{
    CandidateNodes, Nomination, PermitResult, PostFilterResult, PreFilterResult, Repair,
};
use crate::plugin_api::plugin::CycleSlot;
use crate::plugin_api::status::{Code, ReasonList, Status};

/// Combined result of the PreFilter plugins.
#[derive(Debug, Default)]
pub struct PreFilterRun {
    /// The candidate nodes, sorted, each once.
    nodes: Vec<NodeIndex>,
    unknown_nodes: Vec<Symbol>,
    /// The plugins that restricted the nodes. Empty: all nodes remain.
    narrowed_by: Vec<&'static str>,
    rejected: Option<Status>,
    /// Nodes from [`CandidateNodes::Predicted`].
    predicted: Vec<NodeIndex>,
    is_predicted: bool,
    /// Whether a plugin returned [`CandidateNodes::Pinned`].
    is_pinned: bool,
    skipped: Vec<&'static str>,
    answered: Vec<&'static str>,
}

impl PreFilterRun {
    /// Begins another run, in the memory of this one.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.unknown_nodes.clear();
        self.narrowed_by.clear();
        self.rejected = None;
        self.predicted.clear();
        self.is_predicted = false;
        self.is_pinned = false;
        self.skipped.clear();
        self.answered.clear();
    }

    /// Adds one plugin's result.
    ///
    /// # Errors
    /// The pod is rejected or the plugin failed: no further PreFilter runs. [`CandidateNodes::None`] with `Unschedulable`
    /// is not an error; [`PreFilterRun::rejected`] returns it.
    #[inline(always)]
    pub fn take<C>(
        &mut self,
        plugin: &'static str,
        answer: Result<PreFilterResult<C>, Status>,
    ) -> Result<CycleSlot<C>, Status> {
        self.answered.push(plugin);
        let PreFilterResult { slot, candidates } =
            answer.map_err(|status| Self::rejected_as_a_whole(plugin, status))?;
        match candidates {
            // In this common case, the result has nothing to drop. Without `forget`, dropping it would be a call.
            CandidateNodes::All => {
                std::mem::forget(candidates);
                if slot.skip {
                    self.skipped.push(plugin);
                }
            }
            candidates => self.add_candidates(plugin, slot.skip, candidates)?,
        }
        Ok(slot)
    }

    /// Adds the candidate nodes of a plugin. If the plugin skips, its candidate nodes do not count.
    #[inline(never)]
    fn add_candidates(&mut self, plugin: &'static str, skips: bool, candidates: CandidateNodes) -> Result<(), Status> {
        if skips {
            self.skipped.push(plugin);
            return Ok(());
        }
        match candidates {
            CandidateNodes::All => {}
            CandidateNodes::Pinned => self.is_pinned = true,
            CandidateNodes::Predicted(nodes) => {
                if !self.is_predicted || nodes.len() < self.predicted.len() {
                    self.is_predicted = true;
                    self.predicted.clear();
                    self.predicted.extend(nodes);
                }
            }
            CandidateNodes::None(status) => {
                let status = Self::rejected_as_a_whole(plugin, status);
                if status.code != Code::Unschedulable {
                    return Err(status);
                }
                self.rejected = Some(status);
            }
            CandidateNodes::Only { mut nodes, unknown } => {
                self.narrowed_by.push(plugin);
                nodes.sort_unstable();
                if self.narrowed_by.len() == 1 {
                    nodes.dedup();
                    self.nodes.extend(nodes);
                    self.unknown_nodes = unknown;
                } else {
                    self.nodes.retain(|node| nodes.binary_search(node).is_ok());
                    self.unknown_nodes.retain(|name| unknown.contains(name));
                }
                // Names of nodes that do not exist count, too: with such a name, the pod is not rejected as a whole,
                // and the diagnosis has a reason for each node.
                if self.nodes.is_empty() && self.unknown_nodes.is_empty() {
                    return Err(self.no_node_left());
                }
            }
        }
        Ok(())
    }

    /// Converts the status of a pod rejected as a whole. `Pending` is an error in PreFilter.
    #[cold]
    fn rejected_as_a_whole(plugin: &'static str, status: Status) -> Status {
        match status.code {
            Code::Unschedulable | Code::UnschedulableAndUnresolvable => status.with_plugin(plugin),
            _ => failed("PreFilter plugin", plugin, status),
        }
    }

    fn no_node_left(&mut self) -> Status {
        self.narrowed_by.sort_unstable();
        Status::unresolvable(match self.narrowed_by.as_slice() {
            [only] => format!("node(s) didn't satisfy plugin {only}"),
            plugins => format!("node(s) didn't satisfy plugin(s) [{}] simultaneously", plugins.join(" ")),
        })
    }

    /// Returns the candidate nodes, sorted, each once. `None`: all nodes are candidates.
    pub fn nodes(&self) -> Option<&[NodeIndex]> {
        (!self.narrowed_by.is_empty()).then_some(&self.nodes)
    }
    /// Returns the only nodes that can pass Filter, each once, if a plugin predicted its rejections.
    pub fn predicted_nodes(&self) -> Option<&[NodeIndex]> {
        self.is_predicted.then_some(&self.predicted)
    }
    /// Returns whether only the node that the pod names is a candidate, and no plugin restricted or predicted nodes for
    /// another reason.
    pub(crate) fn is_only_pinned(&self) -> bool {
        self.is_pinned && !self.is_predicted && self.narrowed_by.is_empty()
    }
    /// Returns names of candidate nodes that do not exist.
    pub(crate) fn unknown_nodes(&self) -> &[Symbol] {
        &self.unknown_nodes
    }
    /// Returns the plugins that restricted the nodes, sorted.
    pub fn narrowed_by(&self) -> Vec<&'static str> {
        let mut plugins = self.narrowed_by.clone();
        plugins.sort_unstable();
        plugins
    }
    /// Returns a rejection of the pod as a whole that removing pods may change.
    pub fn rejected(&self) -> Option<&Status> {
        self.rejected.as_ref()
    }
    /// Returns whether a plugin's PreFilter ran. After an unresolvable rejection, no further PreFilter runs.
    pub fn ran(&self, plugin: &str) -> bool {
        self.answered.contains(&plugin)
    }
    /// Returns the plugins whose Filter is skipped.
    pub fn skipped(&self) -> &[&'static str] {
        &self.skipped
    }
}

/// Combined result of the PostFilter plugins: kube-scheduler's `RunPostFilterPlugins`.
#[derive(Debug, Default)]
pub struct PostFilterRun {
    result: Option<PostFilterResult>,
    reasons: ReasonList,
    repairs: Vec<Repair>,
    rejector: &'static str,
    done: bool,
}

impl PostFilterRun {
    /// Adds one plugin's result. Returns true if no further plugin runs.
    pub fn take(&mut self, plugin: &'static str, mut answer: PostFilterResult) -> bool {
        answer.status.plugin = plugin;
        self.repairs.append(&mut answer.repairs);
        match answer.status.code {
            Code::Unschedulable | Code::Pending => {
                self.reasons.extend(answer.status.reasons.iter().cloned());
                if self.rejector.is_empty() {
                    self.rejector = plugin;
                }
                if answer.nomination != Nomination::Keep || self.result.is_none() {
                    self.result = Some(answer);
                }
            }
            code => {
                if !matches!(code, Code::Success | Code::UnschedulableAndUnresolvable) {
                    // The nomination of a plugin that failed does not count.
                    answer.nomination = Nomination::Keep;
                    answer.victims.clear();
                    answer.candidates.clear();
                }
                self.result = Some(answer);
                self.done = true;
            }
        }
        self.done
    }

    /// Returns the combined result; `None` if no plugin ran.
    pub fn finish(self) -> Option<PostFilterResult> {
        let mut result = self.result?;
        result.repairs = self.repairs;
        if !self.done {
            result.status = Status { code: Code::Unschedulable, plugin: self.rejector, reasons: self.reasons };
        }
        Some(result)
    }
}

/// Combined result of the Permit plugins: those for which the pod waits, and the maximum times.
#[derive(Debug, Default)]
pub struct PermitRun {
    /// The plugins for which the pod waits, each with its maximum wait in nanoseconds.
    pub waits: Vec<(&'static str, i64)>,
}

impl PermitRun {
    /// Longest wait: 15 minutes, as in kube-scheduler.
    const MAX_WAIT: Duration = Duration::from_secs(15 * 60);

    /// Adds one plugin's result.
    ///
    /// # Errors
    /// The pod is rejected.
    pub fn take(&mut self, plugin: &'static str, answer: PermitResult) -> Result<(), Status> {
        match answer {
            PermitResult::Allow => Ok(()),
            PermitResult::Wait(time) => {
                self.waits.push((plugin, time.min(Self::MAX_WAIT).as_nanos() as i64));
                Ok(())
            }
            PermitResult::Reject(status) => Err(rejected_or_failed("Permit plugin", plugin, status)),
        }
    }
}

/// Converts a plugin's status other than success as kube-scheduler does. A rejection keeps its text; any other status
/// becomes an error that names the plugin. `what` is the extension point in kube-scheduler's words, such as `Reserve
/// plugin`.
pub fn rejected_or_failed(what: &str, plugin: &'static str, status: Status) -> Status {
    if status.code.is_rejected() { status.with_plugin(plugin) } else { failed(what, plugin, status) }
}

/// Converts the status of a plugin that cannot reject: any status other than success is an error.
pub fn failed(what: &str, plugin: &'static str, status: Status) -> Status {
    Status::error(format!("running {what} {plugin:?}: {}", status.message())).with_plugin(plugin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::intern::Interner;

    #[test]
    fn candidate_nodes_of_several_plugins_are_intersected_by_name() {
        let only = |nodes: &[u32]| Ok(PreFilterResult::ready(()).only(nodes.iter().map(|&node| NodeIndex(node))));
        let mut run = PreFilterRun::default();
        let no_node_left = run.take("A", only(&[])).map_err(|status| status.message());
        assert_eq!(no_node_left, Err("node(s) didn't satisfy plugin A".to_string()));
        let mut run = PreFilterRun::default();
        assert!(run.take("B", only(&[1, 2])).is_ok());
        let no_node_left = run.take("A", only(&[3])).map_err(|status| status.message());
        assert_eq!(no_node_left, Err("node(s) didn't satisfy plugin(s) [A B] simultaneously".to_string()));
        let mut interner = Interner::default();
        let ghost = interner.intern("ghost");
        let named = |node: u32| {
            let candidates =
                CandidateNodes::Only { nodes: [NodeIndex(node)].into_iter().collect(), unknown: vec![ghost] };
            Ok(PreFilterResult { candidates, ..PreFilterResult::ready(()) })
        };
        let mut run = PreFilterRun::default();
        assert!(run.take("B", named(1)).is_ok());
        assert!(run.take("A", named(3)).is_ok(), "they agree in a node that does not exist");
        assert_eq!(run.unknown_nodes(), [ghost]);
    }

    #[test]
    fn pre_filter_accepts_only_rejection_codes() {
        let take = |code: Code| {
            let mut run = PreFilterRun::default();
            let answer = run.take("P", Ok(PreFilterResult::reject((), Status::new(code, "no"))));
            (answer.map(|_| ()).map_err(|status| (status.code, status.message())), run.rejected().is_some())
        };
        assert_eq!(take(Code::Unschedulable), (Ok(()), true));
        let unresolvable = (Code::UnschedulableAndUnresolvable, "no".to_owned());
        assert_eq!(take(Code::UnschedulableAndUnresolvable), (Err(unresolvable), false));
        for code in [Code::Pending, Code::Error, Code::Wait] {
            let failure = (Code::Error, r#"running PreFilter plugin "P": no"#.to_owned());
            assert_eq!(take(code), (Err(failure), false));
        }
    }

    #[test]
    fn post_filter_sees_which_pre_filters_ran() {
        let mut run = PreFilterRun::default();
        assert!(run.take("Skips", Ok(PreFilterResult::skip(()))).is_ok());
        assert!(run.take("Rejects", Err::<PreFilterResult<()>, _>(Status::unresolvable("no"))).is_err());
        assert_eq!(["Skips", "Rejects", "Late"].map(|plugin| run.ran(plugin)), [true, true, false]);
    }

    #[test]
    fn a_failed_post_filter_nominates_nothing() {
        let mut run = PostFilterRun::default();
        let mut answer = PostFilterResult::nominate(NodeIndex(1), Vec::new());
        answer.status = Status::error("out of order");
        assert!(run.take("Breaks", answer), "no further plugin runs");
        let result = run.finish().expect("a plugin answered");
        assert_eq!((result.nomination, result.status.plugin), (Nomination::Keep, "Breaks"));
    }
}
