//! Counts of instructions. They require Linux, hardware counters, and the permission to read them.

/// Instruction counter of a thread.
#[cfg(target_os = "linux")]
pub(super) struct Counter(perf_event::Counter);

#[cfg(target_os = "linux")]
impl Counter {
    /// Opens an instruction counter of this thread.
    ///
    /// # Errors
    /// Returns the reason why instructions cannot be counted.
    pub(super) fn new() -> Result<Self, String> {
        let counter = perf_event::Builder::new(perf_event::events::Hardware::INSTRUCTIONS).build();
        counter.map(Counter).map_err(|error| format!("this program has no access to an instruction counter: {error}"))
    }

    /// Returns the number of instructions of some work; `None` if the counter fails.
    pub(super) fn count(&mut self, work: &mut dyn FnMut()) -> Option<u64> {
        self.0.reset().ok()?;
        self.0.enable().ok()?;
        work();
        self.0.disable().ok()?;
        self.0.read().ok()
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) struct Counter;

#[cfg(not(target_os = "linux"))]
impl Counter {
    pub(super) fn new() -> Result<Self, String> {
        Err("instructions are counted on Linux only".to_owned())
    }

    pub(super) fn count(&mut self, _: &mut dyn FnMut()) -> Option<u64> {
        None
    }
}
