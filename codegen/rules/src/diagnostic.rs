//! Errors of profiles and catalogs, and their display.
//!
//! `messages` contains the texts. An error has a title, a labelled location, secondary locations, notes, and
//! a help that may contain an edit.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};
use schedc_bounds::text::shortened;

use crate::source::{FileId, Files, Lines, Location, Span};

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// Summary of the error: one line that can be understood without the other fields.
    pub title: String,
    /// Primary location; `None` for an error without a location in a file.
    pub primary: Option<Label>,
    /// Related locations, possibly in other files.
    pub secondary: Vec<Label>,
    /// Additional facts.
    pub notes: Vec<String>,
    /// The solution.
    pub help: Option<Help>,
}

/// Maximum length of a text in an error, in characters. Errors quote names and values of any length.
const MAX_TEXT_LEN: usize = 2000;

fn text(text: impl Into<String>) -> String {
    let text = text.into();
    match shortened(&text, MAX_TEXT_LEN) {
        Cow::Borrowed(_) => text,
        Cow::Owned(short) => short,
    }
}

/// A location with a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The location.
    pub span: Span,
    /// The label; may be empty.
    pub text: String,
}

/// The solution of an error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Help {
    /// Description.
    pub text: String,
    /// The location to replace, and its new text.
    pub replacement: Option<(Span, String)>,
}

impl Diagnostic {
    /// Creates an error without a location.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: text(title), primary: None, secondary: Vec::new(), notes: Vec::new(), help: None }
    }

    /// Creates an error at a location.
    pub fn at(span: Span, title: impl Into<String>, label: impl Into<String>) -> Self {
        Self { primary: Some(Label { span, text: text(label) }), ..Self::new(title) }
    }

    /// Adds a secondary location.
    pub fn secondary(mut self, span: Span, label: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text(label) });
        self
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(text(note));
        self
    }

    /// Adds a solution as text.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(Help { text: text(help), replacement: None });
        self
    }

    /// Adds a solution as an edit. If `replacement` is too long to display, only the text `help` is added.
    pub fn suggest(mut self, help: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        let replacement = Some(replacement.into()).filter(|replacement| replacement.len() <= MAX_TEXT_LEN);
        self.help = Some(Help { text: text(help), replacement: replacement.map(|replacement| (span, replacement)) });
        self
    }

    /// Returns the full error with its source lines, in rustc's format.
    pub fn render(&self, files: &Files, color: bool) -> String {
        let mut main = Group::with_title(Level::ERROR.primary_title(self.title.as_str()));
        for (index, file) in self.files().into_iter().enumerate() {
            let primary = self.primary.iter().map(|label| (AnnotationKind::Primary, label));
            let secondary = self.secondary.iter().map(|label| (AnnotationKind::Context, label));
            let labels = primary.chain(secondary).filter(|(_, label)| label.span.file == file);
            let labels: Vec<_> = labels.collect();
            let lines = lines(files, file, labels.iter().map(|(_, label)| label.span));
            if lines.text.len() > MAX_LINES_LEN {
                let location = labels.first().map(|(_, label)| files.location(label.span));
                let (line, column) = location.map_or((1, 1), |location| (location.line, location.column));
                main = main.element(Origin::path(files.path(file)).line(line).char_column(column));
                let labels = labels.into_iter().enumerate().filter(|(_, (_, label))| !label.text.is_empty());
                main = main.elements(labels.map(|(index, (_, label))| {
                    // The path, displayed above, already has the line and column of the first label.
                    if index == 0 {
                        return Level::NOTE.message(label.text.as_str());
                    }
                    let Location { line, column, .. } = files.location(label.span);
                    Level::NOTE.message(format!("{line}:{column}: {}", label.text))
                }));
                continue;
            }
            let annotations = labels.into_iter().map(|(kind, label)| {
                annotation(if index == 0 { kind } else { AnnotationKind::Context }, label, lines.start)
            });
            let snippet = Snippet::source(lines.text).line_start(lines.number).path(files.path(file));
            main = main.element(snippet.annotations(annotations));
        }
        for note in &self.notes {
            main = main.element(Level::NOTE.message(note.as_str()));
        }
        let mut groups = Vec::new();
        match &self.help {
            None => groups.push(main),
            Some(Help { text, replacement: None }) => groups.push(main.element(Level::HELP.message(text.as_str()))),
            Some(Help { text, replacement: Some((span, replacement)) }) => {
                groups.push(main);
                let lines = lines(files, span.file, [*span]);
                let help = Level::HELP.secondary_title(text.as_str());
                if lines.text.len() > MAX_LINES_LEN {
                    let replacement = Level::NOTE.message(format!("write `{replacement}` there"));
                    groups.push(help.element(replacement));
                    return renderer(color).render(&groups);
                }
                let patch = Patch::new(span.start - lines.start..span.end - lines.start, replacement.as_str());
                let snippet = Snippet::source(lines.text).line_start(lines.number).path(files.path(span.file));
                groups.push(help.element(snippet.patch(patch)));
            }
        }
        renderer(color).render(&groups)
    }

    /// Returns one line: `profiles/edge.toml:3:9: no plugin is called `NodeNam`; did you mean `NodeName`?`
    pub fn one_line(&self, files: &Files) -> String {
        let mut line = String::new();
        if let Some(label) = &self.primary {
            line = format!("{}: ", files.location(label.span));
        }
        line.push_str(&self.title);
        if let Some(help) = &self.help {
            line.push_str("; ");
            line.push_str(&help.text);
        }
        line.replace('\n', " ")
    }

    /// Returns the files with locations of the error, the primary one first.
    fn files(&self) -> Vec<FileId> {
        let mut files = Vec::new();
        for label in self.primary.iter().chain(&self.secondary) {
            if !files.contains(&label.span.file) {
                files.push(label.span.file);
            }
        }
        files
    }

    fn position(&self) -> Option<(FileId, usize, usize)> {
        self.primary.as_ref().map(|label| (label.span.file, label.span.start, label.span.end))
    }
}

