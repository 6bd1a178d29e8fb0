//! The promises of each plugin, for generated code: those of its [`Incremental`], otherwise the defaults.

use std::marker::PhantomData;

use crate::plugin_api::column::IndexSet;
use crate::plugin_api::extension_points::{
    FilterPlugin, NormalizeScore, PreFilterPlugin, PreScorePlugin, PrepareScore, ScoreClass, ScoreError, ScorePlugin,
    SkipFrequency, rerun_pre_filter, rerun_pre_score, rerun_prepare,
};
use crate::plugin_api::incremental::{DependsOn, FilterUpdate, Incremental, NeedsFullEvaluation, ScoreUpdate};
use crate::plugin_api::plugin::{CycleSlot, Plugin, Refs, Row, View};

/// The promises of a plugin. For a type that implements [`Incremental`], the functions of this type have precedence
/// over the functions of [`DefaultPromises`] with the same names. This works only for concrete types: for a type
/// parameter, its bounds determine the function.
#[derive(Debug)]
pub struct Promises<P>(PhantomData<P>);

/// The promises of a plugin without [`Incremental`].
pub trait DefaultPromises {
    /// The plugin.
    type Plugin: Plugin;
    /// Default of [`Incremental::SKIPS`].
    const SKIPS: SkipFrequency = SkipFrequency::Sometimes;
    /// Default of [`Incremental::FILTER_CAN_FAIL`].
    const FILTER_CAN_FAIL: bool = true;
    /// Default of [`Incremental::REPORTS_ALL_VERDICTS`].
    const REPORTS_ALL_VERDICTS: bool = false;
    /// Default of [`Incremental::REPORTS_ALL_SCORES`].
    const REPORTS_ALL_SCORES: bool = false;

