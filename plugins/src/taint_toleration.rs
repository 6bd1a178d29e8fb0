//! TaintToleration
//!
//! **What it does.** Rejects nodes with a `NoSchedule` or `NoExecute` taint that the pod does not tolerate.
//! Prefers nodes with fewer `PreferNoSchedule` taints that the pod does not tolerate.
//!
//! **Extension points.** Filter, PreScore, Score, NormalizeScore.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/tainttoleration` (kube-scheduler 1.36.2), with the operators `Lt` and `Gt` of tolerations off.
//!
//! **Differences.** Score works without PreScore; in kube-scheduler, it fails the attempt.

use schedc_core::args::NoArgs;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, Extent, FilterPlugin, HintContext, HintError, NormalizeScore, PreScorePlugin, QueueingHint,
    Registration, ScoreError, ScorePlugin, SkipFrequency, default_normalize,
};
use schedc_core::incremental::{DependsOn, Incremental};
use schedc_core::model::{Effect, Node, PodSpec, Taint, Toleration, TolerationOperator};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};
use smallvec::SmallVec;

use crate::columns::{NodeTaints, is_hard};

/// Compares taints with tolerations. [`Toleration::tolerates`] compares one taint with one toleration.
#[derive(Debug, Default)]
pub struct TaintToleration;

/// The pod's tolerations that can apply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaintTolerationPod {
    /// For taints with the effect `NoSchedule` or `NoExecute`.
    hard: Tolerations,
    /// For taints with the effect `PreferNoSchedule`.
    soft: Tolerations,
}

/// Tolerations. Two are stored inline, because an API server adds two to each pod.
type Tolerations = SmallVec<[Toleration; 2]>;

#[plugin]
impl Plugin for TaintToleration {
    type Columns = NodeTaints;
    type Pod = TaintTolerationPod;

    fn compile(_: &NoArgs, pod: &PodSpec, _: CompileContext<'_, Self>) -> TaintTolerationPod {
        let (mut hard, mut soft) = (Tolerations::new(), Tolerations::new());
        for toleration in pod.tolerations.iter().filter(|toleration| toleration.operator != TolerationOperator::Never) {
            if toleration.effect.is_none_or(|effect| matches!(effect, Effect::NoSchedule | Effect::NoExecute)) {
                hard.push(*toleration);
            }
            if toleration.effect.is_none_or(|effect| effect == Effect::PreferNoSchedule) {
                soft.push(*toleration);
            }
        }
        TaintTolerationPod { hard, soft }
    }
}

impl FilterPlugin for TaintToleration {
    type Cycle = ();
    type Rejection = ();

    #[inline(always)]
    fn filter(_: &NoArgs, pod: &TaintTolerationPod, _: &(), node: &NodeTaints) -> Result<(), ()> {
        if node.hard.iter().all(|taint| is_tolerated(taint, &pod.hard)) { Ok(()) } else { Err(()) }
    }

    fn code(_: &()) -> Code {
        Code::UnschedulableAndUnresolvable
    }

    fn explain(_: &NoArgs, _: &TaintTolerationPod, _: &(), _: &NodeTaints, _: (), out: &mut Reasons<'_>) {
        out.push("node(s) had untolerated taint(s)");
    }
}

impl PreScorePlugin for TaintToleration {
    type Cycle = ();

    fn pre_score(
        &self,
        _: &NoArgs,
        _: &TaintTolerationPod,
        _: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<()>, Status> {
        Ok(CycleSlot::ready(()))
    }
}

impl ScorePlugin for TaintToleration {
    type Cycle = ();

    /// Returns the number of `PreferNoSchedule` taints that the pod does not tolerate.
    #[inline(always)]
    fn score(_: &NoArgs, pod: &TaintTolerationPod, _: &(), node: &NodeTaints) -> Result<i64, ScoreError> {
        Ok(node.soft.iter().filter(|taint| !is_tolerated(taint, &pod.soft)).count() as i64)
    }
}

impl NormalizeScore for TaintToleration {
    const USES_MIN: bool = false;

    #[inline(always)]
    fn normalize(_: &NoArgs, extent: Extent, raw: i64) -> i64 {
        default_normalize(extent, true, raw)
    }
}

impl Incremental for TaintToleration {
    const SKIPS: SkipFrequency = SkipFrequency::Never;
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(_: &()) -> Option<u32> {
        Some(0)
    }

    #[inline]
    fn score_depends_on(_: &TaintTolerationPod) -> DependsOn {
        DependsOn::Node
    }
}

impl EnqueueExtensions for TaintToleration {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::Node, Action::ADD.or(Action::UPDATE_NODE_TAINT)),
        Registration::hinted(EventResource::Pod, Action::UPDATE_POD_TOLERATION),
    ];

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, .. } = cx;
        let tolerates = |node: &Node| {
            node.taints.iter().filter(|taint| is_hard(taint)).all(|t| is_tolerated(t, &rejected.spec.tolerations))
        };
        Ok(QueueingHint::queue_if(match object {
            EventObject::Node(old, Some(new)) => old.is_none_or(|old| !tolerates(old)) && tolerates(new),
            // Filter determines whether the toleration helps.
            EventObject::Pod(_, Some(pod)) => pod.uid == rejected.uid,
            _ => true,
        }))
    }
}

