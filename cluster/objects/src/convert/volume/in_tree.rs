//! Translation of in-tree volumes to those of CSI drivers: the scheduler's part of `csi-translation-lib`.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::intern::Interner;
use schedc_core::model::{CsiVolume, MigratedVolume, Migration, RequirementText, TermText};

use super::{BETA_REGION, BETA_ZONE, REGION, ZONE, ZONE_SEPARATOR, node_affinity};

/// An in-tree plugin that the scheduler migrates.
struct Plugin {
    name: &'static str,
    driver: &'static str,
    /// Zone label of the driver, if its volumes belong to zones.
    zone: Option<&'static str>,
}

const GCE: Plugin =
    Plugin { name: "kubernetes.io/gce-pd", driver: "pd.csi.storage.gke.io", zone: Some("topology.gke.io/zone") };
const AWS: Plugin =
    Plugin { name: "kubernetes.io/aws-ebs", driver: "ebs.csi.aws.com", zone: Some("topology.ebs.csi.aws.com/zone") };
const AZURE_DISK: Plugin = Plugin { name: "kubernetes.io/azure-disk", driver: "disk.csi.azure.com", zone: None };
const CINDER: Plugin = Plugin {
    name: "kubernetes.io/cinder",
    driver: "cinder.csi.openstack.org",
    zone: Some("topology.cinder.csi.openstack.org/zone"),
};
const PORTWORX: Plugin = Plugin { name: "kubernetes.io/portworx-volume", driver: "pxd.portworx.com", zone: None };

const PLUGINS: [Plugin; 5] = [GCE, AWS, AZURE_DISK, CINDER, PORTWORX];
/// In-tree plugins that have a CSI driver but are not migrated by the scheduler.
const NOT_MIGRATED: [&str; 2] = ["kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"];

/// Placeholder for an unknown part of a GCE handle.
const UNSPECIFIED: &str = "UNSPECIFIED";

/// Returns the CSI driver whose limit a provisioner's volumes count against, and whether they are migrated.
pub(super) fn driver_of(provisioner: &str) -> (Option<&str>, bool) {
    match PLUGINS.iter().find(|plugin| plugin.name == provisioner) {
        Some(plugin) => (Some(plugin.driver), true),
        None if provisioner.is_empty() || NOT_MIGRATED.contains(&provisioner) => (None, false),
        None => (Some(provisioner), false),
    }
}

/// Translates an inline volume of an in-tree plugin. `None`: the volume has no in-tree plugin with a CSI driver.
/// `Some(Ok(None))`: the scheduler does not migrate its plugin.
pub(super) fn inline(volume: &api::Volume, interner: &mut Interner) -> Option<Result<Option<CsiVolume>, Arc<str>>> {
    let (plugin, handle) = if let Some(disk) = &volume.gce_persistent_disk {
        (GCE, Ok(gce_handle("zones", UNSPECIFIED, &disk.pd_name)))
    } else if let Some(disk) = &volume.aws_elastic_block_store {
        (AWS, aws_handle(&disk.volume_id))
    } else if let Some(disk) = &volume.azure_disk {
        (AZURE_DISK, azure_disk_handle(disk))
    } else if let Some(disk) = &volume.cinder {
        (CINDER, Ok(disk.volume_id.clone()))
    } else if let Some(disk) = &volume.portworx_volume {
        (PORTWORX, Ok(disk.volume_id.clone()))
    } else {
        let has_unmigrated_plugin = volume.azure_file.is_some() || volume.vsphere_volume.is_some();
        return has_unmigrated_plugin.then_some(Ok(None));
    };
    Some(match handle {
        Ok(handle) => Ok(Some(csi(&plugin, &handle, interner))),
        Err(error) => Err(format!("converting volume({}) from inline to csi: {error}", volume.name).into()),
    })
}

/// Translates a PersistentVolume of an in-tree plugin; `terms` is its node affinity.
pub(super) fn migration<'a>(
    meta: &'a ObjectMeta,
    spec: &api::PersistentVolumeSpec,
    mut terms: Option<Vec<TermText<'a>>>,
    interner: &mut Interner,
) -> Option<Migration> {
    let (plugin, handle) = if let Some(disk) = &spec.gce_persistent_disk {
        (GCE, gce_volume_handle(meta, &disk.pd_name))
    } else if let Some(disk) = &spec.aws_elastic_block_store {
        (AWS, aws_handle(&disk.volume_id))
    } else if let Some(disk) = &spec.azure_disk {
        (AZURE_DISK, azure_disk_handle(disk))
    } else if let Some(disk) = &spec.cinder {
        (CINDER, Ok(disk.volume_id.clone()))
    } else {
        (PORTWORX, Ok(spec.portworx_volume.as_ref()?.volume_id.clone()))
    };
    let volume = handle.map_err(Arc::from).map(|handle| {
        if let Some(zone) = plugin.zone {
            translate_topology(meta, &mut terms, zone);
        }
        MigratedVolume {
            csi: csi(&plugin, &handle, interner),
            node_affinity: terms.as_deref().map(|terms| node_affinity(terms, interner)),
        }
    });
    Some(Migration { plugin: interner.intern(plugin.name), volume })
}

