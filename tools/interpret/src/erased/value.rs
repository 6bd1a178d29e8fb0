//! Values of plugins, without their concrete types.

use std::any::Any;
use std::hash::{Hash, Hasher};

/// Any value that threads can share.
pub(crate) type AnyValue = dyn Any + Send + Sync;

/// Returns the value of a plugin in its concrete type.
pub(crate) fn downcast_value<T: 'static>(value: &AnyValue) -> &T {
    value.downcast_ref().expect("a plugin receives its own values")
}

/// Returns the value of a plugin in its concrete type, so that it can be changed.
pub(crate) fn downcast_value_mut<T: 'static>(value: &mut AnyValue) -> &mut T {
    value.downcast_mut().expect("a plugin receives its own values")
}

/// The compiled pod of a plugin.
pub(crate) trait PodValue: Any + Send + Sync {
    fn equals(&self, other: &dyn PodValue) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<T: Eq + Hash + Send + Sync + 'static> PodValue for T {
    fn equals(&self, other: &dyn PodValue) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<T>() == Some(self)
    }
    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

/// The filter state of a plugin.
pub(crate) trait CycleValue: Any + Send + Sync {
    fn copy(&self) -> Box<dyn CycleValue>;
    fn equals(&self, other: &dyn CycleValue) -> bool;
}

impl<T: Clone + PartialEq + Send + Sync + 'static> CycleValue for T {
    fn copy(&self) -> Box<dyn CycleValue> {
        Box::new(self.clone())
    }
    fn equals(&self, other: &dyn CycleValue) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<T>() == Some(self)
    }
}

/// An owned filter state of a plugin, which can be cloned and compared.
pub(crate) struct FilterState(pub(crate) Box<dyn CycleValue>);

impl FilterState {
    pub(crate) fn value(&self) -> &AnyValue {
        &*self.0
    }
    pub(crate) fn value_mut(&mut self) -> &mut AnyValue {
        &mut *self.0
    }
}

impl FilterState {
    /// Returns the concrete state of the plugin.
    pub(crate) fn downcast<T: 'static>(self) -> Option<T> {
        let value: Box<dyn Any> = self.0;
        value.downcast().map(|value| *value).ok()
    }
}

impl Clone for FilterState {
    fn clone(&self) -> Self {
        FilterState((*self.0).copy())
    }
}

impl PartialEq for FilterState {
    fn eq(&self, other: &Self) -> bool {
        (*self.0).equals(&*other.0)
    }
}
