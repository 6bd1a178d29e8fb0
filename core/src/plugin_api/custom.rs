//! Objects of kinds that plugins declare: a trait for the type of their content, and an index of all objects of a kind.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::model::intern::Symbol;
use crate::model::{Custom, Object};
use crate::plugin_api::column::Index;

/// Content of an object of a kind that a plugin's catalog declares: the fields that the plugin reads, decoded by serde.
///
/// ```
/// use schedc_core::custom::CustomResource;
///
/// #[derive(serde::Deserialize)]
/// struct Shift {
///     spec: ShiftSpec,
/// }
///
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct ShiftSpec {
///     night_only: bool,
/// }
///
/// impl CustomResource for Shift {
///     const RESOURCE: &'static str = "shifts.v1.example.com";
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `CustomResource`",
    note = "implement `serde::Deserialize` and `schedc_core::custom::CustomResource` for it; \
            `RESOURCE` is the kind's resource, version and group, as in `podgroups.v1alpha1.scheduling.x-k8s.io`"
)]
pub trait CustomResource: DeserializeOwned + Send + Sync + 'static {
    /// The kind's resource, version and group: `podgroups.v1alpha1.scheduling.x-k8s.io`. A catalog declares the kind
    /// under `[kinds]`, and the plugin lists it under `watches`; otherwise profiles with the plugin do not compile.
    const RESOURCE: &'static str;
}

/// All objects of a declared kind, like a lister of client-go. It is an index, which a catalog declares: `shifts =
/// "schedc_core::custom::Lister<my_plugins::Shift>"`. Plugins with the same type share one lister.
pub struct Lister<T> {
    objects: BTreeMap<(Symbol, Symbol), Listed<T>>,
    epoch: u64,
    of: PhantomData<fn() -> T>,
}

/// An object and its decoded content.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The whole object.
    pub object: Arc<Custom>,
    /// The decoded content, or the error.
    pub content: Result<T, Arc<str>>,
}

impl<T> Default for Lister<T> {
    fn default() -> Self {
        Lister { objects: BTreeMap::new(), epoch: 0, of: PhantomData }
    }
}

impl<T> Lister<T> {
    /// Returns the object with this name. The namespace of a kind that is not namespaced is [`Symbol::EMPTY`].
    pub fn get(&self, namespace: Symbol, name: Symbol) -> Option<&Listed<T>> {
        self.objects.get(&(namespace, name))
    }
    /// Returns all objects, unordered.
    pub fn iter(&self) -> impl Iterator<Item = &Listed<T>> {
        self.objects.values()
    }
    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }
    /// Returns whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
    /// Returns a number that grows with every change: for
    /// [`Incremental::compile_epoch`](crate::incremental::Incremental::compile_epoch).
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

impl<T: CustomResource> Index for Lister<T> {
    const CUSTOM: &'static [&'static str] = &[T::RESOURCE];

    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        if let Some(new) = new.and_then(Object::custom).filter(|new| new.kind.name == T::RESOURCE) {
            let content = T::deserialize(&new.manifest).map_err(|error| error.to_string().into());
            self.objects.insert((new.namespace, new.name), Listed { object: new.clone(), content });
        } else if let Some(old) = old.and_then(Object::custom).filter(|old| old.kind.name == T::RESOURCE) {
            self.objects.remove(&(old.namespace, old.name));
        } else {
            return;
        }
        self.epoch += 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::intern::Interner;
    use crate::model::{CustomKind, Uid};

    const KIND: CustomKind = CustomKind {
        name: "shifts.v1.example.com",
        api_version: "example.com/v1",
        kind: "Shift",
        plural: "shifts",
        is_namespaced: true,
    };
    const OTHER: CustomKind = CustomKind { name: "shifts.v2.example.com", api_version: "example.com/v2", ..KIND };

    #[derive(serde::Deserialize)]
    struct Shift {
        spec: Spec,
    }

    #[derive(serde::Deserialize)]
    struct Spec {
        night: bool,
    }

    impl CustomResource for Shift {
        const RESOURCE: &'static str = "shifts.v1.example.com";
    }

    #[test]
    fn a_lister_has_current_objects_and_reports_unreadable_ones() {
        let mut interner = Interner::default();
        let (default, [a, b]) = (interner.intern("default"), ["a", "b"].map(|name| interner.intern(name)));
        let object = |kind: &'static CustomKind, name, night: serde_json::Value| {
            let manifest = json!({"spec": {"night": night}});
            Object::Custom(Arc::new(Custom { kind, namespace: default, name, uid: Uid("u".into()), manifest }))
        };
        let mut lister = Lister::<Shift>::default();
        let content = |lister: &Lister<Shift>, name| {
            let content = &lister.get(default, name)?.content;
            Some(content.as_ref().map(|shift| shift.spec.night).map_err(|error| error.to_string()))
        };
        let first = object(&KIND, a, json!(true));
        lister.set_object(None, Some(&first));
        lister.set_object(None, Some(&object(&KIND, b, json!("yes"))));
        lister.set_object(None, Some(&object(&OTHER, b, json!(true))));
        assert_eq!(content(&lister, a), Some(Ok(true)));
        assert_eq!(content(&lister, b), Some(Err("invalid type: string \"yes\", expected a boolean".into())));
        lister.set_object(Some(&first), Some(&object(&KIND, a, json!(false))));
        assert_eq!((content(&lister, a), lister.len(), lister.epoch()), (Some(Ok(false)), 2, 3));
        lister.set_object(Some(&first), None);
        assert_eq!((content(&lister, a), lister.len()), (None, 1));
    }
}
