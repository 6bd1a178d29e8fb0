//! Decisions from answers that are kept: what changed is evaluated, and nothing else.

use std::sync::Arc;

use super::feasible::nodes_to_find;
use super::{Decision, Engine, Failed, Start};
use crate::cache::Cache;
use crate::extenders::Extenders;
use crate::kept::{Kept, Parts, Read, SignatureId};
use crate::mask::Mask;
use crate::model::{NodeIndex, Pod};
use crate::profile::Profile;
use crate::scheduler::{Observer, Point};
use crate::status::Code;

/// So many nodes are evaluated as quickly as an answer is brought up to date.
const FEW: usize = 16;

impl<P: Profile> Engine<P> {
    /// Whether answers can be kept: every node counts, and nobody outside has a say.
    pub(super) fn keeps(&self, cache: &Cache<P::State>) -> bool {
        let nodes = cache.base.count();
        self.keep_answers
            && <P::Parts as Parts<P>>::KEEPS
            && P::Extenders::NONE
            && nodes_to_find(self.percentage_of_nodes_to_score, nodes) == nodes
    }

    /// Decides by the answer of the pod's signature. `None`: there is none, and the pod is evaluated for itself, with what
    /// PreFilter said if it is left in `started`.
    #[expect(clippy::too_many_arguments, reason = "what is known of the cycle, and who looks on")]
    pub(super) fn decide_by_kept(
        &mut self,
        read: &Read<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        now: i64,
        draw: &mut impl FnMut(usize) -> usize,
        observer: &mut impl Observer,
        started: &mut Option<Start<P>>,
    ) -> Option<Decision> {
        let signature = read.signature?;
        self.keep_current(signature, read, pod, cache, observer, started)?;
        let kept = self.signatures.kept_mut(signature)?;
        Some(Self::conclude_kept(&*self.plugins, kept, pod, cache, now, draw, observer))
    }

    /// Keeps an answer that is up to date, if one can be kept.
    #[inline]
    fn keep_current(
        &mut self,
        signature: SignatureId,
        read: &Read<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
        started: &mut Option<Start<P>>,
    ) -> Option<()> {
        self.signatures.ask(signature);
        if let Some(kept) = self.signatures.kept_mut(signature)
            && kept.update(&*self.plugins, &read.compiled, pod, cache, &mut self.scratch).is_ok()
        {
            self.signatures.updated(signature);
            return Some(());
        }
        self.signatures.take(signature);
        let kept = self.keep_anew(read, pod, cache, observer, started)?;
        self.signatures.put(signature, kept);
        Some(())
    }

    #[inline(never)]
    fn keep_anew(
        &mut self,
        read: &Read<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
        started: &mut Option<Start<P>>,
    ) -> Option<Box<Kept<P>>> {
        match self.start_observed(read, cache, observer) {
            // What is left of few nodes is looked at as quickly.
            Start::Attempt(attempt)
                if attempt.pre_filter.nodes().is_none()
                    && self.hopeful(&attempt, cache).is_none_or(|nodes| nodes.len() > FEW) =>
            {
                observer.begins(Point::Filter);
                let mut kept = Kept::filtered(*attempt, pod, cache, &mut self.scratch).ok()?;
                let is_hopeless = kept.feasible.is_empty();
                observer.ends(Point::Filter, if is_hopeless { Code::Unschedulable } else { Code::Success });
                observer.begins(Point::Score);
                kept.score_all(&*self.plugins, cache, &mut self.scratch).ok()?;
                if kept.count > 1 {
                    observer.ends(Point::Score, Code::Success);
                }
                Some(Box::new(kept))
            }
            start => {
                *started = Some(start);
                None
            }
        }
    }

    fn conclude_kept(
        plugins: &P,
        kept: &mut Kept<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        now: i64,
        draw: &mut impl FnMut(usize) -> usize,
        observer: &mut impl Observer,
    ) -> Decision {
        let nominated = pod.nominated_node.and_then(|name| cache.base.node(name));
        if let Some(node) = nominated.filter(|&node| kept.feasible.contains(node)) {
            return Decision::Node(node);
        }
        let node = match kept.count {
            0 => {
                let diagnosis = kept.diagnose(pod, cache);
                return Self::post_filter(
                    plugins,
                    pod,
                    Failed::of(&kept.attempt),
                    diagnosis,
                    cache,
                    now,
                    draw,
                    observer,
                );
            }
            // With a single feasible node kube-scheduler does not score.
            1 => kept.feasible.iter().next(),
            _ => kept.kth_best(draw(kept.best().ties as usize)),
        };
        match node {
            Some(node) => Decision::Node(node),
            None => Decision::Error("the draw is beyond the number of best nodes".into()),
        }
    }

    /// Whether a cycle may choose this node for a pod, by what is kept about pods like it. `None`: nothing is kept, or the pod
    /// fits nowhere.
    pub fn may_choose(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>, node: NodeIndex) -> Option<bool> {
        let read = self.signatures.read(&*self.plugins, &pod.spec, cache);
        let signature = read.signature.filter(|_| self.keeps(cache))?;
        self.keep_current(signature, &read, pod, cache, &mut (), &mut None)?;
        let kept = self.signatures.kept(signature)?;
        let nominated = pod.nominated_node.and_then(|name| cache.base.node(name));
        match nominated.filter(|&nominated| kept.feasible.contains(nominated)) {
            Some(nominated) => Some(node == nominated),
            None if kept.count == 0 => None,
            None if kept.count == 1 => Some(kept.feasible.contains(node)),
            None => {
                let total = kept.total(node);
                Some(kept.feasible.contains(node) && total.is_none_or(|total| total == kept.best().total))
            }
        }
    }

    /// What is kept about a pod, brought up to date: the feasible nodes with their totals, none where nobody scores. `None`:
    /// nothing is kept about it. For tests, which hold it against a full evaluation.
    pub fn kept_answer(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>) -> Option<KeptAnswer> {
        let read = self.signatures.read(&*self.plugins, &pod.spec, cache);
        if !self.keeps(cache) {
            return None;
        }
        let signature = read.signature?;
        self.keep_current(signature, &read, pod, cache, &mut (), &mut None)?;
        let kept = self.signatures.kept(signature)?;
        let totals = kept.feasible.iter().map(|node| (node, kept.total(node))).collect();
        Some(KeptAnswer { feasible: kept.feasible.clone(), totals })
    }
}

/// What is kept about a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The nodes that pass every filter, also with the pods that are nominated for them.
    pub feasible: Mask,
    /// Their totals, if there are at least two.
    pub totals: Vec<(NodeIndex, Option<i64>)>,
}
