//! Fields and default plugins of each version, as in the last kube-scheduler that read it.

use schedc_profile_rules::point::Point;

use crate::config::SETTINGS;

/// A version of `kubescheduler.config.k8s.io` before `v1`, from the oldest to the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    /// Until kube-scheduler 1.18.
    V1Alpha1,
    /// kube-scheduler 1.18.
    V1Alpha2,
    /// kube-scheduler 1.19 to 1.22.
    V1Beta1,
    /// kube-scheduler 1.22 to 1.27.
    V1Beta2,
    /// kube-scheduler 1.23 to 1.28.
    V1Beta3,
}

/// Fields with an address at which kube-scheduler listened without TLS.
pub(super) const ADDRESSES: [&str; 2] = ["healthzBindAddress", "metricsBindAddress"];

impl Version {
    /// Returns the version with this `apiVersion`.
    pub(super) fn named(api_version: &str) -> Option<Self> {
        let versions = [Self::V1Alpha1, Self::V1Alpha2, Self::V1Beta1, Self::V1Beta2, Self::V1Beta3];
        versions.into_iter().find(|version| version.api_version() == api_version)
    }

    /// Returns its `apiVersion`.
    pub(super) fn api_version(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "kubescheduler.config.k8s.io/v1alpha1",
            Self::V1Alpha2 => "kubescheduler.config.k8s.io/v1alpha2",
            Self::V1Beta1 => "kubescheduler.config.k8s.io/v1beta1",
            Self::V1Beta2 => "kubescheduler.config.k8s.io/v1beta2",
            Self::V1Beta3 => "kubescheduler.config.k8s.io/v1beta3",
        }
    }

    /// Returns the fields of a configuration.
    pub(super) fn fields(self) -> Vec<&'static str> {
        let of_version: &[&str] = match self {
            Self::V1Alpha1 => &[
                "schedulerName",
                "algorithmSource",
                "hardPodAffinitySymmetricWeight",
                "disablePreemption",
                "bindTimeoutSeconds",
                "plugins",
                "pluginConfig",
            ],
            Self::V1Alpha2 => &["profiles", "disablePreemption", "bindTimeoutSeconds"],
            Self::V1Beta1 | Self::V1Beta2 | Self::V1Beta3 => &["profiles"],
        };
        ["apiVersion", "kind"].iter().chain(&SETTINGS).chain(&ADDRESSES).chain(of_version).copied().collect()
    }

    /// Returns the default plugins of a point, with their weights at `score`, including removed plugins.
    /// SchedulingGates is added: pods can have gates now, and an API server refuses to bind gated pods.
    pub(super) fn defaults(self, point: Point) -> &'static [(&'static str, i64)] {
        match point {
            Point::PreEnqueue => &[("SchedulingGates", 0)],
            Point::QueueSort => &[("PrioritySort", 0)],
            Point::PreFilter => &[
                ("NodeResourcesFit", 0),
                ("NodePorts", 0),
                ("VolumeRestrictions", 0),
                ("PodTopologySpread", 0),
                ("InterPodAffinity", 0),
                ("VolumeBinding", 0),
                ("VolumeZone", 0),
                ("NodeAffinity", 0),
            ],
            Point::Filter if self <= Self::V1Alpha2 => &[
                ("NodeUnschedulable", 0),
                ("NodeResourcesFit", 0),
                ("NodeName", 0),
                ("NodePorts", 0),
                ("NodeAffinity", 0),
                ("VolumeRestrictions", 0),
                ("TaintToleration", 0),
                ("EBSLimits", 0),
                ("GCEPDLimits", 0),
                ("NodeVolumeLimits", 0),
                ("AzureDiskLimits", 0),
                ("VolumeBinding", 0),
                ("VolumeZone", 0),
                ("PodTopologySpread", 0),
                ("InterPodAffinity", 0),
            ],
            Point::Filter => &[
                ("NodeUnschedulable", 0),
                ("NodeName", 0),
                ("TaintToleration", 0),
                ("NodeAffinity", 0),
                ("NodePorts", 0),
                ("NodeResourcesFit", 0),
                ("VolumeRestrictions", 0),
                ("EBSLimits", 0),
                ("GCEPDLimits", 0),
                ("NodeVolumeLimits", 0),
                ("AzureDiskLimits", 0),
                ("VolumeBinding", 0),
                ("VolumeZone", 0),
                ("PodTopologySpread", 0),
                ("InterPodAffinity", 0),
            ],
            // Until v1alpha2, preemption was no plugin, and had a separate field to disable it.
            Point::PostFilter => &[("DefaultPreemption", 0)],
            Point::PreScore if self <= Self::V1Alpha2 => &[
                ("InterPodAffinity", 0),
                ("PodTopologySpread", 0),
                ("DefaultPodTopologySpread", 0),
                ("TaintToleration", 0),
            ],
            Point::PreScore => {
                &[("InterPodAffinity", 0), ("PodTopologySpread", 0), ("TaintToleration", 0), ("NodeAffinity", 0)]
            }
            Point::Score if self <= Self::V1Alpha2 => &[
                ("NodeResourcesBalancedAllocation", 1),
                ("ImageLocality", 1),
                ("InterPodAffinity", 1),
                ("NodeResourcesLeastAllocated", 1),
                ("NodeAffinity", 1),
                ("NodePreferAvoidPods", 10_000),
                ("PodTopologySpread", 2),
                ("DefaultPodTopologySpread", 1),
                ("TaintToleration", 1),
            ],
            Point::Score if self == Self::V1Beta1 => &[
                ("NodeResourcesBalancedAllocation", 1),
                ("ImageLocality", 1),
                ("InterPodAffinity", 1),
                ("NodeResourcesLeastAllocated", 1),
                ("NodeAffinity", 1),
                ("NodePreferAvoidPods", 10_000),
                ("PodTopologySpread", 2),
                ("TaintToleration", 1),
            ],
            Point::Score => &[
                ("NodeResourcesBalancedAllocation", 1),
                ("ImageLocality", 1),
                ("InterPodAffinity", 1),
                ("NodeResourcesFit", 1),
                ("NodeAffinity", 1),
                ("PodTopologySpread", 2),
                ("TaintToleration", 1),
            ],
            Point::Reserve | Point::PreBind => &[("VolumeBinding", 0)],
            Point::Permit | Point::PostBind => &[],
            Point::Bind => &[("DefaultBinder", 0)],
        }
    }
}
