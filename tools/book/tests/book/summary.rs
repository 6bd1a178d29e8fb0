//! Every page of the book is in its table of contents, once.

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
        assert!(listed.insert(Path::new("docs").join(&link.target)), "{} is there twice", link.target);
    }
    let pages: BTreeSet<_> = pages.into_iter().map(|page| page.path).collect();
    assert_eq!(listed, pages, "left: what docs/SUMMARY.md lists; right: the pages that there are");
}
