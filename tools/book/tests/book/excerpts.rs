//! Tests that every Rust block is part of a compiled file: an example, a template of `schedc new`, or a module below.

#![allow(dead_code, unreachable_pub, reason = "pages show the excerpts as parts of a separate crate")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::{pages, root};

mod claims;
mod counting;
mod hint;
mod kept_nodes;
mod namespace_spread;
mod noisy_pods;
mod one_victim;
mod shifts;

/// Returns the lines of Rust code without comments and indentation.
fn normalized(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.fold(String::from("\n"), |text, line| text + line + "\n")
}

fn sources(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

#[test]
fn every_rust_block_is_part_of_a_file_that_is_compiled() {
    let root = root();
    let mut files = Vec::new();
    for folder in
        ["bindings/c/examples", "examples", "tools/book/tests/book/excerpts", "tools/cli/src/commands/new/template"]
    {
        sources(&root.join(folder), &mut files);
    }
    let sources: Vec<String> = files.iter().map(|file| normalized(&fs::read_to_string(file).unwrap())).collect();
    let mut checked_blocks = 0;
    for page in &pages() {
        for block in page.blocks().into_iter().filter(|block| block.info.starts_with("rust")) {
            let part = normalized(&block.text);
            let place = page.place(block.line);
            assert!(sources.iter().any(|source| source.contains(&part)), "{place}: no file has this:\n{part}");
            checked_blocks += 1;
        }
    }
    assert!(checked_blocks > 5, "too few blocks found: did the pages move?");
}
