//! What a scheduler needs to know to take kube-scheduler's place at an API server.
//!
//! | module | idea |
//! |---|---|
//! | [`blocking`] | what blocks, on threads of its own |
//! | [`config`] | what holds: the command line with the file of `--config` |
//! | [`connect`] | the way to the API server: kubeconfigs, service accounts, credentials |
//! | `crypto` | what TLS is made of, whoever speaks it |
//! | [`driver`] | a scheduler at an API server |
//! | [`dry_run`] | a scheduler that decides and writes nothing |
//! | [`election`] | who of several replicas leads |
//! | [`events`] | what is to be written of what people should know |
//! | [`flags`] | kube-scheduler's command line: what is honoured, ignored or refused |
//! | [`health`] | how the scheduler is, for those who ask |
//! | [`inspect`] | what the scheduler knows, when somebody asks |
//! | [`logs`] | logs as kube-scheduler writes them |
//! | [`metrics`] | kube-scheduler's metrics |
//! | [`pods`] | what is remembered of pods so that it can be written |
//! | [`resources`] | where objects are |
//! | [`serving`] | the HTTPS server |
//! | [`shadow`] | a scheduler that judges what kube-scheduler does |
//! | [`status_patch`] | what to send so that a pod's status says something |
//! | [`watch`] | how the objects of a kind are followed |
//! | [`transport`] | requests and answers, whatever carries them |
//! | [`mod@write`] | the scheduler's client: bindings, statuses, deletions |

pub mod blocking;
pub mod config;
pub mod connect;
mod crypto;
pub mod driver;
pub mod dry_run;
pub mod election;
pub mod events;
pub mod flags;
pub mod health;
pub mod inspect;
pub mod logs;
pub mod metrics;
pub mod pods;
pub mod resources;
pub mod serving;
pub mod shadow;
pub mod status_patch;
pub mod transport;
pub mod watch;
pub mod write;

/// The version of Kubernetes whose scheduler this one stands in for.
const KUBERNETES_VERSION: &str = "1.36";
