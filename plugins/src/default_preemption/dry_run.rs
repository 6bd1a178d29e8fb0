//! Preemption in thought, node by node.

use std::collections::{BTreeMap, BTreeSet};

use schedc_core::extension_points::{Candidate, PostFilterContext};
use schedc_core::imagined::Imagined;
use schedc_core::model::NodeIndex;
use schedc_core::profile::Profile;
use schedc_core::status::Code;

use super::victims::{NoVictims, Victims, select_victims};
use crate::indexes::DisruptionBudgets;

/// What was found.
#[derive(Default)]
pub(super) struct DryRun {
    /// Where preemption would work.
    pub(super) candidates: Vec<Candidate>,
    /// Number of nodes that were tried in vain.
    pub(super) tried: usize,
    /// How many of them gave each reason.
    pub(super) reasons: BTreeMap<String, usize>,
    /// What broke.
    pub(super) errors: Failures,
}

/// What broke on nodes. Nobody hears of it if preemption works on another.
#[derive(Default)]
pub(super) struct Failures(BTreeSet<String>);

impl Failures {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All texts, each once (apimachinery's `Aggregate`).
    pub(super) fn message(&self) -> String {
        let texts: Vec<&str> = self.0.iter().map(String::as_str).collect();
        match texts[..] {
            [text] => text.to_owned(),
            _ => format!("[{}]", texts.join(", ")),
        }
    }
}

/// Tries nodes until there are enough candidates, one of which violates no budget (`DryRunPreemption`).
pub(super) fn dry_run<'n, P: Profile>(
    cx: &PostFilterContext<'_, P>,
    cycle: &P::Cycle,
    budgets: &DisruptionBudgets,
    nodes: impl Iterator<Item = &'n NodeIndex>,
    enough: usize,
) -> DryRun {
    let mut cycle = cycle.clone();
    let mut found = DryRun::default();
    let (mut violating, mut harmless) = (0, 0);
    for &node in nodes {
        let nominated = cx.cache.nominated_on(node, cx.pod);
        let pods = &cx.cache.base.infos()[node.get()].pods;
        let mut imagined = Imagined::<P>::new(cx.compiled, &mut cycle, cx.cache, node);
        let reasons = match select_victims(&mut imagined, pods, &nominated, cx.pod, budgets, cx.now) {
            Ok(Victims { pods, violations }) if !pods.is_empty() => {
                let of_its_kind = if violations == 0 { &mut harmless } else { &mut violating };
                if *of_its_kind < enough {
                    *of_its_kind += 1;
                    found.candidates.push(Candidate { node, victims: pods, violations, best: false });
                }
                if harmless > 0 && harmless + violating >= enough {
                    break;
                }
                continue;
            }
            Ok(_) => {
                let error = format!("expected at least one victim pod on node {:?}", cx.cache.base.name(node));
                found.errors.0.insert(error.clone());
                vec![error]
            }
            Err(NoVictims::NoneWeaker) => vec!["No preemption victims found for incoming pod".to_owned()],
            Err(NoVictims::InVain(verdict)) => {
                if verdict.code == Code::Error {
                    found.errors.0.insert(verdict.failure());
                }
                verdict.reasons
            }
        };
        found.tried += 1;
        for reason in reasons {
            *found.reasons.entry(reason).or_default() += 1;
        }
    }
    found
}
