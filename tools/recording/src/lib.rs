//! Recordings of a cluster: all changes that scheduling depends on, and the decisions of its scheduler.
//!
//! docs/record.md has the format.
//!
//! | module | content |
//! |---|---|
//! | [`anonymiser`] | pseudonyms for names |
//! | [`entry`] | the lines of a recording |
//! | [`events`] | the events of schedulers |
//! | [`recorded`] | the fields of objects that are recorded |
//! | [`recorder`] | converts lists and watches to lines |
//! | [`writer`] | writes lines to files of bounded size |
//! | [`reader`] | reads lines, with their place for errors |

pub mod anonymiser;
pub mod entry;
pub mod events;
mod frames;
pub mod reader;
pub mod recorded;
pub mod recorder;
pub mod writer;

pub use anonymiser::Anonymiser;
pub use entry::{Entry, Line, ObjectText, Reference};
pub use reader::{ReadError, Reader};
pub use recorder::Recorder;
pub use writer::{Limits, Writer};
