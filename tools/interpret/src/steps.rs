//! Steps of each extension point, in the profile's order.

use std::sync::Arc;

use schedc_codegen::plan::{self, Plan, Point};
use schedc_core::hints::PluginEvents;
use schedc_core::profile::ProfileInfo;

use crate::erased::{
    ErasedPlugin, Filter, Normalize, PluginTraits, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore, Prepare,
    QueueSort, Reserve, Score,
};

/// A plugin at an extension point.
pub(crate) struct Step<T: ?Sized> {
    /// Position among the profile's plugins.
    pub(crate) position: usize,
    pub(crate) name: &'static str,
    pub(crate) plugin: Arc<T>,
}

impl<T: ?Sized> Clone for Step<T> {
    fn clone(&self) -> Self {
        Step { plugin: self.plugin.clone(), ..*self }
    }
}

/// A plugin at Filter.
pub(crate) struct FilterStep {
    pub(crate) position: usize,
    pub(crate) name: &'static str,
    pub(crate) plugin: Arc<dyn Filter>,
    /// The plugin's PreFilter, if the profile runs it.
    pub(crate) pre_filter: Option<Arc<dyn PreFilter>>,
}

/// A plugin at Score.
pub(crate) struct ScoreStep {
    pub(crate) position: usize,
    pub(crate) name: &'static str,
    pub(crate) weight: i64,
    pub(crate) score: Arc<dyn Score>,
    pub(crate) normalize: Option<Arc<dyn Normalize>>,
    pub(crate) pre_score: Option<Arc<dyn PreScore>>,
    /// The plugin's PrepareScore, if its PreScore does not run.
    pub(crate) prepare: Option<Arc<dyn Prepare>>,
}

/// A profile's plugins by extension points.
pub(crate) struct Steps {
    pub(crate) info: &'static ProfileInfo,
    pub(crate) events: &'static [PluginEvents],
    pub(crate) plugins: Vec<PluginTraits>,
    pub(crate) pre_enqueue: Vec<Step<dyn PreEnqueue>>,
    pub(crate) queue_sort: Vec<Step<dyn QueueSort>>,
    pub(crate) pre_filter: Vec<Step<dyn PreFilter>>,
    pub(crate) filter: Vec<FilterStep>,
    pub(crate) post_filter: Vec<Step<dyn PostFilter>>,
    pub(crate) pre_score: Vec<Step<dyn PreScore>>,
    pub(crate) score: Vec<ScoreStep>,
    pub(crate) reserve: Vec<Step<dyn Reserve>>,
    pub(crate) pre_bind: Vec<Step<dyn PreBind>>,
    /// The steps of PreFilter without a Filter that reads their state.
    pub(crate) unread_pre_filter: Vec<Step<dyn PreFilter>>,
    /// The steps of PreScore without a Score that reads their state.
    pub(crate) unread_pre_score: Vec<Step<dyn PreScore>>,
    /// The generated `plugins::bind` selects the plugin by its type.
    pub(crate) bind: Vec<Step<dyn ErasedPlugin>>,
}

/// A running profile.
pub struct Pipeline {
    pub(crate) steps: Arc<Steps>,
}

impl Pipeline {
    pub(crate) fn of(steps: Steps) -> Self {
        Pipeline { steps: Arc::new(steps) }
    }
}

impl Steps {
    /// Creates the steps. `plugins` are the plugins of the plan, in its order. The compiler has checked that they
    /// implement their points.
    pub(crate) fn of(plan: &Plan, plugins: Vec<PluginTraits>, info: &'static ProfileInfo) -> Steps {
        let runs = |position: usize, point| plan.points[point].iter().any(|step| step.plugin.0 == position);
        let score = |step: &plan::Step| {
            let position = step.plugin.0;
            let PluginTraits { name, score, normalize, pre_score, prepare, .. } = &plugins[position];
            let has_pre_score = runs(position, Point::PreScore);
            Some(ScoreStep {
                position,
                name,
                weight: step.weight.as_ref().map_or(1, |weight| weight.value),
                score: score.clone()?,
                normalize: normalize.clone(),
                pre_score: pre_score.clone().filter(|_| has_pre_score),
                prepare: prepare.clone().filter(|_| !has_pre_score),
            })
        };
        let filter = |step: &plan::Step| {
            let position = step.plugin.0;
            let PluginTraits { name, filter, pre_filter, .. } = &plugins[position];
            let pre_filter = pre_filter.clone().filter(|_| runs(position, Point::PreFilter));
            Some(FilterStep { position, name, plugin: filter.clone()?, pre_filter })
        };
        let pre_filter = steps_at(plan, &plugins, Point::PreFilter, |plugin| plugin.pre_filter.clone());
        let pre_score = steps_at(plan, &plugins, Point::PreScore, |plugin| plugin.pre_score.clone());
        Steps {
            info,
            unread_pre_filter: pre_filter.iter().filter(|step| !runs(step.position, Point::Filter)).cloned().collect(),
            unread_pre_score: pre_score.iter().filter(|step| !runs(step.position, Point::Score)).cloned().collect(),
            events: plugins.iter().map(|plugin| plugin.events).collect::<Vec<_>>().leak(),
            pre_enqueue: steps_at(plan, &plugins, Point::PreEnqueue, |plugin| plugin.pre_enqueue.clone()),
            queue_sort: steps_at(plan, &plugins, Point::QueueSort, |plugin| plugin.queue_sort.clone()),
            pre_filter,
            filter: plan.points[Point::Filter].iter().filter_map(filter).collect(),
            post_filter: steps_at(plan, &plugins, Point::PostFilter, |plugin| plugin.post_filter.clone()),
            pre_score,
            score: plan.points[Point::Score].iter().filter_map(score).collect(),
            reserve: steps_at(plan, &plugins, Point::Reserve, |plugin| plugin.reserve.clone()),
            pre_bind: steps_at(plan, &plugins, Point::PreBind, |plugin| plugin.pre_bind.clone()),
            bind: steps_at(plan, &plugins, Point::Bind, |plugin| Some(plugin.erased.clone())),
            plugins,
        }
    }

    /// Creates steps without plugins.
    pub(crate) fn none(info: &'static ProfileInfo) -> Steps {
        Steps {
            info,
            events: &[],
            plugins: Vec::new(),
            pre_enqueue: Vec::new(),
            queue_sort: Vec::new(),
            pre_filter: Vec::new(),
            filter: Vec::new(),
            post_filter: Vec::new(),
            pre_score: Vec::new(),
            score: Vec::new(),
            reserve: Vec::new(),
            pre_bind: Vec::new(),
            unread_pre_filter: Vec::new(),
            unread_pre_score: Vec::new(),
            bind: Vec::new(),
        }
    }
}

/// Returns the steps of a point, each with the trait object of its plugin.
fn steps_at<T: ?Sized>(
    plan: &Plan,
    plugins: &[PluginTraits],
    point: Point,
    trait_object: impl Fn(&PluginTraits) -> Option<Arc<T>>,
) -> Vec<Step<T>> {
    let step = |step: &plan::Step| {
        let plugin = &plugins[step.plugin.0];
        Some(Step { position: step.plugin.0, name: plugin.name, plugin: trait_object(plugin)? })
    };
    plan.points[point].iter().filter_map(step).collect()
}
