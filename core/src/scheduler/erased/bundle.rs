//! Compiled profiles with an erased type.

use std::sync::Arc;

use super::client::AnyClient;
use super::cluster::{AnyCluster, ClusterOf};
use super::scheduler::AnyScheduler;
use crate::engine::bundle::Bundle;
use crate::model::CustomKind;
use crate::model::originals::RequiredOriginals;
use crate::plugin_api::handle::Handle;
use crate::profile_api::extenders::Overrides;
use crate::profile_api::profile::{AccessRule, ProfileInfo, ProfileSource, StartError, StartErrors};
use crate::scheduler::{Options, Scheduler};

type StartScheduler = dyn Fn(AnyClient, Options) -> Result<Box<dyn AnyScheduler>, StartErrors> + Send + Sync;
type StartCluster = dyn Fn(Option<&Overrides>) -> Result<Box<dyn AnyCluster>, StartErrors> + Send + Sync;

/// A [`Bundle`] of any type: its constants, and functions that start its schedulers.
#[derive(Clone)]
pub struct AnyBundle {
    /// The profiles, in order.
    pub profiles: &'static [ProfileInfo],
    /// [`Bundle::SOURCES`].
    pub sources: &'static [ProfileSource],
    /// [`Bundle::HASH`].
    pub hash: &'static str,
    /// [`Bundle::WATCHES`].
    pub watches: &'static [&'static str],
    /// [`Bundle::KINDS`].
    pub kinds: &'static [CustomKind],
    /// [`Bundle::WRITES`].
    pub writes: &'static [AccessRule],
    /// [`Bundle::ORIGINALS`].
    pub originals: RequiredOriginals,
    scheduler: Arc<StartScheduler>,
    /// `None` in programs that only run a scheduler. These programs do not link the code of clusters.
    cluster: Option<Arc<StartCluster>>,
}

impl AnyBundle {
    /// Erases the type of the bundle `B`, for programs that only run [a scheduler](AnyBundle::scheduler).
    pub fn running<B: Bundle>() -> Self {
        Self::with_factory(B::PROFILES, B::new)
    }

    /// Erases the type of the bundle `B`.
    pub fn of<B: Bundle>() -> Self {
        Self::running::<B>().with_cluster_factory(B::new)
    }

    /// Erases the type of a bundle that `make` creates.
    pub fn with_factory<B: Bundle>(
        profiles: &'static [ProfileInfo],
        make: impl Fn(&Handle) -> Result<B, StartErrors> + Send + Sync + 'static,
    ) -> Self {
        AnyBundle {
            profiles,
            sources: B::SOURCES,
            hash: B::HASH,
            watches: B::WATCHES,
            kinds: B::KINDS,
            writes: B::WRITES,
            originals: B::ORIGINALS,
            scheduler: Arc::new(move |client, options| {
                let scheduler = Scheduler::with_factory(&make, client, options)?;
                Ok(Box::new(scheduler) as Box<dyn AnyScheduler>)
            }),
            cluster: None,
        }
    }

    /// Adds the function that starts [clusters without a queue](AnyBundle::cluster). `make` creates their profiles.
    pub fn with_cluster_factory<B: Bundle>(
        self,
        make: impl Fn(&Handle) -> Result<B, StartErrors> + Send + Sync + 'static,
    ) -> Self {
        let cluster: Arc<StartCluster> = Arc::new(move |extenders| {
            let cluster = ClusterOf::new(&make, extenders)?;
            Ok(Box::new(cluster) as Box<dyn AnyCluster>)
        });
        AnyBundle { cluster: Some(cluster), ..self }
    }

    /// Creates every plugin of every profile, and a scheduler that acts through `client`.
    ///
    /// # Errors
    /// The failures of all plugins, or extenders that cannot be called.
    pub fn scheduler(&self, client: AnyClient, options: Options) -> Result<Box<dyn AnyScheduler>, StartErrors> {
        (self.scheduler)(client, options)
    }

    /// Creates every plugin of every profile, over an empty cluster without a queue. Without `extenders`, no extender
    /// can be called.
    ///
    /// # Errors
    /// The failures of all plugins, or extenders that cannot be called.
    pub fn cluster(&self, extenders: Option<&Overrides>) -> Result<Box<dyn AnyCluster>, StartErrors> {
        match &self.cluster {
            Some(cluster) => cluster(extenders),
            None => {
                let reason =
                    "these profiles start schedulers only; use AnyBundle::of in place of AnyBundle::running".to_owned();
                Err(vec![StartError { plugin: "", reason }].into())
            }
        }
    }
}
