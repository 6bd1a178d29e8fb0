//! What holds the book in `docs/` together.
//!
//! - [`reference`](mod@reference) makes the pages of the reference.
//! - [`page`] reads pages: their headings, links and blocks of code.
//! - the tests of this crate hold the reference, every link, every page's place in `SUMMARY.md`, every profile and every
//!   Rust block.
//!
//! The commands that pages show are run by `tests/cli` of `schedc`, which has the binary.

pub mod page;
pub mod reference;
