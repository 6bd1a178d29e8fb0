//! State that extension points pass to later ones. Generated code has a struct with a field for each plugin; the
//! interpreter has a list with an entry for each plugin.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use schedc_core::extension_points::Extent;
use schedc_core::plugin::CycleSlot;
use schedc_core::profile::reserved_by;
use schedc_core::status::{Code, Status};

use crate::erased::{AnyValue, FilterState, PodValue};
use crate::plugins::SCORES;
use crate::steps::Steps;

/// The compiled pod of each plugin, in order.
pub struct Pod {
    /// The steps that read the pod.
    pub(crate) steps: Arc<Steps>,
    pub(crate) values: Vec<Box<dyn PodValue>>,
}

impl Pod {
    pub(crate) fn value(&self, position: usize) -> &dyn PodValue {
        &*self.values[position]
    }
}

impl PartialEq for Pod {
    fn eq(&self, other: &Self) -> bool {
        self.values.len() == other.values.len()
            && self.values.iter().zip(&other.values).all(|(a, b)| (**a).equals(&**b))
    }
}
impl Eq for Pod {}

impl Hash for Pod {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.values.iter().for_each(|value| (**value).hash_into(hasher));
    }
}

/// PreFilter states by plugin position.
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

/// States of PreScore and PrepareScore by plugin position.
pub struct Score(pub(crate) Vec<Option<CycleSlot<Box<AnyValue>>>>);

impl Score {
    pub(crate) fn skips(&self, position: usize) -> bool {
        self.0[position].as_ref().is_some_and(|slot| slot.skip)
    }
    pub(crate) fn state(&self, position: usize) -> Option<&AnyValue> {
        self.0[position].as_ref().map(|slot| &*slot.state)
    }
}

/// Raw scores of all nodes: for each node, one score for each step of Score.
#[derive(Default)]
pub struct Raw {
    pub(crate) slots: usize,
    scores: Vec<i64>,
}

impl Raw {
    /// Returns the scores of a node for writing.
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

/// Extremes of the raw scores, by step of Score.
#[derive(Clone, Copy, PartialEq)]
pub struct Extents(pub(crate) [Extent; SCORES]);

impl Default for Extents {
    fn default() -> Self {
        Extents([Extent::EMPTY; SCORES])
    }
}

/// The step of Filter that rejected a node. Its reasons are computed on demand.
#[derive(Clone, Copy)]
pub struct Rejection {
    pub(crate) step: usize,
    pub(crate) plugin: &'static str,
    pub(crate) code: Code,
}

/// Reserve states by plugin position; `None` for plugins whose Reserve did not run.
pub struct Reserved(pub(crate) Vec<Option<Box<AnyValue>>>);

impl Reserved {
    /// Returns a plugin's Reserve state for its PreBind.
    pub(crate) fn of(&self, plugin: &'static str, position: usize) -> Result<&AnyValue, Status> {
        reserved_by(plugin, &self.0[position]).map(|value| &**value)
    }
}
