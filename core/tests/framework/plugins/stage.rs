//! What plugins are told to do, and what they note down. A test and its scheduler share a thread, so that neither needs
//! to know the other.

use std::cell::RefCell;
use std::collections::BTreeMap;

use schedc_core::handle::Handle;
use schedc_core::status::{Code, Status};

/// What a plugin does when it is called.
#[derive(Clone, Copy, Debug, Default)]
pub enum Answer {
    /// Nothing that is worth a word. Bind is left to the next plugin, PostFilter has no idea.
    #[default]
    Nothing,
    /// It is done: Bind binds, PostFilter succeeds.
    Done,
    /// A rejection.
    Reject(&'static str),
    /// A rejection that removing pods does not change.
    RejectForGood(&'static str),
    /// A rejection until something outside has acted.
    Pend(&'static str),
    /// Something broke.
    Fail(&'static str),
    /// A code that is no answer at this point.
    Misuse(Code, &'static str),
    /// A score.
    Number(i64),
    /// PreFilter narrows to no node at all.
    NoNode,
    /// PostFilter nominates the first node.
    Nominate,
    /// The same, and a pod has to go.
    Evict(&'static str),
    /// Permit waits for so many seconds.
    Wait(u64),
    /// Permit lets go of all pods that this plugin holds.
    AllowOthers,
    /// PreBind is left out.
    Skip,
    /// PreBind may run beside others.
    Parallel,
    /// PreBind is not ready when it is first asked.
    NotYet,
    /// PreBind is never done.
    Never,
    /// Something is asked of the scheduler.
    Ask(fn(&Handle)),
}

impl Answer {
    /// As a status.
    pub fn status(self) -> Result<(), Status> {
        match self {
            Answer::Reject(reason) => Err(Status::unschedulable(reason)),
            Answer::RejectForGood(reason) => Err(Status::new(Code::UnschedulableAndUnresolvable, reason)),
            Answer::Pend(reason) => Err(Status::pending(reason)),
            Answer::Fail(reason) => Err(Status::error(reason)),
            Answer::Misuse(code, reason) => Err(Status::new(code, reason)),
            _ => Ok(()),
        }
    }
}

thread_local! {
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static ANSWERS: RefCell<BTreeMap<String, Answer>> = const { RefCell::new(BTreeMap::new()) };
}

/// Notes something down.
pub fn note(text: impl Into<String>) {
    NOTES.with_borrow_mut(|notes| notes.push(text.into()));
}

/// What was noted down since this was last asked.
pub fn notes() -> Vec<String> {
    NOTES.take()
}

/// Tells a plugin what to do when it is called, for example at `B reserve`, or only for one pod at `B reserve web`.
pub fn tell(call: &str, answer: Answer) {
    ANSWERS.with_borrow_mut(|answers| answers.insert(call.to_owned(), answer));
}

/// What the plugin was told, for this pod or for all.
pub fn answer(call: &str, pod: &str) -> Answer {
    let told = |call: &str| ANSWERS.with_borrow(|answers| answers.get(call).copied());
    told(&format!("{call} {pod}")).or_else(|| told(call)).unwrap_or_default()
}

/// Begins anew.
pub fn clear() {
    NOTES.take();
    ANSWERS.take();
}
