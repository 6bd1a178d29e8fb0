//! PreFilter with state: pods with the same label `team` run on different nodes, and a team has at most three pods.

use std::collections::BTreeMap;

use schedc_core::args::NoArgs;
use schedc_core::column::Position;
use schedc_core::extension_points::{FilterPlugin, PreFilterPlugin, PreFilterResult};
use schedc_core::intern::Symbol;
use schedc_core::model::{LabelsExt, NodeIndex, Pod, PodSpec};
use schedc_core::plugin::{CompileContext, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};

const MAX_TEAM_PODS: usize = 3;

#[derive(Default)]
pub struct TeamAntiAffinity;

/// The label's key, and its value for the pod.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Team {
    label: Symbol,
    name: Option<Symbol>,
}

impl Team {
    fn has(&self, pod: &Pod) -> bool {
        self.name.is_some() && pod.spec.labels.value(self.label) == self.name
    }
}

#[plugin]
impl Plugin for TeamAntiAffinity {
    type Columns = Position;
    type Pod = Team;

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Team {
        let label = cx.interner.intern("team");
        Team { label, name: pod.labels.value(label) }
    }
}

impl PreFilterPlugin for TeamAntiAffinity {
    /// Number of the team's pods on each node that has one.
    type Cycle = BTreeMap<NodeIndex, usize>;

    fn pre_filter(
        &self,
        _: &NoArgs,
        team: &Team,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<Self::Cycle>, Status> {
        let mut members = BTreeMap::new();
        if team.name.is_none() {
            return Ok(PreFilterResult::skip(members));
        }
        for node in view.base.alive().iter() {
            let count = view.base.infos()[node.get()].pods.iter().filter(|pod| team.has(pod)).count();
            if count > 0 {
                members.insert(node, count);
            }
        }
        if members.values().sum::<usize>() >= MAX_TEAM_PODS {
            return Ok(PreFilterResult::reject(members, Status::unschedulable("the team is complete")));
        }
        Ok(PreFilterResult::ready(members))
    }

    fn add_pod(team: &Team, members: &mut Self::Cycle, other: &Pod, _: View<'_, Self>, node: NodeIndex) {
        if team.has(other) {
            *members.entry(node).or_default() += 1;
        }
    }

    fn remove_pod(team: &Team, members: &mut Self::Cycle, other: &Pod, _: View<'_, Self>, node: NodeIndex) {
        if team.has(other)
            && let Some(count) = members.get_mut(&node)
        {
            *count -= 1;
            if *count == 0 {
                members.remove(&node);
            }
        }
    }
}

impl FilterPlugin for TeamAntiAffinity {
    type Cycle = BTreeMap<NodeIndex, usize>;
    type Rejection = ();

    fn filter(_: &NoArgs, _: &Team, members: &Self::Cycle, node: NodeIndex) -> Result<(), ()> {
        if members.contains_key(&node) { Err(()) } else { Ok(()) }
    }

    fn code(_: &()) -> Code {
        Code::Unschedulable
    }

    fn explain(_: &NoArgs, _: &Team, _: &Self::Cycle, _: NodeIndex, _: (), out: &mut Reasons<'_>) {
        out.push("node(s) had a pod of the team");
    }
}
