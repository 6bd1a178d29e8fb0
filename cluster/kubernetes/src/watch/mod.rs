//! How the objects of a kind are followed.
//!
//! | module | idea |
//! |---|---|
//! | [`reflector_state`] | what to ask an API server next, and what its answers mean |
//! | [`query`] | how that is asked |
//! | [`list_page`] | a list that arrives |
//! | [`framing`] | where one change ends in what arrives on a watch |
//! | [`watch_event`] | a change |
//! | [`reflector`](mod@follow) | asks, reads, tells |
//! | [`reachability`] | whether the API server answers, as all followers observe it together |
//! | [`originals`] | objects as they were written, where extenders are sent them |
//! | [`known_objects`] | what is there, and what the scheduler is told |

pub mod framing;
pub mod known_objects;
pub mod list_page;
pub mod originals;
pub mod query;
pub mod reachability;
pub mod reflector;
pub mod reflector_state;
pub mod watch_event;