fn csi(plugin: &Plugin, handle: &str, interner: &mut Interner) -> CsiVolume {
    CsiVolume { driver: interner.intern(plugin.driver), handle: interner.intern(handle) }
}

fn gce_handle(extent: &str, place: &str, disk: &str) -> String {
    format!("projects/{UNSPECIFIED}/{extent}/{place}/disks/{disk}")
}

/// Returns the handle of a GCE disk: zonal if its label has one zone, regional if it has several.
fn gce_volume_handle(meta: &ObjectMeta, disk: &str) -> Result<String, String> {
    let label = label(meta, BETA_ZONE).filter(|zones| !zones.is_empty()).or(label(meta, ZONE)).unwrap_or_default();
    let zones: Vec<_> = label.split(ZONE_SEPARATOR).collect();
    match zones[..] {
        [""] => Ok(gce_handle("zones", UNSPECIFIED, disk)),
        [zone] => Ok(gce_handle("zones", zone, disk)),
        _ => match gce_region(&zones) {
            Ok(region) => Ok(gce_handle("regions", &region, disk)),
            Err(error) => Err(format!("failed to get region from zones: {error}")),
        },
    }
}

/// Returns the common region of zones such as `europe-west1-b`.
fn gce_region(zones: &[&str]) -> Result<String, String> {
    let mut regions = BTreeSet::new();
    for zone in zones {
        let [locale, region, _] = zone.split('-').collect::<Vec<_>>()[..] else {
            return Err(format!("zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"));
        };
        regions.insert(format!("{locale}-{region}"));
    }
    match regions.len() {
        1 => Ok(regions.into_iter().collect()),
        _ => {
            let regions: Vec<_> = regions.iter().map(|region| format!("{region}:{{}}")).collect();
            Err(format!("multiple or no regions gotten from zones, got: map[{}]", regions.join(" ")))
        }
    }
}

/// Returns the id of an EBS volume. `id` is this id, or a URL such as `aws://zone/vol-id`.
fn aws_handle(id: &str) -> Result<String, String> {
    let Some(url) = id.strip_prefix("aws://") else { return Ok(id.to_owned()) };
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let path = url.find('/').map_or("", |at| url[at..].trim_matches('/'));
    if path.starts_with("vol-") && !path.contains('/') {
        Ok(path.to_owned())
    } else {
        Err(format!("failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({id})"))
    }
}

fn azure_disk_handle(disk: &api::AzureDiskVolumeSource) -> Result<String, String> {
    match &disk.kind {
        Some(kind) if !kind.eq_ignore_ascii_case("Managed") => {
            Err(format!("kind({kind}) is not supported in csi migration"))
        }
        _ => Ok(disk.disk_uri.clone()),
    }
}

fn label<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    meta.labels.as_ref()?.get(key).map(String::as_str)
}

/// Replaces Kubernetes' zone label with the driver's in the node affinity. If the node affinity has no
/// zone label, adds the zones of the volume's label to every term (`translateTopologyFromInTreeToCSI`).
fn translate_topology<'a>(meta: &'a ObjectMeta, terms: &mut Option<Vec<TermText<'a>>>, driver_zone: &'static str) {
    let is_beta = if has_key(terms, ZONE) {
        false
    } else if has_key(terms, BETA_ZONE) {
        true
    } else {
        label(meta, ZONE).is_none() && label(meta, BETA_ZONE).is_some()
    };
    let zone = if is_beta { BETA_ZONE } else { ZONE };
    if has_values(terms, zone) {
        rename(terms, zone, driver_zone);
    } else if let Some(zones) = label(meta, zone) {
        let zones: BTreeSet<_> = zones.split(ZONE_SEPARATOR).map(str::trim).filter(|zone| !zone.is_empty()).collect();
        if !zones.is_empty() {
            let terms = terms.get_or_insert_default();
            if terms.is_empty() {
                terms.push(TermText::default());
            }
            for term in terms {
                let values = Some(zones.iter().copied().collect());
                term.match_expressions.push(RequirementText { key: driver_zone, operator: "In", values });
            }
        }
    }
    if is_beta && has_values(terms, BETA_REGION) {
        rename(terms, BETA_REGION, REGION);
    }
}

fn requirements<'t, 'a>(
    terms: &'t Option<Vec<TermText<'a>>>,
    key: &str,
) -> impl Iterator<Item = &'t RequirementText<'a>> {
    let requirements = terms.iter().flatten().flat_map(|term| &term.match_expressions);
    requirements.filter(move |requirement| requirement.key == key)
}

fn has_key(terms: &Option<Vec<TermText<'_>>>, key: &str) -> bool {
    requirements(terms, key).next().is_some()
}

fn has_values(terms: &Option<Vec<TermText<'_>>>, key: &str) -> bool {
    requirements(terms, key).any(|requirement| requirement.values.as_ref().is_some_and(|values| !values.is_empty()))
}

fn rename<'a>(terms: &mut Option<Vec<TermText<'a>>>, from: &str, to: &'a str) {
    let requirements = terms.iter_mut().flatten().flat_map(|term| &mut term.match_expressions);
    for requirement in requirements.filter(|requirement| requirement.key == from) {
        requirement.key = to;
    }
}
