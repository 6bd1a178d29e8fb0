//! Validation of the sources of volumes, of which a volume can have only one.

use k8s_openapi::api::core::v1::{PersistentVolumeSpec, Volume};

use super::super::ProblemReporter;

/// Returns the names of fields, and whether the object has them.
macro_rules! given {
    ($object:expr, $($field:ident $name:literal,)+) => { [$(($name, $object.$field.is_some()),)+] };
}

/// Checks a volume of a pod. Without a source it is an `emptyDir`.
pub(super) fn volume(path: &str, volume: &Volume, reporter: &mut ProblemReporter<'_>) {
    let sources = given!(volume,
        aws_elastic_block_store "awsElasticBlockStore", azure_disk "azureDisk", azure_file "azureFile", cephfs "cephfs",
        cinder "cinder", config_map "configMap", csi "csi", downward_api "downwardAPI", empty_dir "emptyDir",
        ephemeral "ephemeral", fc "fc", flex_volume "flexVolume", flocker "flocker",
        gce_persistent_disk "gcePersistentDisk", git_repo "gitRepo", glusterfs "glusterfs", host_path "hostPath",
        image "image", iscsi "iscsi", nfs "nfs", persistent_volume_claim "persistentVolumeClaim",
        photon_persistent_disk "photonPersistentDisk", portworx_volume "portworxVolume", projected "projected",
        quobyte "quobyte", rbd "rbd", scale_io "scaleIO", secret "secret", storageos "storageos",
        vsphere_volume "vsphereVolume",
    );
    at_most_one(path, &sources, reporter);
    if volume.csi.as_ref().is_some_and(|csi| csi.driver.is_empty()) {
        reporter.report(format!("{path}.csi.driver"), "is missing; give the name of the CSI driver");
    }
}

/// Checks a PersistentVolume. A volume without a source is accepted, and no attach limit counts it.
pub(super) fn persistent_volume(spec: &PersistentVolumeSpec, reporter: &mut ProblemReporter<'_>) {
    let sources = given!(spec,
        aws_elastic_block_store "awsElasticBlockStore", azure_disk "azureDisk", azure_file "azureFile", cephfs "cephfs",
        cinder "cinder", csi "csi", fc "fc", flex_volume "flexVolume", flocker "flocker",
        gce_persistent_disk "gcePersistentDisk", glusterfs "glusterfs", host_path "hostPath", iscsi "iscsi",
        local "local", nfs "nfs", photon_persistent_disk "photonPersistentDisk", portworx_volume "portworxVolume",
        quobyte "quobyte", rbd "rbd", scale_io "scaleIO", storageos "storageos", vsphere_volume "vsphereVolume",
    );
    at_most_one("spec", &sources, reporter);
    let Some(csi) = &spec.csi else { return };
    for (field, text) in [("driver", &csi.driver), ("volumeHandle", &csi.volume_handle)] {
        if text.is_empty() {
            reporter.report(format!("spec.csi.{field}"), "is missing");
        }
    }
}

fn at_most_one(path: &str, sources: &[(&str, bool)], reporter: &mut ProblemReporter<'_>) {
    let given: Vec<String> =
        sources.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| format!("`{name}`")).collect();
    if let [others @ .., last] = &given[..]
        && !others.is_empty()
    {
        let message = format!("has the sources {} and {last}; keep one of them", others.join(", "));
        reporter.report(path, message);
    }
}
