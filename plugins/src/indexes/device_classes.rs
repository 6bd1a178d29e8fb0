//! Device classes, and the extended resources that they back.

use std::cmp::Reverse;
use std::sync::Arc;

use schedc_core::column::Index;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{DeviceClass, Object};

use super::Epoch;

/// All device classes.
#[derive(Clone, Debug, Default)]
pub struct DeviceClasses {
    classes: Map<Symbol, Arc<DeviceClass>>,
    /// The classes that back an extended resource, by the name of the resource. No entry is empty.
    by_resource: Map<Symbol, Vec<Arc<DeviceClass>>>,
    epoch: u64,
    changes: Epoch,
}

/// An updated index equals a rebuilt one, regardless of the number and the order of events.
impl PartialEq for DeviceClasses {
    fn eq(&self, other: &Self) -> bool {
        self.classes == other.classes
    }
}

impl DeviceClasses {
    /// Returns the class with this name.
    pub fn class(&self, name: Symbol) -> Option<&Arc<DeviceClass>> {
        self.classes.get(&name)
    }

    /// Returns whether a class backs an extended resource.
    #[inline]
    pub fn is_backed(&self, resource: Symbol) -> bool {
        self.by_resource.contains_key(&resource)
    }

    /// Returns the class that backs an extended resource: of several classes, the newest; of equally new ones, the one
    /// with the lowest name.
    pub fn backing(&self, resource: Symbol, interner: &Interner) -> Option<&Arc<DeviceClass>> {
        let classes = self.by_resource.get(&resource)?.iter();
        classes.min_by_key(|class| (Reverse(class.created), interner.resolve(class.name)))
    }

    /// Returns the epoch, which changes when a class is added, changed or removed.
    pub fn changes(&self) -> &Epoch {
        &self.changes
    }

    /// Returns all classes, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<DeviceClass>> {
        self.classes.values()
    }

    /// Returns a number that changes when a class is added or removed, or backs another resource.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

fn resources(class: &DeviceClass) -> impl Iterator<Item = Symbol> {
    [Some(class.implicit_resource), class.extended_resource].into_iter().flatten()
}

impl Index for DeviceClasses {
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let class = |object: Option<&Object>| match object {
            Some(Object::DeviceClass(class)) => Some(class.clone()),
            _ => None,
        };
        let (old, new) = (class(old), class(new));
        if let Some(old) = &old {
            self.classes.remove(&old.name);
            for resource in resources(old) {
                let Some(classes) = self.by_resource.get_mut(&resource) else { continue };
                classes.retain(|class| class.name != old.name);
                if classes.is_empty() {
                    self.by_resource.remove(&resource);
                }
            }
        }
        if let Some(new) = &new {
            self.classes.insert(new.name, new.clone());
            for resource in resources(new) {
                self.by_resource.entry(resource).or_default().push(new.clone());
            }
        }
        if old.is_some() || new.is_some() {
            self.changes.advance();
        }
        let key = |class: &Option<Arc<DeviceClass>>| class.as_ref().map(|class| (class.name, class.extended_resource));
        if key(&old) != key(&new) {
            self.epoch += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::object;

    use super::*;

    fn class(name: &str, created: &str, more: &str, interner: &mut Interner) -> Object {
        let head = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata";
        object(
            &format!("{head}: {{name: {name}, creationTimestamp: '2026-01-{created}T00:00:00Z'}}\nspec: {{{more}}}"),
            interner,
        )
    }

    #[test]
    fn the_newest_class_backs_a_resource_and_the_lowest_name_breaks_ties() {
        let mut interner = Interner::default();
        let gpu = "extendedResourceName: example.com/gpu";
        let objects = [("b", "01"), ("d", "02"), ("c", "02")].map(|(name, day)| class(name, day, gpu, &mut interner));
        let resource = interner.intern("example.com/gpu");
        let mut classes = DeviceClasses::default();
        let mut backing = Vec::new();
        for object in &objects {
            classes.set_object(None, Some(object));
            backing.extend(classes.backing(resource, &interner).map(|class| interner.resolve(class.name)));
        }
        for object in objects.iter().rev() {
            classes.set_object(Some(object), None);
            backing.extend(classes.backing(resource, &interner).map(|class| interner.resolve(class.name)));
        }
        assert_eq!(backing, ["b", "d", "c", "d", "b"]);
        assert!(classes == DeviceClasses::default() && classes.by_resource.is_empty());
    }

    #[test]
    fn a_class_backs_an_implicit_resource() {
        let mut interner = Interner::default();
        let implicit = interner.intern("deviceclass.resource.kubernetes.io/gpu");
        let [old, new] = ["", "config: []"].map(|more| class("gpu", "01", more, &mut interner));
        let mut classes = DeviceClasses::default();
        classes.set_object(None, Some(&old));
        let epoch = classes.epoch();
        classes.set_object(Some(&old), Some(&new));
        assert!(classes.is_backed(implicit));
        assert_eq!(classes.epoch(), epoch, "the same resources are backed");
    }
}