fn renderer(color: bool) -> Renderer {
    if color { Renderer::styled() } else { Renderer::plain() }
}

/// Maximum length of the displayed source lines of an error, in bytes. Beyond it, the error shows only locations: the
/// renderer processes whole lines, although it truncates long ones.
const MAX_LINES_LEN: usize = 64 << 10;

/// Returns the lines of a file from the first to the last span, not the whole file: the renderer reads all of its input
/// for each error.
fn lines(files: &Files, file: FileId, spans: impl IntoIterator<Item = Span>) -> Lines<'_> {
    let (mut start, mut end) = (usize::MAX, 0);
    for span in spans {
        (start, end) = (start.min(span.start), end.max(span.end));
    }
    files.lines(file, start..end)
}

/// Creates an annotation. `start` is the offset of the displayed lines in the file.
fn annotation(kind: AnnotationKind, label: &Label, start: usize) -> Annotation<'_> {
    let annotation = kind.span(label.span.start - start..label.span.end - start);
    if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
}

/// Maximum number of errors that are displayed in full.
const MAX_SHOWN: usize = 100;

/// All errors of a compilation, in the order of their locations.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    files: Files,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Sorts the errors by location, and removes duplicates, such as errors of a catalog that two profiles use.
    pub fn new(files: Files, found: Vec<Diagnostic>) -> Self {
        let mut seen = HashSet::with_capacity(found.len());
        let is_first: Vec<bool> = found.iter().map(|diagnostic| seen.insert(diagnostic)).collect();
        let list = found.into_iter().zip(is_first).filter_map(|(diagnostic, is_first)| is_first.then_some(diagnostic));
        let mut list: Vec<Diagnostic> = list.collect();
        list.sort_by_key(Diagnostic::position);
        Self { files, list }
    }

    /// Adds other errors.
    pub fn extended(self, others: Vec<Diagnostic>) -> Self {
        let all = self.list.into_iter().chain(others).collect();
        Self::new(self.files, all)
    }

    /// Returns the errors.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Returns the files of the errors.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the first 100 errors in full, followed by the number of all errors.
    pub fn render(&self, color: bool) -> String {
        let mut text = String::new();
        for diagnostic in self.list.iter().take(MAX_SHOWN) {
            text.push_str(&diagnostic.render(&self.files, color));
            text.push_str("\n\n");
        }
        let mut summary = self.summary();
        if self.list.len() > MAX_SHOWN {
            summary.push_str(&format!("; the first {MAX_SHOWN} are above"));
        }
        let title = Level::ERROR.primary_title(summary.as_str());
        text.push_str(&renderer(color).render(&[Group::with_title(title)]));
        text.push('\n');
        text
    }

    /// Returns every error as one line, for `cargo::error=`.
    pub fn one_lines(&self) -> Vec<String> {
        self.list.iter().map(|diagnostic| diagnostic.one_line(&self.files)).collect()
    }

    /// Returns the number of errors and their files: `3 errors in profiles/edge.toml`.
    pub fn summary(&self) -> String {
        let mut paths: Vec<&str> = Vec::new();
        for label in self.list.iter().filter_map(|diagnostic| diagnostic.primary.as_ref()) {
            let path = self.files.path(label.span.file);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let count = self.list.len();
        let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
        match paths.split_last() {
            None => errors,
            Some((only, [])) => format!("{errors} in {only}"),
            Some((last, others)) => format!("{errors} in {} and {last}", others.join(", ")),
        }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn two_files() -> (Files, FileId, FileId) {
        let mut files = Files::default();
        let edge = files.add("profiles/edge.toml", "scheduler-name = \"a\"\nfilter = [\"X\"]\n");
        let other = files.add("profiles/other.toml", "\nscheduler-name = \"a\"\n");
        (files, edge, other)
    }

    #[test]
    fn an_error_shows_its_locations_in_all_files() {
        let (files, edge, other) = two_files();
        let diagnostic = Diagnostic::at(Span { file: other, start: 18, end: 21 }, "the name is taken", "here")
            .secondary(Span { file: edge, start: 17, end: 20 }, "and here")
            .note("names are unique")
            .help("choose another");
        expect![[r#"
            error: the name is taken
             --> profiles/other.toml:2:18
              |
            2 | scheduler-name = "a"
              |                  ^^^ here
              |
             ::: profiles/edge.toml:1:18
              |
            1 | scheduler-name = "a"
              |                  --- and here
              |
              = note: names are unique
              = help: choose another"#]]
        .assert_eq(&diagnostic.render(&files, false));
        expect!["profiles/other.toml:2:18: the name is taken; choose another"].assert_eq(&diagnostic.one_line(&files));
    }

    #[test]
    fn errors_are_sorted_and_counted() {
        let (files, edge, other) = two_files();
        let at = |file, start| Diagnostic::at(Span { file, start, end: start + 1 }, "wrong", "");
        let found = vec![at(other, 3), at(edge, 5), at(edge, 1), at(edge, 5)];
        let diagnostics = Diagnostics::new(files, found);
        expect![[r#"
            profiles/edge.toml:1:2: wrong
            profiles/edge.toml:1:6: wrong
            profiles/other.toml:2:3: wrong
            3 errors in profiles/edge.toml and profiles/other.toml"#]]
        .assert_eq(&format!("{}\n{}", diagnostics.one_lines().join("\n"), diagnostics.summary()));
    }

    #[test]
    fn an_error_in_a_large_file_shows_only_its_lines() {
        let mut files = Files::default();
        let text = (1..=20_000).map(|line| format!("key-{line} = 1\n")).collect::<String>();
        let (first, last) = (text.find("key-11999").unwrap(), text.find("key-12001").unwrap());
        let file = files.add("profiles/large.toml", text);
        let diagnostic = Diagnostic::at(Span { file, start: last, end: last + 9 }, "the key is twice", "here")
            .secondary(Span { file, start: first, end: first + 9 }, "first")
            .suggest("rename it", Span { file, start: last, end: last + 3 }, "lock");
        expect![[r#"
            error: the key is twice
                 --> profiles/large.toml:12001:1
                  |
            11999 | key-11999 = 1
                  | --------- first
            12000 | key-12000 = 1
            12001 | key-12001 = 1
                  | ^^^^^^^^^ here
                  |
            help: rename it
                  |
            12001 - key-12001 = 1
            12001 + lock-12001 = 1
                  |"#]]
        .assert_eq(&diagnostic.render(&files, false));
    }

    #[test]
    fn distant_locations_are_named_by_line_and_column() {
        let mut files = Files::default();
        let text = (1..=20_000).map(|line| format!(" key-{line} = 1\n")).collect::<String>();
        let (first, last) = (text.find("key-7 ").unwrap(), text.find("key-19999").unwrap());
        let file = files.add("profiles/large.toml", text);
        let diagnostic = Diagnostic::at(Span { file, start: last, end: last + 9 }, "the key is twice", "here")
            .secondary(Span { file, start: first, end: first + 5 }, "first");
        expect![[r#"
            error: the key is twice
            --> profiles/large.toml:19999:2
             = note: here
             = note: 7:2: first"#]]
        .assert_eq(&diagnostic.render(&files, false));
    }

    #[test]
    fn an_error_in_a_very_long_line_shows_only_its_location() {
        let mut files = Files::default();
        let name = "x".repeat(20_000_000);
        let file = files.add("profiles/long.toml", format!("a = 1\n  {name} = 1\n"));
        let span = Span { file, start: 8, end: 8 + name.len() };
        let diagnostic = Diagnostic::at(span, format!("unknown key `{name}`"), "not a key")
            .note(format!("`{name}` is long"))
            .suggest("shorten it", span, "x");
        let text = diagnostic.render(&files, false);
        assert!(text.len() < 10_000 && diagnostic.one_line(&files).len() < 5_000, "{} bytes", text.len());
        expect![[r#"
            error: unknown key `xxxxxxxxxx[… 19998014 characters …]xxxxxxxxxxxxxxxxxxxxxx`
            --> profiles/long.toml:2:3
             = note: not a key
             = note: `xxxxxxxxxxxxxxxxxxxxxx[… 19998010 characters …]xxxxxxxxxxxxxx` is long
            help: shorten it
             |
             = note: write `x` there"#]]
        .assert_eq(&text.replace(&"x".repeat(980), "xxx"));
        let closest = crate::suggest::closest(&name, ["weight"]);
        assert_eq!(closest, None);
    }

    #[test]
    fn of_many_errors_the_first_100_are_displayed_in_full() {
        let mut files = Files::default();
        let text = (1..=50_000).map(|line| format!("key-{line} = 1\n")).collect::<String>();
        let starts: Vec<usize> = text.match_indices("key").map(|(start, _)| start).collect();
        let file = files.add("profiles/large.toml", text);
        let error = |start| Diagnostic::at(Span { file, start, end: start + 3 }, format!("wrong at {start}"), "");
        let diagnostics = Diagnostics::new(files, starts.into_iter().map(error).collect());
        let text = diagnostics.render(false);
        assert_eq!(text.matches("error: wrong").count(), 100);
        expect!["error: 50000 errors in profiles/large.toml; the first 100 are above"]
            .assert_eq(text.lines().last().unwrap());
        assert!(diagnostics.one_lines().last().unwrap().starts_with("profiles/large.toml:50000:1: wrong"));
    }

    #[test]
    fn colour_is_optional() {
        let (files, edge, _) = two_files();
        let diagnostic = Diagnostic::at(Span { file: edge, start: 0, end: 1 }, "wrong", "");
        assert!(!diagnostic.render(&files, false).contains('\u{1b}'));
        assert!(diagnostic.render(&files, true).contains('\u{1b}'));
    }
}
