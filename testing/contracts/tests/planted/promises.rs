//! Plugins that each break one promise of `Incremental`, and the differences that the contract of cached answers
//! reports. The plugins of the module `plugins` break the other promises.

use expect_test::{Expect, expect};
use schedc_core::args::NoArgs;
use schedc_core::column::{NodeInfo, Position};
use schedc_core::extension_points::{
    Extent, FilterPlugin, NormalizeScore, PreFilterPlugin, PreFilterResult, PreScorePlugin, PrepareScore, ScoreClass,
    ScoreError, ScorePlugin, SkipFrequency, default_normalize,
};
use schedc_core::handle::Handle;
use schedc_core::incremental::{DependsOn, Incremental, ScoreUpdate};
use schedc_core::model::{NodeIndex, PodSpec};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, Row, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};
use schedc_testing::{Contract, check};

use super::MANIFESTS;
use super::scheduler::Profiles;

/// Implements a Filter that passes on nodes without pods, for a plugin without arguments and state.
macro_rules! filter_of_empty_nodes {
    ($plugin:ty) => {
        impl FilterPlugin for $plugin {
            type Cycle = ();
            type Rejection = ();
            fn filter(_: &NoArgs, (): &(), (): &(), node: &NodeInfo) -> Result<(), ()> {
                if node.pods.is_empty() { Ok(()) } else { Err(()) }
            }
            fn code((): &()) -> Code {
                Code::Unschedulable
            }
            fn explain(_: &NoArgs, (): &(), (): &(), _: &NodeInfo, (): (), out: &mut Reasons<'_>) {
                out.push("node(s) had pods");
            }
        }
    };
}

/// A filter that promises never to skip, and skips.
#[derive(Default)]
pub struct SkipsAfterAll;

