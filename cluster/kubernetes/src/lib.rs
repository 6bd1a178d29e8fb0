//! Kubernetes client side of a scheduler: replaces kube-scheduler at an API server.
//!
//! | module | content |
//! |---|---|
//! | [`blocking`] | blocking work on separate threads |
//! | [`config`] | the effective configuration: the command line and the file of `--config` |
//! | [`connect`] | connecting to the API server: kubeconfigs, service accounts, credentials |
//! | [`driver`] | runs a scheduler at an API server |
//! | [`dry_run`] | scheduling without writes |
//! | [`election`] | leader election between replicas |
//! | [`events`] | events for users: series of repeated events, and requests |
//! | [`flags`] | kube-scheduler's command line: supported, ignored and refused flags |
//! | [`health`] | liveness and readiness |
//! | [`inspect`] | dump and comparison of the scheduler's cache |
//! | [`list`](mod@list) | lists without watches |
//! | [`logs`] | logs as kube-scheduler writes them |
//! | [`metrics`] | kube-scheduler's metrics |
//! | [`resources`] | the kinds of objects and their paths |
//! | [`serving`] | the HTTPS server |
//! | [`shadow`] | compares decisions with those of kube-scheduler |
//! | `status_patch` | patches of pod statuses |
//! | [`watch`] | lists and watches of objects |
//! | [`transport`] | requests to an API server and their responses |
//! | [`mod@write`] | the scheduler's client: bindings, statuses, deletions |

pub mod blocking;
pub mod config;
pub mod connect;
pub mod driver;
pub mod dry_run;
pub mod election;
pub mod events;
pub mod flags;
pub mod health;
pub mod inspect;
pub mod list;
pub mod logs;
pub mod metrics;
pub mod resources;
pub mod serving;
pub mod shadow;
mod status_patch;
pub mod transport;
pub mod watch;
pub mod write;

/// Kubernetes version of the kube-scheduler that this scheduler replaces.
const KUBERNETES_VERSION: &str = "1.36";
