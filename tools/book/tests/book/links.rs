//! Tests that every link has a target.

use std::path::{Component, Path, PathBuf};

use schedc_book::page::Page;

use crate::root;

/// Resolves `.` and `..`. A `..` at the start of the path is dropped.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normalized.pop();
            }
            other => normalized.push(other),
        }
    }
    normalized
}

#[test]
fn every_relative_link_and_anchor_has_a_target() {
    let root = root();
    let pages = Page::below(&root, "").unwrap();
    let mut wrong = Vec::new();
    let mut links = 0;
    for page in &pages {
        for link in page.links() {
            if link.target.contains("://") {
                continue;
            }
            links += 1;
            let (path, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
            let target = if path.is_empty() {
                page.path.clone()
            } else {
                normalized(&page.path.parent().unwrap_or(Path::new("")).join(path))
            };
            if !root.join(&target).exists() {
                wrong.push(format!("{}: {} does not exist", page.place(link.line), target.display()));
            } else if !anchor.is_empty() {
                let target_page = pages.iter().find(|page| page.path == target);
                if !target_page.is_some_and(|page| page.anchors().iter().any(|known| known == anchor)) {
                    wrong.push(format!("{}: {} has no #{anchor}", page.place(link.line), target.display()));
                }
            }
        }
    }
    assert!(links > 50, "too few links found: did the pages move?");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
