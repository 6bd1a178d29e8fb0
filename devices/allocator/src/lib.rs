//! Allocation of devices for resource claims, as Dynamic Resource Allocation of Kubernetes 1.36 decides it.
//!
//! An [`Inventory`] has the state of the cluster: slices, classes, and the devices that allocated claims hold. Each
//! change of an object updates it. [`Inventory::prepare`] compiles the specs of claims; claims from one template
//! share the result. [`Inventory::evaluate`] decides whether a node has devices for them, and [`Inventory::allocate`]
//! returns the devices.
//!
//! The result is the first solution of a depth-first search, which tries claims, requests, alternatives and devices in
//! order.
//!
//! # Structure
//!
//! | module | content |
//! |---|---|
//! | `inventory` | the state and its changes |
//! | `changes` | log of the nodes that changes affect |
//! | `pool` | slices of a pool, its status, and the use of its devices |
//! | `view` | pools and devices that a node sees |
//! | `shared` | views and verdicts that nodes share |
//! | `block` | up to 64 devices of a slice; each property is a word with one bit per device |
//! | `device_list` | the devices of a block; blocks with equal devices share a list |
//! | `column` | the devices of a list that a request selects |
//! | `evaluation` | evaluation of a request for a list of devices |
//! | `capacity` | amounts that requests consume of a device's capacities |
//! | `prepared` | compiled claims |
//! | `constraint` | conditions on several devices |
//! | `interchange` | devices that are interchangeable in a search |
//! | `input` | inputs of a search |
//! | `search` | the search |
//! | `single_request` | the search for a single request without constraints |
//! | `counters` | shared counters of a pool during a search |
//! | `result` | conversion of the found devices to allocations |
//! | `explanation` | reasons per device |
//! | `count` | number of devices of a class |
//! | `error` | reasons why devices cannot be allocated |

mod block;
mod capacity;
mod changes;
mod column;
mod constraint;
mod count;
mod counters;
mod device_list;
mod error;
mod evaluation;
mod explanation;
mod input;
mod interchange;
mod inventory;
mod pool;
mod prepared;
mod result;
mod search;
mod shared;
mod single_request;
mod view;

pub use changes::Affected;
pub use error::{Failure, INVALID_POOLS, NO_DEVICES, Unfit};
pub use explanation::{Conflict, DeviceReason, Explanation, RequestExplanation};
pub use inventory::{Inventory, MAX_CACHED};
pub use prepared::Prepared;
pub use result::Allocations;
pub use search::STEPS_PER_CHECK;
pub use shared::{SharedView, Verdict};
