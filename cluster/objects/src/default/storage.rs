//! Defaults of volumes, claims and storage classes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::jiff::Timestamp;

use crate::convert::volume::CLASS_ANNOTATION;

/// Annotations that mark a class as the default for claims without a class.
const IS_DEFAULT: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/// Sets the default binding mode, `Immediate` (`SetDefaults_StorageClass`).
pub(super) fn complete_class(class: &mut StorageClass) {
    class.volume_binding_mode.get_or_insert_with(|| "Immediate".to_owned());
}

/// Sets the phase of a volume that has no phase: `Bound` if the volume references a claim with a uid, otherwise
/// `Available`. In a cluster, a new volume is `Pending` until the PV controller has processed it.
pub(super) fn complete_volume(volume: &mut PersistentVolume) {
    let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
    let is_bound = claim.is_some_and(|claim| claim.uid.as_ref().is_some_and(|uid| !uid.is_empty()));
    let phase = volume.status.get_or_insert_default().phase.get_or_insert_default();
    if phase.is_empty() {
        phase.push_str(if is_bound { "Bound" } else { "Available" });
    }
}

/// Sets the default class of a claim without a class, as the DefaultStorageClass admission plugin does. An empty name
/// requests no class and is kept.
pub fn complete_claim(claim: &mut PersistentVolumeClaim, default_class: Option<&String>) {
    let has_class_annotation =
        claim.metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(CLASS_ANNOTATION));
    if let (false, Some(default_class)) = (has_class_annotation, default_class) {
        let spec = claim.spec.get_or_insert_default();
        spec.storage_class_name.get_or_insert_with(|| default_class.clone());
    }
}

/// Returns the default class.
pub fn default_class<'a>(classes: impl Iterator<Item = &'a StorageClass>) -> Option<String> {
    let mut default = DefaultClasses::default();
    classes.for_each(|class| default.set(class));
    default.name().cloned()
}

/// Default storage classes with their creation times.
#[derive(Clone, Debug, Default)]
pub(super) struct DefaultClasses(BTreeMap<String, Option<Timestamp>>);

impl DefaultClasses {
    /// Adds or updates a class.
    pub(super) fn set(&mut self, class: &StorageClass) {
        let name = class.metadata.name.as_deref().unwrap_or_default();
        match is_default(class) {
            true => {
                let created = class.metadata.creation_timestamp.as_ref().map(|time| time.0);
                self.0.insert(name.to_owned(), created);
            }
            false => self.remove(name),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Returns the effective default class: the newest, and among equally old ones the first by name.
    pub(super) fn name(&self) -> Option<&String> {
        let newest = self.0.iter().min_by_key(|(name, created)| (Reverse(**created), *name));
        newest.map(|(name, _)| name)
    }
}

fn is_default(class: &StorageClass) -> bool {
    let annotations = class.metadata.annotations.as_ref();
    let value = |name: &str| annotations.and_then(|annotations| annotations.get(name));
    IS_DEFAULT.iter().any(|name| value(name).is_some_and(|value| value == "true"))
}