    /// Returns the default of [`Incremental::compile_epoch`].
    fn compile_epoch(_: Refs<'_, Self::Plugin>) -> Option<u64> {
        <<Self::Plugin as Plugin>::Indexes as IndexSet>::IS_EMPTY.then_some(0)
    }
    /// Returns the default of [`Incremental::reasons_key`].
    #[inline(always)]
    fn reasons_key(_: &<Self::Plugin as FilterPlugin>::Rejection) -> Option<u32>
    where
        Self::Plugin: FilterPlugin,
    {
        None
    }
    /// Returns the default of [`Incremental::uniform_rejection`].
    #[inline(always)]
    fn uniform_rejection(
        _: &<Self::Plugin as Plugin>::Pod,
        _: &<Self::Plugin as FilterPlugin>::Cycle,
    ) -> Option<<Self::Plugin as FilterPlugin>::Rejection>
    where
        Self::Plugin: FilterPlugin,
    {
        None
    }
    /// Returns the default of [`Incremental::filter_depends_on`].
    #[inline(always)]
    fn filter_depends_on(_: &<Self::Plugin as Plugin>::Pod, _: &<Self::Plugin as FilterPlugin>::Cycle) -> DependsOn
    where
        Self::Plugin: FilterPlugin,
    {
        DependsOn::Cluster
    }
    /// Returns the default of [`Promises::is_filter_idle`].
    #[inline(always)]
    fn is_filter_idle(_: &<Self::Plugin as Plugin>::Pod) -> bool {
        false
    }
    /// Returns the default of [`Incremental::score_depends_on`].
    #[inline(always)]
    fn score_depends_on(_: &<Self::Plugin as Plugin>::Pod) -> DependsOn {
        DependsOn::Cluster
    }
    /// Runs the default of [`Incremental::update_filter`].
    ///
    /// # Errors
    /// As for [`Incremental::update_filter`].
    fn update_filter(
        plugin: &Self::Plugin,
        args: &<Self::Plugin as Plugin>::Args,
        pod: &<Self::Plugin as Plugin>::Pod,
        slot: &mut CycleSlot<<Self::Plugin as PreFilterPlugin>::Cycle>,
        view: View<'_, Self::Plugin>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation>
    where
        Self::Plugin: PreFilterPlugin,
    {
        rerun_pre_filter(plugin, args, pod, slot, view, verdicts)
    }
    /// Runs the default of [`Incremental::update_score`].
    ///
    /// # Errors
    /// As for [`Incremental::update_score`].
    fn update_score(
        plugin: &Self::Plugin,
        args: &<Self::Plugin as Plugin>::Args,
        pod: &<Self::Plugin as Plugin>::Pod,
        slot: &mut CycleSlot<<Self::Plugin as PreScorePlugin>::Cycle>,
        view: View<'_, Self::Plugin>,
        scores: &mut ScoreUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation>
    where
        Self::Plugin: PreScorePlugin,
    {
        rerun_pre_score(plugin, args, pod, slot, view, scores)
    }
    /// Runs the default of [`Incremental::update_prepared`].
    fn update_prepared(
        plugin: &Self::Plugin,
        args: &<Self::Plugin as Plugin>::Args,
        pod: &<Self::Plugin as Plugin>::Pod,
        data: &mut <Self::Plugin as ScorePlugin>::Cycle,
        view: View<'_, Self::Plugin>,
        scores: &mut ScoreUpdate<'_>,
    ) where
        Self::Plugin: PrepareScore,
    {
        rerun_prepare(plugin, args, pod, data, view, scores);
    }
    /// Returns the default of [`Incremental::score_class`].
    ///
    /// # Errors
    /// As for [`Incremental::score_class`].
    #[inline(always)]
    fn score_class(
        args: &<Self::Plugin as Plugin>::Args,
        pod: &<Self::Plugin as Plugin>::Pod,
        state: &<Self::Plugin as ScorePlugin>::Cycle,
        node: Row<'_, Self::Plugin>,
    ) -> Result<ScoreClass, ScoreError>
    where
        Self::Plugin: NormalizeScore,
    {
        <Self::Plugin as ScorePlugin>::score(args, pod, state, node).map(|raw| ScoreClass(raw as u64))
    }
    /// Returns the default of [`Incremental::score_of_class`].
    #[inline(always)]
    fn score_of_class(
        _: &<Self::Plugin as Plugin>::Args,
        _: &<Self::Plugin as Plugin>::Pod,
        _: &<Self::Plugin as ScorePlugin>::Cycle,
        class: ScoreClass,
    ) -> i64
    where
        Self::Plugin: NormalizeScore,
    {
        class.0 as i64
    }
}

impl<P: Plugin> DefaultPromises for Promises<P> {
    type Plugin = P;
}

impl<P: Incremental> Promises<P> {
    /// [`Incremental::SKIPS`].
    pub const SKIPS: SkipFrequency = P::SKIPS;
    /// [`Incremental::FILTER_CAN_FAIL`].
    pub const FILTER_CAN_FAIL: bool = P::FILTER_CAN_FAIL;
    /// [`Incremental::REPORTS_ALL_VERDICTS`].
    pub const REPORTS_ALL_VERDICTS: bool = P::REPORTS_ALL_VERDICTS;
    /// [`Incremental::REPORTS_ALL_SCORES`].
    pub const REPORTS_ALL_SCORES: bool = P::REPORTS_ALL_SCORES;

    /// Calls [`Incremental::compile_epoch`].
    #[inline(always)]
    pub fn compile_epoch(indexes: Refs<'_, P>) -> Option<u64> {
        P::compile_epoch(indexes)
    }
    /// Calls [`Incremental::reasons_key`].
    #[inline(always)]
    pub fn reasons_key(rejection: &P::Rejection) -> Option<u32>
    where
        P: FilterPlugin,
    {
        P::reasons_key(rejection)
    }
    /// Calls [`Incremental::uniform_rejection`].
    #[inline(always)]
    pub fn uniform_rejection(pod: &P::Pod, state: &<P as FilterPlugin>::Cycle) -> Option<P::Rejection>
    where
        P: FilterPlugin,
    {
        P::uniform_rejection(pod, state)
    }
    /// Calls [`Incremental::filter_depends_on`].
    #[inline(always)]
    pub fn filter_depends_on(pod: &P::Pod, state: &<P as FilterPlugin>::Cycle) -> DependsOn
    where
        P: FilterPlugin,
    {
        P::filter_depends_on(pod, state)
    }
    /// Returns whether a Filter without PreFilter passes on every node.
    #[inline(always)]
    pub fn is_filter_idle(pod: &P::Pod) -> bool
    where
        P: FilterPlugin<Cycle: Default>,
    {
        matches!(P::SKIPS, SkipFrequency::Usually)
            && P::filter_depends_on(pod, &Default::default()) == DependsOn::Nothing
    }
    /// Calls [`Incremental::score_depends_on`].
    #[inline(always)]
    pub fn score_depends_on(pod: &P::Pod) -> DependsOn
    where
        P: ScorePlugin,
    {
        P::score_depends_on(pod)
    }
    /// Calls [`Incremental::update_filter`].
    ///
    /// # Errors
    /// As for [`Incremental::update_filter`].
    #[inline(always)]
    pub fn update_filter(
        plugin: &P,
        args: &P::Args,
        pod: &P::Pod,
        slot: &mut CycleSlot<<P as PreFilterPlugin>::Cycle>,
        view: View<'_, P>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation>
    where
        P: PreFilterPlugin,
    {
        plugin.update_filter(args, pod, slot, view, verdicts)
    }
    /// Calls [`Incremental::update_score`].
    ///
    /// # Errors
    /// As for [`Incremental::update_score`].
    #[inline(always)]
    pub fn update_score(
        plugin: &P,
        args: &P::Args,
        pod: &P::Pod,
        slot: &mut CycleSlot<<P as PreScorePlugin>::Cycle>,
        view: View<'_, P>,
        scores: &mut ScoreUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation>
    where
        P: PreScorePlugin,
    {
        plugin.update_score(args, pod, slot, view, scores)
    }
    /// Calls [`Incremental::update_prepared`].
    #[inline(always)]
    pub fn update_prepared(
        plugin: &P,
        args: &P::Args,
        pod: &P::Pod,
        data: &mut <P as ScorePlugin>::Cycle,
        view: View<'_, P>,
        scores: &mut ScoreUpdate<'_>,
    ) where
        P: PrepareScore,
    {
        plugin.update_prepared(args, pod, data, view, scores);
    }
    /// Calls [`Incremental::score_class`].
    ///
    /// # Errors
    /// As for [`Incremental::score_class`].
    #[inline(always)]
    pub fn score_class(
        args: &P::Args,
        pod: &P::Pod,
        state: &<P as ScorePlugin>::Cycle,
        node: Row<'_, P>,
    ) -> Result<ScoreClass, ScoreError>
    where
        P: NormalizeScore,
    {
        P::score_class(args, pod, state, node)
    }
    /// Calls [`Incremental::score_of_class`].
    #[inline(always)]
    pub fn score_of_class(args: &P::Args, pod: &P::Pod, state: &<P as ScorePlugin>::Cycle, class: ScoreClass) -> i64
    where
        P: NormalizeScore,
    {
        P::score_of_class(args, pod, state, class)
    }
}
