//! Reflectors: they list and watch the objects of one kind.
//!
//! | module | content |
//! |---|---|
//! | `reflector_state` | the state machine of a reflector, without I/O |
//! | [`query`] | paths and queries of list and watch requests |
//! | `list_page` | decoding of list pages |
//! | [`framing`] | splits a watch stream into events |
//! | `watch_event` | decoding of watch events |
//! | [`reflector`](mod@reflector) | sends requests, reads responses, forwards objects |
//! | [`reachability`] | whether the API server responds, shared by all reflectors |
//! | [`originals`] | the JSON texts of objects, for extenders |
//! | [`known_objects`] | keys of all objects, to find missed deletions |

pub mod framing;
pub mod known_objects;
pub(crate) mod list_page;
pub mod originals;
pub mod query;
pub mod reachability;
pub mod reflector;
pub(crate) mod reflector_state;
pub(crate) mod watch_event;
