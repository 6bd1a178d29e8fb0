//! Tests of the pages of the book, and of the other pages of the repository.

#![allow(clippy::unwrap_used, reason = "a failing test panics")]

mod blocks;
mod excerpts;
mod links;
mod profiles;
mod reference;
mod summary;

use std::path::{Path, PathBuf};

use schedc_book::page::Page;

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Returns the pages whose code is tested: those of the book, and the README.
fn pages() -> Vec<Page> {
    let mut pages = Page::below(&root(), "docs").unwrap();
    pages.push(Page::read(&root(), "README.md").unwrap());
    pages
}