#[plugin]
impl Plugin for SkipsAfterAll {
    type Columns = NodeInfo;
    type Pod = ();
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl PreFilterPlugin for SkipsAfterAll {
    type Cycle = ();
    fn pre_filter(&self, _: &NoArgs, (): &(), _: View<'_, Self>) -> Result<PreFilterResult<()>, Status> {
        Ok(PreFilterResult::skip(()))
    }
}

filter_of_empty_nodes!(SkipsAfterAll);

impl Incremental for SkipsAfterAll {
    const SKIPS: SkipFrequency = SkipFrequency::Never;
}

/// A filter that promises to pass on every node, and rejects some nodes.
#[derive(Default)]
pub struct RejectsAfterAll;

#[plugin]
impl Plugin for RejectsAfterAll {
    type Columns = NodeInfo;
    type Pod = ();
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

filter_of_empty_nodes!(RejectsAfterAll);

impl Incremental for RejectsAfterAll {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;
    fn filter_depends_on((): &(), (): &()) -> DependsOn {
        DependsOn::Nothing
    }
}

const DEPENDS_ON_CLUSTER: u8 = 0;
const JOINS_CLASSES: u8 = 1;
const SWAPS_CLASSES: u8 = 2;

pub type DependsOnCluster = MostPods<DEPENDS_ON_CLUSTER>;
pub type JoinsClasses = MostPods<JOINS_CLASSES>;
pub type SwapsClasses = MostPods<SWAPS_CLASSES>;

/// A score that prefers nodes with many pods. PreScore counts the pods of each node.
pub struct MostPods<const BUG: u8>;

impl<const BUG: u8> Plugin for MostPods<BUG> {
    const NAME: &'static str = ["DependsOnCluster", "JoinsClasses", "SwapsClasses"][BUG as usize];
    type Args = NoArgs;
    type Columns = Position;
    type Indexes = ();
    type Reads = ();
    type Pod = ();
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(MostPods)
    }
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl<const BUG: u8> PreScorePlugin for MostPods<BUG> {
    /// Number of pods on each node.
    type Cycle = Vec<usize>;

    fn pre_score(
        &self,
        _: &NoArgs,
        (): &(),
        view: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<Vec<usize>>, Status> {
        Ok(CycleSlot::ready(view.base.infos().iter().map(|info| info.pods.len()).collect()))
    }
}

impl<const BUG: u8> ScorePlugin for MostPods<BUG> {
    type Cycle = Vec<usize>;

    fn score(_: &NoArgs, (): &(), pods: &Vec<usize>, node: NodeIndex) -> Result<i64, ScoreError> {
        Ok(pods.get(node.get()).map_or(0, |&pods| pods as i64))
    }
}

impl<const BUG: u8> NormalizeScore for MostPods<BUG> {
    fn normalize(_: &NoArgs, extent: Extent, raw: i64) -> i64 {
        default_normalize(extent, false, raw)
    }
}

impl<const BUG: u8> Incremental for MostPods<BUG> {
    fn score_depends_on(_: &Self::Pod) -> DependsOn {
        if BUG == DEPENDS_ON_CLUSTER { DependsOn::Node } else { DependsOn::Cluster }
    }
    fn score_class(
        args: &Self::Args,
        pod: &Self::Pod,
        pods: &<Self as ScorePlugin>::Cycle,
        node: Row<'_, Self>,
    ) -> Result<ScoreClass, ScoreError> {
        let raw = Self::score(args, pod, pods, node)?;
        Ok(ScoreClass(if BUG == JOINS_CLASSES { 0 } else { raw as u64 }))
    }
    fn score_of_class(_: &Self::Args, _: &Self::Pod, _: &<Self as ScorePlugin>::Cycle, class: ScoreClass) -> i64 {
        if BUG == SWAPS_CLASSES { i64::from(class.0 == 0) } else { class.0 as i64 }
    }
}

/// A score of prepared data, with an update that does nothing.
#[derive(Default)]
pub struct OutdatedData;

#[plugin]
impl Plugin for OutdatedData {
    type Columns = Position;
    type Pod = ();
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl PrepareScore for OutdatedData {
    fn prepare(&self, _: &NoArgs, (): &(), view: View<'_, Self>) -> Vec<usize> {
        view.base.infos().iter().map(|info| info.pods.len()).collect()
    }
}

impl ScorePlugin for OutdatedData {
    /// Number of pods on each node.
    type Cycle = Vec<usize>;

    fn score(_: &NoArgs, (): &(), pods: &Vec<usize>, node: NodeIndex) -> Result<i64, ScoreError> {
        Ok(pods.get(node.get()).map_or(0, |&pods| pods as i64))
    }
}

impl Incremental for OutdatedData {
    fn update_prepared(&self, _: &NoArgs, (): &(), _: &mut Vec<usize>, _: View<'_, Self>, _: &mut ScoreUpdate<'_>) {}
}

/// Checks the difference in the report, without the history.
#[track_caller]
fn check_difference(plugin: &str, expect: Expect) {
    let report = check::<Profiles>(plugin, Contract::CachedAnswers, MANIFESTS).expect_err("a bug");
    let (difference, _) = report.split_once("\n\nSteps:").expect("a history");
    let (_, difference) = difference.split_once("\n\n").expect("the name of the contract");
    expect.assert_eq(difference);
}

#[test]
fn a_skip_despite_skips_never_is_detected() {
    check_difference(
        "SkipsAfterAll",
        expect![[r#"
        a/waits-1:
          decision
            full evaluation: 0/1 nodes are available: 1 node(s) had pods.
            cached answer:   on n1"#]],
    );
}

#[test]
fn a_rejection_that_depends_on_nothing_is_detected() {
    check_difference(
        "RejectsAfterAll",
        expect![[r#"
        a/waits-1:
          differs in RejectsAfterAll
          Filter on n1
            full evaluation: RejectsAfterAll rejects: node(s) had pods
            cached answer:   passes"#]],
    );
}

#[test]
fn a_score_that_depends_on_more_than_the_node_is_detected() {
    check_difference(
        "DependsOnCluster",
        expect![[r#"
        a/waits-2:
          differs in DependsOnCluster
          total score of n2
            full evaluation: 50 = DependsOnCluster 50
            cached answer:   100"#]],
    );
}

#[test]
fn a_class_of_nodes_with_different_scores_is_detected() {
    check_difference(
        "JoinsClasses",
        expect![[r#"
        a/waits-2:
          differs in JoinsClasses
          total score of n2
            full evaluation: 100 = JoinsClasses 100
            cached answer:   0"#]],
    );
}

#[test]
fn a_class_with_the_score_of_another_one_is_detected() {
    check_difference(
        "SwapsClasses",
        expect![[r#"
        a/waits-2:
          differs in SwapsClasses
          total score of n1
            full evaluation: 0 = SwapsClasses 0
            cached answer:   100
          total score of n2
            full evaluation: 0 = SwapsClasses 0
            cached answer:   100"#]],
    );
}

#[test]
fn prepared_data_without_an_update_is_detected() {
    check_difference(
        "OutdatedData",
        expect![[r#"
        b/waits-3:
          differs in OutdatedData
          total score of n1
            full evaluation: 1 = OutdatedData 1
            cached answer:   0"#]],
    );
}
