//! Configured answers and recorded calls of plugins. They are thread-local: a test and its scheduler run on one thread,
//! so neither needs a reference to the other.

use std::cell::RefCell;
use std::collections::BTreeMap;

use schedc_core::handle::Handle;
use schedc_core::status::{Code, Status};

/// Behaviour of a plugin when it is called.
#[derive(Clone, Copy, Debug, Default)]
pub enum Answer {
    /// The default: Bind skips, PostFilter rejects without a reason, and all other points succeed.
    #[default]
    Nothing,
    /// Success: Bind binds, PostFilter succeeds.
    Done,
    /// A rejection.
    Reject(&'static str),
    /// A rejection that removing pods does not change.
    RejectUnresolvable(&'static str),
    /// A rejection until an external component has acted.
    Pend(&'static str),
    /// An error.
    Fail(&'static str),
    /// A code that is invalid at this point.
    Misuse(Code, &'static str),
    /// A score.
    Number(i64),
    /// PreFilter succeeds, but leaves no candidate node.
    NoNode,
    /// PostFilter nominates the first node.
    Nominate,
    /// PostFilter nominates the first node, and names this pod as a victim.
    Evict(&'static str),
    /// Permit waits for this number of seconds.
    Wait(u64),
    /// Permit allows all pods that this plugin holds.
    AllowOthers,
    /// PreFilter, PreScore or PreBind is skipped.
    Skip,
    /// PreBind may run concurrently.
    Parallel,
    /// PreBind is not ready at the first poll.
    NotYet,
    /// PreBind never completes.
    Never,
    /// Calls this function with the plugin's handle, and succeeds.
    Call(fn(&Handle)),
}

impl Answer {
    /// Returns the answer as a status.
    pub fn status(self) -> Result<(), Status> {
        match self {
            Answer::Reject(reason) => Err(Status::unschedulable(reason)),
            Answer::RejectUnresolvable(reason) => Err(Status::new(Code::UnschedulableAndUnresolvable, reason)),
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

/// Records a note.
pub fn note(text: impl Into<String>) {
    NOTES.with_borrow_mut(|notes| notes.push(text.into()));
}

/// Returns the notes since the last call of this function.
pub fn notes() -> Vec<String> {
    NOTES.take()
}

/// Sets the answer of a plugin at a call, for all pods (`B reserve`) or for one pod (`B reserve web`).
pub fn set_answer(call: &str, answer: Answer) {
    ANSWERS.with_borrow_mut(|answers| answers.insert(call.to_owned(), answer));
}

/// Returns the answer of a plugin at a call: the answer for this pod, or else the answer for all pods.
pub fn answer(call: &str, pod: &str) -> Answer {
    let find = |call: &str| ANSWERS.with_borrow(|answers| answers.get(call).copied());
    find(&format!("{call} {pod}")).or_else(|| find(call)).unwrap_or_default()
}

/// Removes all answers and notes.
pub fn clear() {
    NOTES.take();
    ANSWERS.take();
}
