//! What one extension point leaves for the next, where generated code has a struct with a field for each plugin: a list with an
//! entry for each.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use schedc_core::extension_points::Extent;
use schedc_core::plugin::CycleSlot;
use schedc_core::profile::reserved_by;
use schedc_core::status::{Code, Status};

use crate::erased::{AnyValue, FilterState, PodValue};
use crate::plugins::SCORES;
use crate::steps::Steps;

/// What the plugins read of a pod, in their order.
pub struct Pod {
    /// What is asked about a pod is asked of these.
    pub(crate) steps: Arc<Steps>,
    pub(crate) of: Vec<Box<dyn PodValue>>,
}

impl Pod {
    pub(crate) fn of(&self, position: usize) -> &dyn PodValue {
        &*self.of[position]
    }
}

impl PartialEq for Pod {
    fn eq(&self, other: &Self) -> bool {
        self.of.len() == other.of.len() && self.of.iter().zip(&other.of).all(|(a, b)| (**a).equals(&**b))
    }
}
impl Eq for Pod {}

impl Hash for Pod {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.of.iter().for_each(|value| (**value).hash_into(hasher));
    }
}

/// What PreFilter plugins left, by the places of the plugins.
#[derive(Clone, PartialEq)]
pub struct Cycle(pub(crate) Vec<Option<CycleSlot<FilterState>>>);

impl Cycle {
    pub(crate) fn skips(&self, position: usize) -> bool {
        self.0[position].as_ref().is_some_and(|slot| slot.skip)
    }
    pub(crate) fn state(&self, position: usize) -> Option<&AnyValue> {
        self.0[position].as_ref().map(|slot| slot.state.value())
    }
}

/// What PreScore plugins left, and what others looked up, by the places of the plugins.
pub struct Score(pub(crate) Vec<Option<CycleSlot<Box<AnyValue>>>>);

impl Score {
    pub(crate) fn skips(&self, position: usize) -> bool {
        self.0[position].as_ref().is_some_and(|slot| slot.skip)
    }
    pub(crate) fn state(&self, position: usize) -> Option<&AnyValue> {
        self.0[position].as_ref().map(|slot| &*slot.state)
    }
}

/// The raw scores of all nodes: for each node one of every step of Score.
#[derive(Default)]
pub struct Raw {
    pub(crate) slots: usize,
    scores: Vec<i64>,
}

impl Raw {
    /// Those of a node, to be taken down.
    pub(crate) fn node_mut(&mut self, index: usize, steps: usize) -> &mut [i64] {
        if self.scores.len() < self.slots * steps {
            self.scores.resize(self.slots * steps, 0);
        }
        &mut self.scores[index * steps..][..steps]
    }
    pub(crate) fn node(&self, index: usize, steps: usize) -> &[i64] {
        &self.scores[index * steps..][..steps]
    }
}

/// The extremes of the raw scores, by steps of Score.
#[derive(Clone, Copy)]
pub struct Extents(pub(crate) [Extent; SCORES]);

impl Default for Extents {
    fn default() -> Self {
        Extents([Extent::EMPTY; SCORES])
    }
}

/// Which step of Filter rejected a node. Its words are asked for when they are needed.
#[derive(Clone, Copy)]
pub struct Rejection {
    pub(crate) step: usize,
    pub(crate) plugin: &'static str,
    pub(crate) code: Code,
}

/// What Reserve plugins left, by the places of the plugins; none of those whose Reserve did not run.
pub struct Reserved(pub(crate) Vec<Option<Box<AnyValue>>>);

impl Reserved {
    /// What a plugin's Reserve left, for its PreBind.
    pub(crate) fn of(&self, plugin: &'static str, position: usize) -> Result<&AnyValue, Status> {
        reserved_by(plugin, &self.0[position]).map(|value| &**value)
    }
}
