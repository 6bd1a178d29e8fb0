//! Memory of plans, which later plans reuse.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::BindingPlan;

/// Maximum number of plans whose memory is kept.
const MAX_SPARE: usize = 64;

/// Memory of plans that are no longer needed. Clones share it.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct SparePlans(Arc<Mutex<Plans>>);

/// Boxed, because the boxes are reused.
type Plans = Vec<Box<BindingPlan>>;

impl SparePlans {
    /// Moves a plan into the memory of a spare plan, or into new memory if there is none.
    pub(in super::super) fn place(&self, plan: BindingPlan) -> Box<BindingPlan> {
        match self.lock().pop() {
            Some(mut spare) => {
                *spare = plan;
                spare
            }
            None => Box::new(plan),
        }
    }

    /// Clears a plan, and keeps its memory for a later plan.
    pub(in super::super) fn recycle(&self, mut plan: Box<BindingPlan>) {
        *plan = BindingPlan::default();
        let mut spare = self.lock();
        if spare.len() < MAX_SPARE {
            spare.push(plan);
        }
    }

    /// Locks the data. A panic under the lock leaves no half-made change, so the data are valid.
    fn lock(&self) -> MutexGuard<'_, Plans> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
