//! What updates of answers work with.

use crate::mask::Mask;
use crate::model::NodeIndex;
use crate::touched::Touched;

/// What an update of an answer works with: mostly sets of nodes. One serves all updates, one after the other.
#[derive(Debug, Default)]
pub struct UpdateScratch {
    /// How many slots of nodes there is room for.
    slots: usize,
    /// The nodes that changed, each once, those that are gone included.
    pub changed: Vec<NodeIndex>,
    /// Whether a node came, went, or changed itself.
    pub nodes_changed: bool,
    /// The changed nodes that exist.
    pub touched: Touched,
    /// Those of them that came or changed themselves; on the others, pods came and went.
    pub themselves: Touched,
    /// The nodes whose verdict may be another one, because plugins report it, or because they are new or gone.
    pub dirty: Touched,
    /// The nodes that the current plugin asks for. Empty between plugins.
    pub again: Touched,
    /// The nodes that became feasible, and those that ceased to be.
    pub flipped: Touched,
    /// The feasible nodes that every Score is asked about.
    pub fresh: Touched,
    /// Those of them that are new to a Score that reads nothing of pods.
    pub fresh_themselves: Touched,
    /// Other nodes that get other raw scores.
    pub scored: Touched,
    /// The nodes that plugins ask for that do not normalise, together.
    pub base: Touched,
    /// Whether the classes of the current plugin may have other raw scores.
    pub moved: bool,
}

impl UpdateScratch {
    /// Empties everything, and makes room for so many slots of nodes.
    #[inline(never)]
    pub(super) fn begin(&mut self, slots: usize) {
        self.changed.clear();
        self.nodes_changed = false;
        self.touched.clear();
        self.fresh.clear();
        // The others are mostly empty.
        let UpdateScratch { themselves, dirty, again, flipped, fresh_themselves, scored, base, .. } = &*self;
        let others = [themselves, dirty, again, flipped, fresh_themselves, scored, base];
        if self.slots < slots || others.iter().any(|set| !set.is_empty()) {
            self.reset(slots);
        }
    }

    #[inline(never)]
    fn reset(&mut self, slots: usize) {
        self.slots = self.slots.max(slots);
        let UpdateScratch { touched, themselves, dirty, again, flipped, fresh, fresh_themselves, scored, base, .. } =
            self;
        let sets = [touched, themselves, dirty, again, flipped, fresh, fresh_themselves, scored, base];
        sets.into_iter().for_each(|set| set.reset(slots));
    }

    /// Pods came to a node, or left it.
    #[inline]
    pub(super) fn take_touched(&mut self, node: NodeIndex) {
        if !self.touched.contains(node) {
            self.touched.insert(node);
            self.changed.push(node);
        }
    }

    /// A node came, changed itself, or is gone.
    #[cold]
    pub(super) fn take_changed(&mut self, node: NodeIndex, alive: &Mask) {
        let is_new = !self.dirty.contains(node) && !self.touched.contains(node);
        if is_new {
            self.changed.push(node);
        }
        self.dirty.insert(node);
        if alive.contains(node) {
            self.touched.insert(node);
            self.themselves.insert(node);
        }
    }

    /// Leaves in `again` what has to be scored: feasible nodes that are not fresh.
    pub(super) fn narrow(&mut self, feasible: &Mask) {
        self.again
            .retain(|word, bits| bits & feasible.words().get(word).copied().unwrap_or(0) & !self.fresh.word(word));
        self.scored.extend(&self.again);
    }
}
