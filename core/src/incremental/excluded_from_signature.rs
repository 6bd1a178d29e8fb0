//! What does not make a pod another one.

use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// A part of a compiled pod ([`Plugin::Pod`](crate::Plugin::Pod)) that has no say in whether pods are equal: the names of
/// its claims, say, when every pod of a StatefulSet has its own, and nearly all of them make no difference to any node.
///
/// Pods that differ in nothing else share a kept answer. Whoever looks at a part like this answers for it: `update` is given
/// the pod at hand, not the one that the kept state was made for, and brings state and verdicts from the one to the other.
/// PreFilter, Filter, `add_pod`, `remove_pod` and Reserve may look at it; PreScore and Score, whose answers would be taken
/// over from another pod, may not, unless their own `update` sees to it.
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
