//! Runs the commands in the pages of the book, and compares their output with the pages.
//!
//! tools/book/README.md describes the kinds of blocks.

use std::fs;
use std::path::Path;

use schedc_book::page::{Block, Page};

use crate::cli::harness::Folder;

/// Commands that are fast, and need neither a cluster nor compilation.
const QUICK: [&str; 14] = [
    "capacity", "check", "diff", "drain", "evaluate", "expand", "explain", "export", "import", "manifest", "new",
    "profiles", "schema", "simulate",
];

/// Folders for all commands, in addition to the files in their page.
const FOLDERS: [&str; 6] =
    ["examples/cluster", "examples/devices", "examples/events", "examples/scenarios", "examples/workloads", "profiles"];

/// A command, and its output in the page.
#[derive(Debug, PartialEq, Eq)]
struct Shown<'b> {
    command: String,
    output: Vec<&'b str>,
}

/// Returns the commands of a `console` block.
fn session(block: &Block) -> Vec<Shown<'_>> {
    let mut session: Vec<Shown<'_>> = Vec::new();
    let mut lines = block.text.lines();
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix("$ ") {
            session.push(Shown { command: whole(command, &mut lines), output: Vec::new() });
        } else if let Some(shown) = session.last_mut() {
            shown.output.push(line.trim_end());
        }
    }
    session
}

/// Returns those commands of a `sh` block that can run here. Each is cut at its first pipe.
fn script(block: &Block) -> Vec<String> {
    let mut commands = Vec::new();
    let mut lines = block.text.lines();
    while let Some(line) = lines.next() {
        let command = whole(line, &mut lines);
        let mut words = command.split_whitespace();
        if words.next() == Some("schedc") && words.next().is_some_and(|name| QUICK.contains(&name)) {
            commands.push(command.split('|').next().unwrap_or_default().to_owned());
        }
    }
    commands
}

/// Returns a command with its continuation lines.
fn whole<'b>(first: &str, lines: &mut impl Iterator<Item = &'b str>) -> String {
    let mut command = first.to_owned();
    while let Some(start) = command.strip_suffix('\\') {
        command = format!("{start}{}", lines.next().unwrap_or_default().trim_start());
    }
    command
}

/// Returns whether output matches a page. `...` matches any text in a line, or any lines if it is the whole line.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, printed) => printed.is_none(),
        (Some((first, rest)), _) if first.trim() == "..." => {
            (0..=printed.len()).any(|left_out| fits(rest, &printed[left_out..]))
        }
        (Some((shown, rest)), Some((printed, others))) => fits_line(shown, printed) && fits(rest, others),
        (Some(_), None) => false,
    }
}

fn fits_line(shown: &str, printed: &str) -> bool {
    let Some((start, end)) = shown.split_once("...") else { return shown == printed };
    let Some(printed) = printed.strip_prefix(start) else { return false };
    (0..=printed.len()).any(|at| printed.get(at..).is_some_and(|printed| fits_line(end, printed)))
}

/// Creates the folder for the commands of a page, with the examples and profiles of the repository, and the files in
/// the page.
fn folder(root: &Path, page: &Page) -> Folder {
    let mut files = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(root.join(folder)).expect("a folder of the repository") {
            let name = entry.expect("an entry").file_name();
            let path = format!("{folder}/{}", name.to_string_lossy());
            let text = fs::read_to_string(root.join(&path)).expect("a file of the repository");
            files.push((path, text));
        }
    }
    let profile = "examples/features.toml";
    files.push((profile.to_owned(), fs::read_to_string(root.join(profile)).expect("a file of the repository")));
    let blocks = page.blocks().into_iter();
    files.extend(blocks.filter_map(|block| Some((block.file()?.to_owned(), block.text))));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    Folder::with(&files)
}

#[test]
fn pages_show_the_output_of_commands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = Page::below(root, "docs").expect("pages");
    pages.push(Page::read(root, "README.md").expect("a page"));
    let mut wrong = String::new();
    let (mut compared, mut run) = (0, 0);
    for page in &pages {
        let folder = folder(root, page);
        for block in page.blocks() {
            let place = page.place(block.line);
            if block.info == "console" {
                for Shown { command, output } in session(&block) {
                    let printed = folder.shell(&format!("{command} 2>&1")).stdout;
                    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
                    if !fits(&output, &lines) {
                        wrong += &format!("{place}: `{command}` prints\n{printed}\n");
                    }
                    compared += 1;
                }
            } else if block.info == "sh" {
                for command in script(&block) {
                    let result = folder.shell(&command);
                    // `schedc diff` exits with 1 if there are differences.
                    if result.code != Some(0) && (result.code, result.stderr.as_str()) != (Some(1), "") {
                        wrong += &format!("{place}: `{command}` fails\n{}\n", result.stderr);
                    }
                    run += 1;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 10 && run > 10, "too few commands found: {compared}, {run}; did the pages move?");
}

#[test]
fn dots_stand_for_omitted_lines() {
    assert!(fits(&["a", "..."], &["a"]));
    assert!(fits(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(fits(&["a ... c ..."], &["a b c d"]));
    assert!(!fits(&["a ... c"], &["a b d"]));
    assert!(!fits(&["a"], &["a", "b"]));
    assert!(!fits(&["...", "b"], &["a"]));
}

#[test]
fn commands_continue_after_a_backslash() {
    let block = |text: &str| Block { info: String::new(), text: text.to_owned(), line: 1 };
    let shown = block("$ schedc check \\\n    edge\nall right\n$ schedc profiles\n");
    let commands: Vec<String> = session(&shown).into_iter().map(|shown| shown.command).collect();
    assert_eq!(commands, ["schedc check edge", "schedc profiles"]);
    let shown = block("schedc run --help\nschedc manifest edge | kubectl apply -f -\ncargo test\n");
    assert_eq!(script(&shown), ["schedc manifest edge "]);
}
