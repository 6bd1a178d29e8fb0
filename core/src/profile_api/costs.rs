//! Costs of each plugin of a profile, measured separately over all nodes.
//!
//! The generated [`Profile::costs`](crate::profile::Profile::costs) passes the work of each plugin to a [`Meter`]. A
//! whole evaluation costs less than the sum: a filter runs only for nodes that passed the filters before it, and
//! incremental evaluation runs most plugins only for changes.

use std::hint::black_box;

use crate::model::node_mask::NodeMask;
use crate::plugin_api::column::ColumnSet;
use crate::plugin_api::extension_points::{
    Extent, FilterPlugin, NormalizeScore, PreFilterPlugin, PreScorePlugin, PrepareScore, ScorePlugin,
};
use crate::plugin_api::plugin::{Slices, View};

/// A part of a plugin's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CostPart {
    /// PreFilter, once for a pod.
    PreFilter,
    /// Filter, for every node.
    Filter,
    /// PreScore or PrepareScore, once for a pod.
    PreScore,
    /// Score, for every node.
    Score,
    /// NormalizeScore, for every node.
    NormalizeScore,
}

impl CostPart {
    /// Returns the name of the extension point in profiles, or `normalize-score`.
    pub const fn name(self) -> &'static str {
        match self {
            CostPart::PreFilter => "pre-filter",
            CostPart::Filter => "filter",
            CostPart::PreScore => "pre-score",
            CostPart::Score => "score",
            CostPart::NormalizeScore => "normalize-score",
        }
    }

    /// Returns whether the part runs for every node, not once for a pod.
    pub const fn is_per_node(self) -> bool {
        matches!(self, CostPart::Filter | CostPart::Score | CostPart::NormalizeScore)
    }
}

/// Measures work.
pub trait Meter {
    /// Measures `work`: all that `plugin` does in `part` for one pod. An implementation may run `work` repeatedly.
    fn measure(&mut self, plugin: &'static str, part: CostPart, work: impl FnMut());
}

/// Measures PreFilter of one plugin.
pub fn pre_filter<P: PreFilterPlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    view: View<'_, P>,
    meter: &mut impl Meter,
) {
    meter.measure(P::NAME, CostPart::PreFilter, || {
        if let Ok(answer) = plugin.pre_filter(args, pod, view) {
            plugin.recycle(black_box(answer).slot.state);
        }
    });
}

/// Measures Filter of one plugin, over all nodes.
pub fn filter<P: FilterPlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as FilterPlugin>::Cycle,
    columns: Slices<'_, P>,
    nodes: &NodeMask,
    meter: &mut impl Meter,
) {
    meter.measure(P::NAME, CostPart::Filter, || {
        let pass = |node: usize| P::filter(args, pod, cycle, P::Columns::row(columns, node)).is_ok();
        let passing: usize = nodes.iter().map(|node| usize::from(pass(node.get()))).sum();
        black_box(passing);
    });
}

/// Measures PreScore of one plugin, as if all nodes were feasible.
pub fn pre_score<P: PreScorePlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    view: View<'_, P>,
    nodes: &NodeMask,
    meter: &mut impl Meter,
) {
    meter.measure(P::NAME, CostPart::PreScore, || {
        if let Ok(answer) = plugin.pre_score(args, pod, view, nodes) {
            plugin.recycle(black_box(answer).state);
        }
    });
}

/// Measures PrepareScore of one plugin.
pub fn prepare<P: PrepareScore>(plugin: &P, args: &P::Args, pod: &P::Pod, view: View<'_, P>, meter: &mut impl Meter) {
    meter.measure(P::NAME, CostPart::PreScore, || plugin.recycle(black_box(plugin.prepare(args, pod, view))));
}

/// Measures Score of one plugin, over all nodes.
pub fn score<P: ScorePlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as ScorePlugin>::Cycle,
    columns: Slices<'_, P>,
    nodes: &NodeMask,
    meter: &mut impl Meter,
) {
    meter.measure(P::NAME, CostPart::Score, || {
        let score = |node: usize| P::score(args, pod, cycle, P::Columns::row(columns, node)).unwrap_or_default();
        let sum = nodes.iter().fold(0, |sum: i64, node| sum.wrapping_add(score(node.get())));
        black_box(sum);
    });
}

/// Measures Score and NormalizeScore of one plugin, over all nodes.
pub fn score_normalized<P: NormalizeScore>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as ScorePlugin>::Cycle,
    columns: Slices<'_, P>,
    nodes: &NodeMask,
    meter: &mut impl Meter,
) {
    let mut raw = vec![0; nodes.words().len() * 64];
    meter.measure(P::NAME, CostPart::Score, || {
        for node in nodes.iter() {
            let row = P::Columns::row(columns, node.get());
            raw[node.get()] = P::score(args, pod, cycle, row).unwrap_or_default();
        }
        black_box(&raw);
    });
    let mut extent = Extent::EMPTY;
    nodes.iter().for_each(|node| extent.include_for::<P>(raw[node.get()]));
    meter.measure(P::NAME, CostPart::NormalizeScore, || {
        let score = |node: usize| P::normalize(args, extent, raw[node]);
        let sum = nodes.iter().fold(0, |sum: i64, node| sum.wrapping_add(score(node.get())));
        black_box(sum);
    });
}
