//! What runs at each extension point, in the profile's order.

use std::sync::Arc;

use schedc_codegen::plan::{self, Plan, Point};
use schedc_core::hints::PluginEvents;
use schedc_core::profile::ProfileInfo;

use crate::erased::{
    Every, Filter, Member, Normalize, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore, Prepare, QueueSort,
    Reserve, Score,
};

/// A plugin at an extension point.
pub(crate) struct Step<T: ?Sized> {
    /// Its place among the profile's plugins.
    pub(crate) place: usize,
    pub(crate) name: &'static str,
    pub(crate) plugin: Arc<T>,
}

/// A plugin at Score.
pub(crate) struct ScoreStep {
    pub(crate) place: usize,
    pub(crate) name: &'static str,
    pub(crate) weight: i64,
    pub(crate) score: Arc<dyn Score>,
    pub(crate) normalize: Option<Arc<dyn Normalize>>,
    /// What looks something up before Score, unless PreScore does.
    pub(crate) prepare: Option<Arc<dyn Prepare>>,
}

/// A profile's plugins by extension points.
pub(crate) struct Steps {
    pub(crate) info: &'static ProfileInfo,
    pub(crate) events: &'static [PluginEvents],
    pub(crate) members: Vec<Member>,
    pub(crate) pre_enqueue: Vec<Step<dyn PreEnqueue>>,
    pub(crate) queue_sort: Vec<Step<dyn QueueSort>>,
    pub(crate) pre_filter: Vec<Step<dyn PreFilter>>,
    pub(crate) filter: Vec<Step<dyn Filter>>,
    pub(crate) post_filter: Vec<Step<dyn PostFilter>>,
    pub(crate) pre_score: Vec<Step<dyn PreScore>>,
    pub(crate) score: Vec<ScoreStep>,
    pub(crate) reserve: Vec<Step<dyn Reserve>>,
    pub(crate) pre_bind: Vec<Step<dyn PreBind>>,
    /// Who binds is told apart by its type.
    pub(crate) bind: Vec<Step<dyn Every>>,
}

impl Steps {
    /// `members` are the plugins of the plan, in its order. That they implement what the plan asks of them is what the
    /// compiler checks.
    pub(crate) fn of(plan: &Plan, members: Vec<Member>, info: &'static ProfileInfo) -> Steps {
        let runs = |place: usize, point| plan.points[point].iter().any(|step| step.plugin.0 == place);
        let score = |step: &plan::Step| {
            let place = step.plugin.0;
            let Member { name, score, normalize, prepare, .. } = &members[place];
            Some(ScoreStep {
                place,
                name,
                weight: step.weight.as_ref().map_or(1, |weight| weight.value),
                score: score.clone()?,
                normalize: normalize.clone(),
                prepare: prepare.clone().filter(|_| !runs(place, Point::PreScore)),
            })
        };
        Steps {
            info,
            events: members.iter().map(|member| member.events).collect::<Vec<_>>().leak(),
            pre_enqueue: at(plan, &members, Point::PreEnqueue, |member| member.pre_enqueue.clone()),
            queue_sort: at(plan, &members, Point::QueueSort, |member| member.queue_sort.clone()),
            pre_filter: at(plan, &members, Point::PreFilter, |member| member.pre_filter.clone()),
            filter: at(plan, &members, Point::Filter, |member| member.filter.clone()),
            post_filter: at(plan, &members, Point::PostFilter, |member| member.post_filter.clone()),
            pre_score: at(plan, &members, Point::PreScore, |member| member.pre_score.clone()),
            score: plan.points[Point::Score].iter().filter_map(score).collect(),
            reserve: at(plan, &members, Point::Reserve, |member| member.reserve.clone()),
            pre_bind: at(plan, &members, Point::PreBind, |member| member.pre_bind.clone()),
            bind: at(plan, &members, Point::Bind, |member| Some(member.every.clone())),
            members,
        }
    }

    /// None of anything.
    pub(crate) fn none(info: &'static ProfileInfo) -> Steps {
        Steps {
            info,
            events: &[],
            members: Vec::new(),
            pre_enqueue: Vec::new(),
            queue_sort: Vec::new(),
            pre_filter: Vec::new(),
            filter: Vec::new(),
            post_filter: Vec::new(),
            pre_score: Vec::new(),
            score: Vec::new(),
            reserve: Vec::new(),
            pre_bind: Vec::new(),
            bind: Vec::new(),
        }
    }
}

fn at<T: ?Sized>(
    plan: &Plan,
    members: &[Member],
    point: Point,
    plugin: impl Fn(&Member) -> Option<Arc<T>>,
) -> Vec<Step<T>> {
    let step = |step: &plan::Step| {
        let member = &members[step.plugin.0];
        Some(Step { place: step.plugin.0, name: member.name, plugin: plugin(member)? })
    };
    plan.points[point].iter().filter_map(step).collect()
}
