//! Tests that code blocks have a known kind, which determines their test.

use crate::pages;

/// Kinds of blocks.
const KINDS: [&str; 14] = [
    "c",
    "console",
    "ini",
    "js",
    "json",
    "python",
    "rust",
    "sh",
    "sh no-run",
    "text",
    "toml",
    "toml mapping",
    "toml wrong",
    "yaml",
];

/// First words of commands. A block that begins with one must be `sh` or `console`.
const COMMANDS: [&str; 7] = ["$ ", "cargo ", "docker ", "kubectl ", "mdbook ", "schedc ", "sudo "];

#[test]
fn every_block_has_a_known_kind() {
    for page in &pages() {
        for block in page.blocks() {
            let place = page.place(block.line);
            if block.info.is_empty() {
                let command = COMMANDS.iter().find(|command| block.text.starts_with(**command));
                assert!(command.is_none(), "{place}: commands need the kind `sh`, or `console` with their output");
            } else {
                assert!(
                    KINDS.contains(&&*block.info),
                    "{place}: no test for the kind `{}`; known: {KINDS:?}",
                    block.info
                );
            }
        }
    }
}
