//! Recordings of a cluster: all changes that scheduling depends on, and the decisions of its scheduler.
//!
//! docs/record.md has the format.
//!
//! | module | content |
//! |---|---|
//! | [`anonymiser`] | pseudonyms for names |
//! | [`background`] | a recording on a thread |
//! | [`change`] | changes of a cluster |
//! | [`converter`] | converts objects to their recorded form |
//! | [`entry`] | the lines of a recording, with whole objects |
//! | [`events`] | the events of schedulers |
//! | `expansion` | assembles pods from their lines and templates |
//! | `frames` | frames of zstd |
//! | `lines` | formats lines |
//! | [`queue`] | the bounded queue of a recording on a thread |
//! | `raw` | the lines of a file |
//! | `recorded` | the fields of objects that are recorded |
//! | `recorder` | converts lists and watches to lines |
//! | [`session`] | a recording in progress |
//! | [`writer`] | writes lines to files of bounded size |
//! | [`reader`] | reads lines; errors have the place of the line |

pub mod anonymiser;
pub mod background;
pub mod change;
pub mod converter;
pub mod entry;
pub mod events;
mod expansion;
mod frames;
mod lines;
pub mod queue;
mod raw;
pub mod reader;
mod recorded;
mod recorder;
pub mod session;
pub mod writer;

pub use anonymiser::Anonymiser;
pub use background::{Background, Problem};
pub use change::Change;
pub use converter::Converter;
pub use entry::{Entry, Line, ObjectText, Reference};
pub use reader::{ReadError, Reader};
pub use session::Session;
pub use writer::{Limits, Writer};
