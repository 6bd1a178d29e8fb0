//! Rejections of nodes, with their texts.

use crate::engine::node_loops;
use crate::model::cache::Cache;
use crate::plugin_api::status::{Code, ReasonList, Reasons, Status};
use crate::profile_api::profile::Profile;

/// Rejection of a node by one plugin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// [`Code::Error`] if the plugin failed; otherwise, whether removing pods may help.
    pub code: Code,
    /// The plugin.
    pub plugin: &'static str,
    /// The reasons.
    pub reasons: ReasonList,
}

impl Verdict {
    /// Returns the error text of an attempt that fails with this verdict.
    pub fn failure(&self) -> String {
        self.reasons.join(", ")
    }
}

impl From<Status> for Verdict {
    fn from(status: Status) -> Self {
        Verdict { code: status.code, plugin: status.plugin, reasons: status.reasons }
    }
}

/// Runs Filter on one node and returns the first rejection with its text; `None` if the node passes.
pub(crate) fn verdict<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    cache: &Cache<P::State>,
    columns: P::Columns<'_>,
    index: usize,
) -> Option<Verdict> {
    let rejection = node_loops::filter_node::<P>(pod, cycle, columns, index).err()?;
    Some(describe::<P>(pod, cycle, cache, columns, index, rejection))
}

/// Runs every Filter on one node and returns the rejections with their texts.
pub(crate) fn all_verdicts<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    cache: &Cache<P::State>,
    columns: P::Columns<'_>,
    index: usize,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    P::filter_all(pod, cycle, columns, index, &mut |rejection| {
        verdicts.push(describe::<P>(pod, cycle, cache, columns, index, rejection));
    });
    verdicts
}

/// Composes the reasons of a rejection.
pub(super) fn describe<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    cache: &Cache<P::State>,
    columns: P::Columns<'_>,
    index: usize,
    rejection: P::Rejection,
) -> Verdict {
    let mut reasons = Reasons::new(&cache.base.interner);
    P::explain(pod, cycle, columns, index, rejection, &mut reasons);
    let (code, plugin, reasons) = (P::code(&rejection), P::rejector(&rejection), reasons.into_list());
    if code.is_rejected() {
        return Verdict { code, plugin, reasons };
    }
    let failure = format!("running {plugin:?} filter plugin: {}", reasons.join(", "));
    Verdict { code: Code::Error, plugin, reasons: ReasonList::from_iter([failure.into()]) }
}
