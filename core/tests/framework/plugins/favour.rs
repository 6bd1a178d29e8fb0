//! Scores from labels of nodes.

use std::marker::PhantomData;

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::column::Column;
use schedc_core::extension_points::{Extent, NormalizeScore, PreScorePlugin, ScoreError, ScorePlugin};
use schedc_core::handle::Handle;
use schedc_core::intern::Interner;
use schedc_core::model::{LabelsExt, Node, PodSpec};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, View};
use schedc_core::status::Status;

use super::names::{Named, NamedA, NamedB};
use super::stage::note;

/// A label that should be a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Mark {
    #[default]
    Absent,
    Number(i64),
    Wrong,
}

/// The labels `a`, `b` and `rank` of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    a: Mark,
    b: Mark,
    rank: Mark,
}

impl Column for Marks {
    fn build(node: &Node, interner: &Interner) -> Self {
        let [a, b, rank] = ["a", "b", "rank"].map(|key| {
            match interner.get(key).and_then(|key| node.labels.value(key)).map(|value| interner.resolve(value)) {
                None => Mark::Absent,
                Some(text) => text.parse().map_or(Mark::Wrong, Mark::Number),
            }
        });
        Marks { a, b, rank }
    }
}

pub type FavourA = Favour<NamedA>;
pub type FavourB = Favour<NamedB>;

/// The score is the label itself, 0 without it.
pub struct Favour<N>(PhantomData<fn() -> N>);

impl<N: Named> Plugin for Favour<N> {
    const NAME: &'static str = N::FAVOUR;
    type Args = NoArgs;
    type Columns = Marks;
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Favour(PhantomData))
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl<N: Named> ScorePlugin for Favour<N> {
    type Cycle = ();

    fn score(_: &NoArgs, (): &(), (): &(), node: &Marks) -> Result<i64, ScoreError> {
        match if N::PROBE == "A" { node.a } else { node.b } {
            Mark::Absent => Ok(0),
            Mark::Number(score) => Ok(score),
            Mark::Wrong => Err(ScoreError("the label is no number")),
        }
    }
}

/// The highest `rank` of the feasible nodes scores 100, the lowest 0. Nodes without a rank are excluded from the
/// extremes and score 0.
///
/// For a pod with the label `rank: ignored`, PreScore skips; with `rank: broken`, it fails.
pub struct Rank;

impl Plugin for Rank {
    const NAME: &'static str = "Rank";
    type Args = NoArgs;
    type Columns = Marks;
    type Indexes = ();
    type Reads = ();
    /// The label's value.
    type Pod = Option<String>;

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Rank)
    }

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Option<String> {
        let label = cx.interner.intern("rank");
        pod.labels.value(label).map(|value| cx.interner.resolve(value).to_owned())
    }
}

impl PreScorePlugin for Rank {
    type Cycle = ();

    fn pre_score(
        &self,
        _: &NoArgs,
        pod: &Option<String>,
        _: View<'_, Self>,
        feasible: &NodeMask,
    ) -> Result<CycleSlot<()>, Status> {
        note(format!("Rank pre-score of {} nodes", feasible.count()));
        match pod.as_deref() {
            Some("ignored") => Ok(CycleSlot::skip(())),
            Some("broken") => Err(Status::error("the ladder is broken")),
            _ => Ok(CycleSlot::ready(())),
        }
    }
}

impl ScorePlugin for Rank {
    type Cycle = ();

    fn score(_: &NoArgs, _: &Option<String>, (): &(), node: &Marks) -> Result<i64, ScoreError> {
        match node.rank {
            Mark::Absent => Ok(Self::IGNORED),
            Mark::Number(rank) => Ok(rank),
            Mark::Wrong => Err(ScoreError("the rank is no number")),
        }
    }
}

impl NormalizeScore for Rank {
    fn normalize(_: &NoArgs, extent: Extent, raw: i64) -> i64 {
        if raw == Self::IGNORED || extent.max == extent.min {
            return 0;
        }
        100 * (raw - extent.min) / (extent.max - extent.min)
    }
}
