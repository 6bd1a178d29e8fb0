//! What is wrong with a profile or a catalog, and how it is shown.
//!
//! The words are in `messages`; here is their form: a title, a labelled place, further places, notes, and a help
//! that may carry an edit.

use std::fmt;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Patch, Renderer, Snippet};

use crate::source::{FileId, Files, Span};

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one line that can stand alone.
    pub title: String,
    /// Where; `None` if it is not about a place in a file.
    pub primary: Option<Label>,
    /// Other places that matter, possibly in other files.
    pub secondary: Vec<Label>,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<Help>,
}

/// A place with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark; may be empty.
    pub text: String,
}

/// What to do about an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// In words.
    pub text: String,
    /// The place to replace and the text to put there.
    pub replacement: Option<(Span, String)>,
}

impl Diagnostic {
    /// An error about nothing in particular in a file.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), primary: None, secondary: Vec::new(), notes: Vec::new(), help: None }
    }

    /// An error at a place.
    pub fn at(span: Span, title: impl Into<String>, label: impl Into<String>) -> Self {
        Self { primary: Some(Label { span, text: label.into() }), ..Self::new(title) }
    }

    /// With another place that matters.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: label.into() });
        self
    }

    /// With a fact that helps to understand.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// With what to do, in words.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(Help { text: text.into(), replacement: None });
        self
    }

    /// With what to do, as an edit.
    pub fn suggest(mut self, text: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        self.help = Some(Help { text: text.into(), replacement: Some((span, replacement.into())) });
        self
    }

    /// The whole error with the lines it is about, as rustc would show it.
    pub fn render(&self, files: &Files, color: bool) -> String {
        let mut main = Group::with_title(Level::ERROR.primary_title(self.title.as_str()));
        for (index, file) in self.files().into_iter().enumerate() {
            let primary = self.primary.iter().map(|label| (AnnotationKind::Primary, label));
            let secondary = self.secondary.iter().map(|label| (AnnotationKind::Context, label));
            let annotations = primary
                .chain(secondary)
                .filter(|(_, label)| label.span.file == file)
                .map(|(kind, label)| annotation(if index == 0 { kind } else { AnnotationKind::Context }, label));
            let snippet = Snippet::source(files.text(file)).path(files.path(file)).annotations(annotations);
            main = main.element(snippet);
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
                let patch = Patch::new(span.start..span.end, replacement.as_str());
                let snippet = Snippet::source(files.text(span.file)).path(files.path(span.file)).patch(patch);
                groups.push(Level::HELP.secondary_title(text.as_str()).element(snippet));
            }
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&groups)
    }

    /// One line: `profiles/edge.toml:3:9: no plugin is called `NodeNam`; did you mean `NodeName`?`
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

    /// The files that it is about, that of the primary place first.
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

fn annotation<'a>(kind: AnnotationKind, label: &'a Label) -> Annotation<'a> {
    let annotation = kind.span(label.span.start..label.span.end);
    if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
}

/// All errors of a compilation, in the order of their places.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    files: Files,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Sorts the errors by place. An error that was found twice, as with a catalog that two profiles use, is kept once.
    pub fn new(files: Files, found: Vec<Diagnostic>) -> Self {
        let mut list: Vec<Diagnostic> = Vec::new();
        for diagnostic in found {
            if !list.contains(&diagnostic) {
                list.push(diagnostic);
            }
        }
        list.sort_by_key(Diagnostic::position);
        Self { files, list }
    }

    /// These errors and others.
    pub(crate) fn and(self, others: Vec<Diagnostic>) -> Self {
        let all = self.list.into_iter().chain(others).collect();
        Self::new(self.files, all)
    }

    /// The errors.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// The files that the errors are about.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Every error in full, and the count at the end.
    pub fn render(&self, color: bool) -> String {
        let mut text = String::new();
        for diagnostic in &self.list {
            text.push_str(&diagnostic.render(&self.files, color));
            text.push_str("\n\n");
        }
        let summary = self.summary();
        let title = Level::ERROR.primary_title(summary.as_str());
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        text.push_str(&renderer.render(&[Group::with_title(title)]));
        text.push('\n');
        text
    }

    /// Every error in one line, for `cargo::error=`.
    pub fn one_lines(&self) -> Vec<String> {
        self.list.iter().map(|diagnostic| diagnostic.one_line(&self.files)).collect()
    }

    /// How many errors there are, and in which files: `3 errors in profiles/edge.toml`.
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
    fn an_error_shows_its_places_in_all_files() {
        let (files, edge, other) = two_files();
        let diagnostic = Diagnostic::at(Span { file: other, start: 18, end: 21 }, "the name is taken", "here")
            .also(Span { file: edge, start: 17, end: 20 }, "and here")
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
    fn colour_is_optional() {
        let (files, edge, _) = two_files();
        let diagnostic = Diagnostic::at(Span { file: edge, start: 0, end: 1 }, "wrong", "");
        assert!(!diagnostic.render(&files, false).contains('\u{1b}'));
        assert!(diagnostic.render(&files, true).contains('\u{1b}'));
    }
}
