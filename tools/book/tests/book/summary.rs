//! Tests that the table of contents has every page of the book once.

use std::collections::BTreeSet;
use std::path::Path;

use schedc_book::page::Page;

use crate::root;

#[test]
fn every_page_is_in_the_summary_once() {
    let root = root();
    let pages = Page::below(&root, "docs").unwrap();
    let (summary, pages): (Vec<Page>, Vec<Page>) =
        pages.into_iter().partition(|page| page.path == Path::new("docs/SUMMARY.md"));
    let mut listed = BTreeSet::new();
    for link in summary.iter().flat_map(Page::links) {
        assert!(listed.insert(Path::new("docs").join(&link.target)), "duplicate entry {}", link.target);
    }
    let pages: BTreeSet<_> = pages.into_iter().map(|page| page.path).collect();
    assert_eq!(listed, pages, "left: entries of docs/SUMMARY.md; right: existing pages");
}
