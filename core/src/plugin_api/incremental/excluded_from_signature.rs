//! Parts of a compiled pod that do not separate signatures.

use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// A part of a compiled pod ([`Plugin::Pod`](crate::Plugin::Pod)) that does not affect equality. Example: the names of
/// the pod's claims. Every pod of a StatefulSet has different claims, but nearly all claims have no effect on any node.
///
/// Pods that differ only in such parts share a cached answer. A plugin that reads such a part must handle the
/// difference: `update_filter` receives the current pod, not the one of the cached state, and converts state and
/// verdicts. PreFilter, Filter, `add_pod`, `remove_pod` and Reserve may read such parts. PreScore and Score may not,
/// because their results would be reused for another pod, unless `update_score` handles this.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExcludedFromSignature<T>(pub T);

impl<T> PartialEq for ExcludedFromSignature<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for ExcludedFromSignature<T> {}

impl<T> Hash for ExcludedFromSignature<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl<T> Deref for ExcludedFromSignature<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}
