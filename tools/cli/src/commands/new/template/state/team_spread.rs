//! A score with an index, which spreads the pods of a team over racks.

use std::collections::BTreeMap;

use schedc_core::prelude::*;

/// Prefers racks with few pods of the pod's team (label `example.com/team`).
#[derive(Default)]
pub struct TeamSpread;

/// Index with the number of pods of each team in each rack (label `example.com/rack`; nodes without it form
/// one rack).
///
/// Cluster events update it. `add_pod` and `remove_pod` must be exact inverses. A node may change its rack
/// while pods run on it: then only `set_node` is called. Therefore the index also keeps the pods of each
/// node.
#[derive(Default)]
pub struct TeamsByRack {
    rack_label: Symbol,
    team_label: Symbol,
    nodes: Vec<NodeTeams>,
    counts: BTreeMap<(Rack, Team), i64>,
}

type Rack = Option<Symbol>;
type Team = Symbol;

/// A node's rack, and the number of pods of each team on the node.
#[derive(Default)]
struct NodeTeams {
    rack: Rack,
    pods: BTreeMap<Team, i64>,
}

impl TeamsByRack {
    fn team(&self, pod: &PodSpec) -> Option<Team> {
        pod.labels.value(self.team_label)
    }

    fn count_on(&mut self, index: NodeIndex, pod: &Pod, change: i64) {
        let Some(team) = self.team(&pod.spec) else { return };
        let node = &mut self.nodes[index.get()];
        add(&mut node.pods, team, change);
        add(&mut self.counts, (node.rack, team), change);
    }
}

/// Changes a count. A count of 0 has no entry, so `remove_pod` restores the earlier index exactly.
fn add<K: Ord>(counts: &mut BTreeMap<K, i64>, key: K, change: i64) {
    let new = counts.remove(&key).unwrap_or_default() + change;
    if new != 0 {
        counts.insert(key, new);
    }
}

impl Index for TeamsByRack {
    fn begin(&mut self, interner: &mut Interner) {
        self.rack_label = interner.intern("example.com/rack");
        self.team_label = interner.intern("example.com/team");
    }

    fn set_node(&mut self, index: NodeIndex, _old: Option<&Node>, new: Option<&Node>) {
        if self.nodes.len() <= index.get() {
            self.nodes.resize_with(index.get() + 1, NodeTeams::default);
        }
        let rack = new.and_then(|node| node.labels.value(self.rack_label));
        let node = &mut self.nodes[index.get()];
        // The node's pods move to the new rack with it.
        for (&team, &pods) in &node.pods {
            add(&mut self.counts, (node.rack, team), -pods);
            add(&mut self.counts, (rack, team), pods);
        }
        node.rack = rack;
    }

    fn add_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.count_on(index, pod, 1);
    }

    fn remove_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.count_on(index, pod, -1);
    }
}

#[plugin]
impl Plugin for TeamSpread {
    /// `Position` is the node's number, by which Score finds the node's value in the cycle state.
    type Columns = Position;
    type Indexes = TeamsByRack;
    type Pod = Option<Team>;

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Option<Team> {
        cx.indexes.team(pod)
    }
}

/// `compile` reads only the label key from the index. The key never changes.
impl Incremental for TeamSpread {
    fn compile_epoch(_: Refs<'_, Self>) -> Option<u64> {
        Some(0)
    }
}

impl PreScorePlugin for TeamSpread {
    /// Number of pods of the team in the rack of each node.
    type Cycle = Vec<i64>;

    /// Runs once per pod. Score cannot read the index, so this copies the counts into the cycle state.
    fn pre_score(
        &self,
        _: &NoArgs,
        pod: &Self::Pod,
        view: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<Vec<i64>>, Status> {
        let Some(team) = *pod else { return Ok(CycleSlot::skip(Vec::new())) };
        let TeamsByRack { nodes, counts, .. } = view.indexes;
        let count = |node: &NodeTeams| counts.get(&(node.rack, team)).copied().unwrap_or_default();
        Ok(CycleSlot::ready(nodes.iter().map(count).collect()))
    }
}

impl ScorePlugin for TeamSpread {
    type Cycle = Vec<i64>;

    #[inline]
    fn score(_: &NoArgs, _: &Self::Pod, counts: &Vec<i64>, node: NodeIndex) -> Result<i64, ScoreError> {
        // Without PreScore in the profile, there are no counts.
        Ok(counts.get(node.get()).copied().unwrap_or_default())
    }
}

impl NormalizeScore for TeamSpread {
    #[inline]
    fn normalize(_: &NoArgs, extent: Extent, raw: i64) -> i64 {
        let less_is_better = true;
        default_normalize(extent, less_is_better, raw)
    }
}
