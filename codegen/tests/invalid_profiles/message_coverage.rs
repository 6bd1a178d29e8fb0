//! Checks that every message is in a test with the full text of its error, and that a page of docs/ lists all errors.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, Lit};

/// An error: the test that shows it, and its title.
struct ListedError {
    shown_by: String,
    title: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Returns the files of a folder with this ending, sorted.
fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with(end)).collect();
    files.sort();
    files
}

/// Returns the titles of errors in an expected text. The last line, with the number of errors, is not a title.
fn titles(text: &str) -> impl Iterator<Item = &str> {
    let title = |line: &'_ str| -> Option<usize> {
        let at = line.find("error")?;
        line[..at].trim().is_empty().then_some(at)
    };
    text.lines().filter_map(move |line| {
        let (code, title) = line[title(line)?..].split_once(": ")?;
        let is_summary =
            title.split_once(" in ").is_some_and(|(count, _)| count.ends_with("error") || count.ends_with("errors"));
        ((code == "error" || code.starts_with("error[")) && !is_summary).then_some(title)
    })
}

/// Returns the errors in the tests of a Rust file, each title once.
fn errors_in_tests(path: &Path) -> Vec<ListedError> {
    let text = fs::read_to_string(path).unwrap();
    let file = path.file_stem().unwrap().to_string_lossy();
    let tests = text.split("#[test]\nfn ").skip(1);
    let errors = tests.flat_map(|test| {
        let name = test.split_once('(').map_or("", |(name, _)| name);
        titles(test)
            .map(|title| ListedError { shown_by: format!("{file}::{name}"), title: title.to_owned() })
            .collect::<Vec<_>>()
    });
    unique(errors)
}

/// Returns the errors in the expected output of rustc. An error in the evaluation of a constant has its title on the line
/// after `evaluation panicked:`.
fn errors_in_output(path: &Path) -> Vec<ListedError> {
    let text = fs::read_to_string(path).unwrap().replace("evaluation panicked:\n", "evaluation panicked: ");
    let shown_by = path.file_name().unwrap().to_string_lossy();
    let words = |title: &str| title.split_whitespace().collect::<Vec<_>>().join(" ");
    unique(titles(&text).map(|title| ListedError { shown_by: shown_by.clone().into_owned(), title: words(title) }))
}

fn unique(errors: impl Iterator<Item = ListedError>) -> Vec<ListedError> {
    let mut unique: Vec<ListedError> = Vec::new();
    for error in errors {
        if unique.iter().all(|other| other.title != error.title) {
            unique.push(error);
        }
    }
    unique
}

#[test]
fn the_page_of_mistakes_lists_all_errors() {
    let tests = |folder: &str| unique(files(folder, ".rs").iter().flat_map(|path| errors_in_tests(path)));
    let outputs = |folder: &str| unique(files(folder, ".stderr").iter().flat_map(|path| errors_in_output(path)));
    let sections = [
        ("Profiles and catalogs", "codegen/tests/invalid_profiles", tests("codegen/tests/invalid_profiles")),
        ("Crates that are not found", "codegen/tests/dependencies", tests("codegen/tests/dependencies")),
        ("Declarations of arguments", "macros/derive/tests/ui", outputs("macros/derive/tests/ui")),
        (
            "Catalogs that contradict their plugins",
            "examples/out-of-tree/tests/proofs",
            outputs("examples/out-of-tree/tests/proofs"),
        ),
        ("Plugins", "examples/out-of-tree/tests/mistakes", outputs("examples/out-of-tree/tests/mistakes")),
    ];
    let count: usize = sections.iter().map(|(.., errors)| errors.len()).sum();
    assert!(count >= 40);
    let mut page = format!(
        "<!-- Generated: `UPDATE_EXPECT=1 cargo test -p schedc-codegen --test main invalid_profiles::message_coverage` regenerates it. -->\n\n\
         # Mistakes\n\n\
         The {count} errors of builds with invalid profiles, catalogs and plugins. Each has a location, and most have a fix; the named test \
         has\nthe whole text.\n"
    );
    for (title, folder, errors) in sections {
        page.push_str(&format!("\n## {title}\n\nIn `{folder}`.\n\n| error | test |\n|---|---|\n"));
        for ListedError { shown_by, title } in errors {
            page.push_str(&format!("| {} | `{shown_by}` |\n", title.replace('|', "\\|").replace('<', "\\<")));
        }
    }
    expect_file![repository().join("docs/reference/mistakes.md")].assert_eq(&page);
}

/// Collects the messages of a function that creates an error: string literals of several words.
fn sentences(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => sentences(group.stream(), found),
            TokenTree::Literal(literal) => match Lit::new(literal) {
                Lit::Str(text) if text.value().contains(' ') => found.push(text.value()),
                _ => {}
            },
            _ => {}
        }
    }
}

/// Returns whether a line contains a message, with any text in its braces.
fn contains_message(line: &str, sentence: &str) -> bool {
    let mut rest = line;
    sentence.split(['{', '}']).step_by(2).all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[test]
fn every_message_is_in_a_test() {
    let mut texts = String::new();
    for folder in ["dependencies", "files", "merge_rules", "shipped_profiles", "invalid_profiles"] {
        for path in files(&format!("codegen/tests/{folder}"), ".rs") {
            texts.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    let mut missing = Vec::new();
    let folders = ["codegen/src/messages", "codegen/rules/src/messages"];
    for path in folders.into_iter().flat_map(|folder| files(folder, ".rs")) {
        for item in syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap().items {
            let Item::Fn(function) = item else { continue };
            if !function.sig.output.to_token_stream().to_string().contains("Diagnostic") {
                continue;
            }
            let mut messages = Vec::new();
            sentences(function.block.to_token_stream(), &mut messages);
            if !messages.is_empty()
                && !messages.iter().any(|sentence| texts.lines().any(|line| contains_message(line, sentence)))
            {
                missing.push(function.sig.ident.to_string());
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "messages that no test shows");
}
