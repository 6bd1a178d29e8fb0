//! Generator and tests of the book in `docs/`.
//!
//! - [`reference`](mod@reference) generates the reference pages.
//! - [`page`] parses pages: headings, links and code blocks.
//! - The tests of this crate check the reference, every link, every page's entry in `SUMMARY.md`, every profile and every
//!   Rust block.
//!
//! The commands that pages show are run by `tests/cli` of the crate `schedc`, because that crate builds the binary.

pub mod page;
pub mod reference;
