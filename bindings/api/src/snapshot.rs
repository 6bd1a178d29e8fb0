//! Snapshots of any profile.

use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::explain::Explanation;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, NodeIndex, Object, ObjectKey, Pod, Uid};
use schedc_core::profile::Profile;
use schedc_core::snapshot::{Estimate, NodeTemplate, Snapshot};
use schedc_core::verdict::Verdict;

/// A [`Snapshot`] of any profile. Its methods are those of [`Snapshot`].
pub(crate) trait AnySnapshot: Send {
    fn base(&self) -> &Base;
    fn interner(&mut self) -> &mut Interner;
    /// Returns the node of a pod.
    fn node_of(&self, uid: &Uid) -> Option<Symbol>;
    fn clear(&mut self);
    fn set_node(&mut self, node: Node);
    fn remove_node(&mut self, name: Symbol);
    fn set_object(&mut self, object: Object);
    fn remove_object(&mut self, key: &ObjectKey);
    fn add_pod(&mut self, pod: Arc<Pod>, node: Symbol);
    fn remove_pod(&mut self, uid: &Uid) -> bool;
    fn fork(&mut self);
    fn commit(&mut self);
    fn revert(&mut self);
    fn forks(&self) -> usize;
    fn check(&mut self, pod: &Arc<Pod>, node: NodeIndex) -> Result<(), Verdict>;
    /// Returns the verdict for each of the nodes.
    fn check_each(&mut self, pod: &Arc<Pod>, nodes: &[NodeIndex]) -> Result<Vec<Result<(), Verdict>>, Verdict>;
    fn schedule(&mut self, pod: &Arc<Pod>, node: NodeIndex) -> Result<(), Verdict>;
    fn schedule_on_any(
        &mut self,
        pod: &Arc<Pod>,
        is_candidate: &mut dyn FnMut(NodeIndex) -> bool,
    ) -> Result<NodeIndex, Option<Verdict>>;
    fn explain(&mut self, pod: &Arc<Pod>) -> Explanation;
    fn estimate(&mut self, template: &NodeTemplate, pods: &[Arc<Pod>], max_nodes: usize) -> Estimate;
}

impl<P: Profile> AnySnapshot for Snapshot<P>
where
    Snapshot<P>: Send,
{
    fn base(&self) -> &Base {
        &self.cluster().base
    }
    fn interner(&mut self) -> &mut Interner {
        Snapshot::interner(self)
    }
    fn node_of(&self, uid: &Uid) -> Option<Symbol> {
        self.cluster().pod(uid).map(|(_, node, _)| node)
    }
    fn clear(&mut self) {
        Snapshot::clear(self);
    }
    fn set_node(&mut self, node: Node) {
        Snapshot::set_node(self, node);
    }
    fn remove_node(&mut self, name: Symbol) {
        Snapshot::remove_node(self, name);
    }
    fn set_object(&mut self, object: Object) {
        Snapshot::set_object(self, object);
    }
    fn remove_object(&mut self, key: &ObjectKey) {
        Snapshot::remove_object(self, key);
    }
    fn add_pod(&mut self, pod: Arc<Pod>, node: Symbol) {
        Snapshot::add_pod(self, pod, node);
    }
    fn remove_pod(&mut self, uid: &Uid) -> bool {
        Snapshot::remove_pod(self, uid)
    }
    fn fork(&mut self) {
        Snapshot::fork(self);
    }
    fn commit(&mut self) {
        Snapshot::commit(self);
    }
    fn revert(&mut self) {
        Snapshot::revert(self);
    }
    fn forks(&self) -> usize {
        Snapshot::forks(self)
    }
    fn check(&mut self, pod: &Arc<Pod>, node: NodeIndex) -> Result<(), Verdict> {
        Snapshot::check(self, pod, node)
    }
    fn check_each(&mut self, pod: &Arc<Pod>, nodes: &[NodeIndex]) -> Result<Vec<Result<(), Verdict>>, Verdict> {
        let mut verdicts = Vec::with_capacity(nodes.len());
        Snapshot::check_each(self, pod, nodes.iter().copied(), |_, verdict| verdicts.push(verdict))?;
        Ok(verdicts)
    }
    fn schedule(&mut self, pod: &Arc<Pod>, node: NodeIndex) -> Result<(), Verdict> {
        Snapshot::schedule(self, pod, node)
    }
    fn schedule_on_any(
        &mut self,
        pod: &Arc<Pod>,
        is_candidate: &mut dyn FnMut(NodeIndex) -> bool,
    ) -> Result<NodeIndex, Option<Verdict>> {
        Snapshot::schedule_on_any(self, pod, is_candidate)
    }
    fn explain(&mut self, pod: &Arc<Pod>) -> Explanation {
        Snapshot::explain(self, pod)
    }
    fn estimate(&mut self, template: &NodeTemplate, pods: &[Arc<Pod>], max_nodes: usize) -> Estimate {
        Snapshot::estimate(self, template, pods, max_nodes)
    }
}
