//! Names of profiles and pods, and the profile for each pod.

use std::fmt;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_bounds::text::shortened;
use schedc_core::intern::Interner;
use schedc_core::model::Pod;
use schedc_core::profile::{ProfileInfo, profile_for, profile_named};

/// Scheduler of pods without a scheduler name.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// The profile for each pod.
#[derive(Clone, Copy, Debug)]
pub struct Routes {
    profiles: &'static [ProfileInfo],
    only: Option<usize>,
}

impl Routes {
    /// Routes each pod to the profile with its scheduler name.
    pub fn by_scheduler_name(profiles: &'static [ProfileInfo]) -> Self {
        Routes { profiles, only: None }
    }

    /// Routes all pods to the profile with this name or, failing that, this scheduler name.
    ///
    /// # Errors
    /// Returns an error if there is no such profile.
    pub fn to(profiles: &'static [ProfileInfo], name: &str) -> Result<Self, UnknownProfile> {
        Ok(Routes { profiles, only: Some(Self::index_of(profiles, name)?) })
    }

    /// Returns the index of the profile to which all pods are routed; `None` if scheduler names decide.
    pub fn only(&self) -> Option<usize> {
        self.only
    }

    /// Returns the profiles.
    pub fn profiles(&self) -> &'static [ProfileInfo] {
        self.profiles
    }

    /// Returns the index of the profile with this name or, failing that, this scheduler name.
    ///
    /// # Errors
    /// Returns an error if there is no such profile.
    pub fn index_of(profiles: &'static [ProfileInfo], name: &str) -> Result<usize, UnknownProfile> {
        profile_named(profiles, name)
            .ok_or_else(|| UnknownProfile { name: name.to_owned(), known: profiles.iter().map(|p| p.name).collect() })
    }

    /// Returns the index of the profile that serves a pod.
    pub fn profile_of(&self, pod: &ApiPod) -> Option<usize> {
        self.profile_for(scheduler_name(pod))
    }

    /// Returns the index of the profile that serves pods with this scheduler name; an empty name stands for
    /// `default-scheduler`.
    pub fn profile_for(&self, name: &str) -> Option<usize> {
        let name = if name.is_empty() { DEFAULT_SCHEDULER } else { name };
        self.only.or_else(|| profile_for(self.profiles, name))
    }
}

/// An error: no profile of the binary has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProfile {
    name: String,
    known: Vec<&'static str>,
}

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownProfile { name, known } = self;
        write!(f, "no profile is named `{}`; the profiles are {}", shortened(name, 200), known.join(", "))
    }
}

impl std::error::Error for UnknownProfile {}

/// Returns the scheduler name of a pod.
pub fn scheduler_name(pod: &ApiPod) -> &str {
    let name = pod.spec.as_ref().and_then(|spec| spec.scheduler_name.as_deref());
    name.filter(|name| !name.is_empty()).unwrap_or(DEFAULT_SCHEDULER)
}

/// Returns the display name of a pod: `namespace/name`.
pub fn pod_name(pod: &Pod, interner: &Interner) -> String {
    format!("{}/{}", interner.resolve(pod.spec.namespace), pod.name)
}
