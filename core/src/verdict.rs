//! Rejections of nodes in words.

use crate::cache::Cache;
use crate::passes;
use crate::profile::Profile;
use crate::status::{Code, Reasons, Status};

/// What one plugin says against a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether removing pods may help.
    pub code: Code,
    /// The plugin.
    pub plugin: &'static str,
    /// Why.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// The text of an attempt that this error ends.
    pub fn failure(&self) -> String {
        self.reasons.join(", ")
    }
}

impl From<Status> for Verdict {
    fn from(status: Status) -> Self {
        Verdict { code: status.code, plugin: status.plugin, reasons: status.reasons }
    }
}

/// Runs Filter on one node and puts the rejections into words.
pub(crate) fn verdicts<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    cache: &Cache<P::State>,
    columns: P::Columns<'_>,
    index: usize,
    all: bool,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut put = |rejection: P::Rejection| {
        let mut reasons = Reasons::new(&cache.base.interner);
        P::explain(pod, cycle, columns, index, rejection, &mut reasons);
        let (mut code, plugin) = (P::code(&rejection), P::rejector(&rejection));
        let mut reasons = reasons.into_list();
        if !code.is_rejected() {
            code = Code::Error;
            reasons = vec![format!("running {plugin:?} filter plugin: {}", reasons.join(", "))];
        }
        verdicts.push(Verdict { code, plugin, reasons });
    };
    if all {
        P::filter_all(pod, cycle, columns, index, &mut put);
    } else if let Err(rejection) = passes::filter_one::<P>(pod, cycle, columns, index) {
        put(rejection);
    }
    verdicts
}
