//! Blocks say what they are, so that what can be tested is.

use crate::pages;

/// What blocks can be.
const KINDS: [&str; 10] = ["console", "ini", "json", "rust", "sh", "sh no-run", "text", "toml", "toml wrong", "yaml"];

/// How a block begins that should say that it is `sh` or `console`.
const COMMANDS: [&str; 7] = ["$ ", "cargo ", "docker ", "kubectl ", "mdbook ", "schedc ", "sudo "];

#[test]
fn every_block_has_a_known_kind() {
    for page in &pages() {
        for block in page.blocks() {
            let place = page.place(block.line);
            if block.info.is_empty() {
                let command = COMMANDS.iter().find(|command| block.text.starts_with(**command));
                assert!(command.is_none(), "{place}: commands are of the kind `sh`, or `console` with what they print");
            } else {
                assert!(KINDS.contains(&&*block.info), "{place}: nobody tests `{}`; known: {KINDS:?}", block.info);
            }
        }
    }
}