#[inline(always)]
fn is_tolerated(taint: &Taint, tolerations: &[Toleration]) -> bool {
    tolerations.iter().any(|toleration| toleration.tolerates(taint))
}

#[cfg(test)]
mod tests {
    use schedc_core::intern::Interner;
    use schedc_objects::testing::{node, pod};

    use super::*;
    use crate::testing::{Cluster, hint};

    #[test]
    fn untolerated_taints_reject_pods() {
        let check = |taints: &str, tolerations: &str, fits: bool| {
            let node = format!("{{metadata: {{name: n1}}, spec: {{taints: {taints}}}}}");
            let pod = format!("spec: {{tolerations: {tolerations}}}");
            let verdict = Cluster::new(&[&node]).filter::<TaintToleration>(&NoArgs, &pod);
            let rejected = "n1: UnschedulableAndUnresolvable: node(s) had untolerated taint(s)\n";
            assert_eq!(verdict, if fits { "n1\n" } else { rejected }, "{taints} {tolerations}");
        };
        let db = "[{key: dedicated, value: db, effect: NoSchedule}]";
        check("[]", "[]", true);
        check(db, "[]", false);
        check(db, "[{key: dedicated, value: db, effect: NoSchedule}]", true);
        check(db, "[{key: dedicated, operator: Equal, value: db}]", true);
        check(db, "[{key: dedicated, value: web}]", false);
        check(db, "[{key: dedicated, operator: Exists}]", true);
        check(db, "[{operator: Exists}]", true);
        check(db, "[{value: db}]", true);
        check(db, "[{operator: Exists, effect: NoExecute}]", false);
        check(db, "[{key: dedicated, operator: Gt, value: '1'}]", false);
        check("[{key: down, effect: NoExecute}]", "[]", false);
        check("[{key: slow, effect: PreferNoSchedule}]", "[]", true);
        check("[{key: odd, effect: Sometimes}, {key: none}]", "[]", true);
        let two = "[{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}]";
        check(two, "[{key: a, operator: Exists}]", false);
        check(two, "[{key: a, operator: Exists}, {key: b, operator: Exists}]", true);
    }

    #[test]
    fn fewer_soft_taints_are_better() {
        let soft = |names: &[&str]| {
            let taints: Vec<_> = names.iter().map(|key| format!("{{key: {key}, effect: PreferNoSchedule}}")).collect();
            let hard = "{key: hard, effect: NoSchedule}";
            format!("spec: {{taints: [{hard}, {}]}}", taints.join(", "))
        };
        let [a, b, c] = [&["a"][..], &["a", "b", "c"], &["b"]].map(soft);
        let nodes =
            [("n0", &a), ("n1", &b), ("n2", &c)].map(|(name, spec)| format!("{{metadata: {{name: {name}}}, {spec}}}"));
        let nodes = nodes.each_ref().map(String::as_str);
        let check = |tolerations: &str, raw: [i64; 3], normalized: [i64; 3]| {
            let pod = format!("spec: {{tolerations: {tolerations}}}");
            let scores = Cluster::new(&nodes).scores::<TaintToleration>(&NoArgs, &pod);
            assert_eq!(scores, raw, "{tolerations}");
            let mut extent = Extent::EMPTY;
            scores.iter().for_each(|&score| extent.include(score));
            let scores = raw.map(|raw| TaintToleration::normalize(&NoArgs, extent, raw));
            assert_eq!(scores, normalized, "{tolerations}");
        };
        check("[]", [1, 3, 1], [67, 0, 67]);
        check("[{key: a, operator: Exists}]", [0, 2, 1], [100, 0, 50]);
        check("[{key: a, operator: Exists, effect: NoSchedule}]", [1, 3, 1], [67, 0, 67]);
        check("[{operator: Exists, effect: PreferNoSchedule}]", [0, 0, 0], [100, 100, 100]);
    }

    #[test]
    fn a_node_wakes_pods_when_its_last_untolerated_taint_goes() {
        let mut interner = Interner::default();
        let waiting = pod("spec: {tolerations: [{key: a, operator: Exists}]}", &mut interner);
        let [none, tolerated, untolerated, cordoned] = [
            "spec: {}",
            "spec: {taints: [{key: a, effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}]}",
            "spec: {taints: [{key: b, effect: NoExecute}]}",
            "spec: {unschedulable: true}",
        ]
        .map(|spec| node(spec, &mut interner));
        for (old, new, expected) in [
            (None, &none, QueueingHint::Queue),
            (None, &tolerated, QueueingHint::Queue),
            (None, &untolerated, QueueingHint::Skip),
            (Some(&untolerated), &tolerated, QueueingHint::Queue),
            (Some(&tolerated), &none, QueueingHint::Skip),
            (Some(&untolerated), &cordoned, QueueingHint::Queue),
        ] {
            let object = EventObject::Node(old, Some(new));
            assert_eq!(hint::<TaintToleration>(&NoArgs, &waiting, object, &interner), expected, "{object:?}");
        }
    }
}
