//! Watched kinds, compared with the registered events and the kinds that can be watched.

use std::collections::BTreeSet;

use default_profile::default::Pipeline;
use schedc_codegen::catalog::{Catalog, KINDS};
use schedc_codegen::source::Files;
use schedc_core::events::EventResource;
use schedc_core::profile::Profile;
use schedc_kubernetes::resources::RESOURCES;

#[test]
fn every_plugin_watches_the_kinds_that_its_pods_wait_for() {
    let catalog = Catalog::in_tree(&mut Files::default(), &mut Vec::new()).expect("a catalog");
    for plugin in Pipeline::PLUGINS {
        let entry = catalog.plugins.iter().find(|entry| entry.name == plugin.name).expect("its entry");
        for registration in plugin.events.into_iter().flatten() {
            let resource = registration.event.resource;
            let kind = resource.name().rsplit('/').next().unwrap_or_default();
            // NodeResourcesFit need not watch DeviceClasses: a DeviceClass alone provides no device.
            let is_left_out = (plugin.name, resource) == ("NodeResourcesFit", EventResource::DeviceClass);
            assert!(is_left_out || entry.watches.iter().any(|watched| watched == kind), "{}: {kind}", plugin.name);
        }
    }
}

#[test]
fn every_kind_of_a_catalog_can_be_watched() {
    let followed = RESOURCES.iter().filter(|resource| resource.is_watched()).map(|resource| resource.kind);
    assert_eq!(BTreeSet::from(KINDS), followed.collect());
}
