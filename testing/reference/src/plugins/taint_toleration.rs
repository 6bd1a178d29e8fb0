//! TaintToleration: rejects nodes with taints that the pod does not tolerate, and prefers nodes with fewer
//! PreferNoSchedule taints.

use schedc_core::model::{Effect, Node};

use crate::matching::{is_tolerated, tolerates_node};
use crate::plugin::{Cycle, Plugin, Rejection, percent_of_highest};

pub(super) struct TaintToleration;

impl Plugin for TaintToleration {
    fn name(&self) -> &'static str {
        "TaintToleration"
    }
    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        match tolerates_node(&cx.pod.spec, node) {
            true => Ok(()),
            false => Err(Rejection::unresolvable("node(s) had untolerated taint(s)")),
        }
    }
    fn score(&self, cx: &Cycle<'_>, _: &[&Node], node: &Node) -> Result<i64, String> {
        let soft = node.taints.iter().filter(|taint| taint.effect == Effect::PreferNoSchedule);
        Ok(soft.filter(|taint| !is_tolerated(&cx.pod.spec, taint)).count() as i64)
    }
    fn normalize(&self, _: &Cycle<'_>, _: &[&Node], raw: &[i64]) -> Vec<i64> {
        percent_of_highest(raw, true)
    }
}
