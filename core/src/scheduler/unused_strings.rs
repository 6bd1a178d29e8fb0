//! Strings of objects that left the cluster are freed.

use super::Scheduler;
use crate::engine::bundle::Bundle;
use crate::model::symbols::{LiveSymbols, Symbols};
use crate::plugin_api::client::Client;

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Frees the strings that no object has any more, if many are new since the last time. Otherwise does nothing.
    ///
    /// Call it regularly, when no symbol is in use outside of the scheduler: not between the conversion of an object
    /// and [`Scheduler::on_change`]. Symbols from before the call are valid as long as an object in the scheduler has
    /// them.
    pub fn free_unused_strings(&mut self) {
        if self.cache.base.interner.has_many_new() {
            self.free_unused_strings_now();
        }
    }

    /// Frees the strings that neither an object has now nor had at the last call.
    pub fn free_unused_strings_now(&mut self) {
        let mut live = LiveSymbols::default();
        self.cache.mark(&mut live);
        self.queue.pods().for_each(|pod| pod.mark(&mut live));
        for binding in self.bindings.values() {
            (binding.attempt.pod(), &binding.placement.pod).mark(&mut live);
        }
        for (_, pending) in self.handle.pending_allocations().iter() {
            (pending.claim, &pending.allocation).mark(&mut live);
        }
        self.cache.base.interner.free_unused(&live);
    }
}
