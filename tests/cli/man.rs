//! `schedc man`

use std::fs;
use std::path::Path;

use expect_test::expect;
use schedc_kubernetes::flags::{FLAGS, Section};

use crate::cli::harness::{Folder, schedc};

/// Returns the names of subcommands in a help text.
pub(crate) fn subcommands(help: &str) -> Vec<&str> {
    let (_, commands) = help.split_once("Commands:\n").expect("a list of commands");
    let lines = commands.lines().take_while(|line| !line.is_empty());
    // Continuation lines of a description have more indentation.
    let names = lines.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split(' ').next()).collect()
}

/// Returns the flags and value names that start a line of a help text, such as `--seed` and `<FILE>`.
fn arguments(help: &str) -> Vec<&str> {
    let lines = help.lines().map(str::trim_start);
    let first = lines.filter_map(|line| line.split([' ', ',', '[', '=']).find(|word| !word.is_empty()));
    first.filter(|word| word.starts_with('-') || word.starts_with('<')).collect()
}

/// Reads a page, and removes its escapes.
fn read(path: &Path) -> String {
    let page = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    ["\\fB", "\\fI", "\\fR"]
        .iter()
        .fold(page, |page, font| page.replace(font, ""))
        .replace("\\-", "-")
        .replace("\\*(Aq", "'")
}

#[test]
fn each_subcommand_has_a_page_with_all_its_arguments() {
    let folder = Folder::with(&[]);
    assert_eq!(folder.schedc(&["man", "share/man1"]).ok(), "");
    let help = schedc(&["--help"]).ok();
    let mut names: Vec<_> = subcommands(&help).into_iter().filter(|&name| name != "help").collect();
    let mut written: Vec<_> = fs::read_dir(folder.path("share/man1")).expect("pages").map(file_name).collect();
    let mut expected: Vec<_> = names.iter().map(|name| format!("schedc-{name}.1")).chain(["schedc.1".into()]).collect();
    expected.sort();
    written.sort();
    assert_eq!(written, expected);
    names.retain(|&name| name != "run");
    for name in names {
        let page = read(&folder.path(&format!("share/man1/schedc-{name}.1")));
        let help = schedc(&[name, "--help"]).ok();
        let missing: Vec<_> = arguments(&help)
            .into_iter()
            .filter(|argument| !page.contains(argument.trim_matches(['<', '>', '.'])))
            .collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}

#[test]
fn every_flag_of_kube_scheduler_is_explained() {
    let folder = Folder::with(&[]);
    folder.schedc(&["man", "."]).ok();
    let page = read(&folder.path("schedc-run.1"));
    let entries: Vec<(&str, &str)> = page.split(".TP\n").filter_map(|entry| entry.split_once('\n')).collect();
    for flag in FLAGS.iter().filter(|flag| flag.section != Section::Global) {
        let name = format!("--{}", flag.name);
        let is_entry = |header: &str| header.split([' ', '[', ',']).any(|word| word == name);
        let (_, body) = entries.iter().find(|(header, _)| is_entry(header)).expect(&name);
        assert!(body.contains(flag.help), "{name}: {body}");
    }
}

#[test]
fn without_a_folder_the_page_of_the_program_is_printed() {
    let page = schedc(&["man"]).ok();
    let start: Vec<&str> = page.lines().take(8).collect();
    expect![[r#"
        .ie \n(.g .ds Aq \(aq
        .el .ds Aq '
        .TH SCHEDC 1 " " "schedc 0.1.0" "User Commands"
        .SH NAME
        schedc \- A compiler for Kubernetes schedulers: from a TOML profile to a statically dispatched scheduler
        .SH SYNOPSIS
        \fBschedc\fR [\fB\-h\fR|\fB\-\-help\fR] [\fB\-V\fR|\fB\-\-version\fR] <\fIsubcommands\fR>
        .SH DESCRIPTION"#]]
    .assert_eq(&start.join("\n"));
}

fn file_name(entry: std::io::Result<fs::DirEntry>) -> String {
    entry.expect("an entry").file_name().to_string_lossy().into_owned()
}

#[test]
fn the_help_lists_every_kind_of_object() {
    let help = schedc(&["simulate", "--help"]).ok();
    let words: Vec<&str> = help.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    for kind in schedc_objects::KINDS {
        let plural = match kind.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None if kind.ends_with('s') => format!("{kind}es"),
            None => format!("{kind}s"),
        };
        assert!(words.contains(&plural.as_str()), "{plural}: {help}");
    }
}
