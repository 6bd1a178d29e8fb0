//! The errors in one plugin's arguments. A `const fn` can neither allocate nor use `format!`, so this module has its
//! own buffer.

use super::Node;

/// Size of the buffer, which suffices for about forty errors; further errors are only counted.
const CAPACITY: usize = 4096;
/// Number of bytes reserved for the line with the number of further errors.
const TAIL: usize = 40;
/// Number of bytes to which texts of a profile are shortened.
const EXCERPT: usize = 80;

/// Collects errors, each with its location.
pub struct Errors {
    buffer: [u8; CAPACITY],
    len: usize,
    reported: usize,
    omitted: usize,
    overflow: bool,
    decoding: Decoding,
}

/// The value that is being decoded, for error texts.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Decoding {
    /// All arguments of a plugin.
    Arguments,
    /// The value of a field.
    Field(&'static str),
    /// An entry of the list in a field.
    Entry(&'static str),
}

/// A part of an error text.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Text.
    Text(&'a str),
    /// A name, shown in backquotes.
    Name(&'a str),
    /// A text of the profile, in quotes; shortened when long.
    Quoted(&'a str),
    /// A number.
    Number(i64),
    /// Names in backquotes, with commas.
    Names(&'a [&'a str]),
    /// Texts in quotes, with commas.
    Quotes(&'a [&'a str]),
    /// The bounds of an integer: `1..=100`, `at least 1`, `at most 100`.
    Bounds(Option<i64>, Option<i64>),
    /// The value that is being decoded: the field, an entry of the field, or the arguments.
    Subject,
    /// The table that contains a key: ` in ` and the [`Part::Subject`], or nothing for the outermost table.
    Within,
}

impl Errors {
    /// Makes a value without errors.
    pub const fn new() -> Self {
        let buffer = [0; CAPACITY];
        Errors { buffer, len: 0, reported: 0, omitted: 0, overflow: false, decoding: Decoding::Arguments }
    }

    /// Adds an error about the value at `node`.
    pub const fn report(&mut self, node: &Node, parts: &[Part<'_>]) {
        self.reported += 1;
        if self.omitted > 0 {
            self.omitted += 1;
            return;
        }
        let start = self.len;
        self.text("\n    ");
        self.text(node.file);
        self.text(":");
        self.number(node.line as i64);
        self.text(":");
        self.number(node.column as i64);
        self.text(": ");
        let mut i = 0;
        while i < parts.len() {
            self.part(parts[i]);
            i += 1;
        }
        // A truncated error is dropped, unless it is the first one.
        if self.overflow && start > 0 {
            self.len = start;
            self.omitted += 1;
        }
    }

    /// Returns the number of errors, including those that did not fit.
    pub const fn count(&self) -> usize {
        self.reported
    }

    /// Returns whether there are no errors.
    pub const fn is_empty(&self) -> bool {
        self.reported == 0
    }

    /// Panics with all errors, if there are any. In a constant, this is a compile error.
    ///
    /// # Panics
    /// If there are errors.
    #[track_caller]
    pub const fn finish(mut self) {
        if !self.is_empty() {
            panic!("{}", self.close())
        }
    }

    /// Returns all errors, each as `file:line:column: text`; if some did not fit, the last entry has their number.
    pub(crate) fn into_messages(mut self) -> Vec<String> {
        self.close().split("\n    ").skip(1).map(str::to_owned).collect()
    }

    /// Sets the value that is being decoded, and returns the previous one, which the caller has to restore.
    #[doc(hidden)]
    pub const fn enter(&mut self, decoding: Decoding) -> Decoding {
        let outer = self.decoding;
        self.decoding = decoding;
        outer
    }

    const fn close(&mut self) -> &str {
        if self.omitted > 0 {
            self.text_within("\n    and ", CAPACITY);
            self.number_within(self.omitted as i64, CAPACITY);
            self.text_within(" more", CAPACITY);
            self.omitted = 0;
        }
        match str::from_utf8(self.buffer.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the arguments are wrong, and the errors cannot be shown",
        }
    }

    const fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Text(text) => self.text(text),
            Part::Name(name) => self.wrapped("`", name),
            Part::Quoted(text) => self.wrapped("\"", text),
            Part::Number(number) => self.number(number),
            Part::Names(names) => self.all("`", names),
            Part::Quotes(texts) => self.all("\"", texts),
            Part::Bounds(min, max) => match (min, max) {
                (Some(min), Some(max)) => {
                    self.number(min);
                    self.text("..=");
                    self.number(max);
                }
                (Some(min), None) => {
                    self.text("at least ");
                    self.number(min);
                }
                (None, Some(max)) => {
                    self.text("at most ");
                    self.number(max);
                }
                (None, None) => self.text("an integer"),
            },
            Part::Within => match self.decoding {
                Decoding::Arguments => {}
                Decoding::Field(_) | Decoding::Entry(_) => {
                    self.text(" in ");
                    self.part(Part::Subject);
                }
            },
            Part::Subject => match self.decoding {
                Decoding::Arguments => self.text("`args`"),
                Decoding::Field(name) => self.wrapped("`", name),
                Decoding::Entry(name) => {
                    self.text("an entry of ");
                    self.wrapped("`", name);
                }
            },
        }
    }

    const fn all(&mut self, mark: &str, texts: &[&str]) {
        let mut i = 0;
        while i < texts.len() {
            if i > 0 {
                self.text(", ");
            }
            self.wrapped(mark, texts[i]);
            i += 1;
        }
    }

    const fn wrapped(&mut self, mark: &str, text: &str) {
        self.text(mark);
        let bytes = text.as_bytes();
        let mut rest = text;
        let mut i = 0;
        // Control characters become `?`: each error stays on one line, whatever the profile contains.
        while i < bytes.len() && i < EXCERPT {
            if bytes[i].is_ascii_control() {
                self.text("?");
                i += 1;
            } else {
                let mut end = i + 1;
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                let head = text.split_at(end).0;
                self.text(head.split_at(i).1);
                i = end;
            }
            rest = text.split_at(i).1;
        }
        if !rest.is_empty() {
            self.text("...");
        }
        self.text(mark);
    }

    const fn text(&mut self, text: &str) {
        self.text_within(text, CAPACITY - TAIL);
    }

    const fn number(&mut self, number: i64) {
        self.number_within(number, CAPACITY - TAIL);
    }

    const fn text_within(&mut self, text: &str, limit: usize) {
        // Cut between characters: the buffer stays UTF-8.
        let available = limit - self.len;
        let mut end = text.len();
        if end > available {
            self.overflow = true;
            end = available;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
        }
        let (bytes, mut i) = (text.as_bytes(), 0);
        while i < end {
            self.buffer[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
    }

    const fn number_within(&mut self, number: i64, limit: usize) {
        if number < 0 {
            self.text_within("-", limit);
        }
        let mut rest = number.unsigned_abs();
        let mut digits = [0; 20];
        let mut i = digits.len();
        loop {
            i -= 1;
            digits[i] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if let Ok(text) = str::from_utf8(digits.split_at(i).1) {
            self.text_within(text, limit);
        }
    }
}

impl Default for Errors {
    fn default() -> Self {
        Errors::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, Errors, Part};
    use crate::plugin_api::args::{Node, Value};
    use expect_test::{Expect, expect};

    const NODE: Node = Node { file: "p.toml", line: 1, column: 2, value: Value::Bool(true) };

    fn check(parts: &[Part<'_>], expected: Expect) {
        let mut errors = Errors::new();
        errors.report(&NODE, parts);
        expected.assert_eq(&errors.into_messages().concat());
    }

    #[test]
    fn parts_are_written_out() {
        check(&[Part::Text("a "), Part::Name("b"), Part::Quoted("c")], expect![[r#"p.toml:1:2: a `b`"c""#]]);
        check(&[Part::Number(i64::MIN), Part::Number(0)], expect!["p.toml:1:2: -92233720368547758080"]);
        check(&[Part::Names(&["a", "b"]), Part::Quotes(&["c"])], expect![[r#"p.toml:1:2: `a`, `b`"c""#]]);
        check(&[Part::Bounds(Some(1), None), Part::Bounds(None, Some(2))], expect!["p.toml:1:2: at least 1at most 2"]);
        check(&[Part::Subject, Part::Within], expect!["p.toml:1:2: `args`"]);
    }

    #[test]
    fn a_text_of_the_profile_is_one_short_line() {
        check(&[Part::Quoted("a\n    b\t")], expect![[r#"p.toml:1:2: "a?    b?""#]]);
        check(
            &[Part::Quoted(&"ä".repeat(100))],
            expect![[r#"p.toml:1:2: "ääääääääääääääääääääääääääääääääääääääää...""#]],
        );
    }

    #[test]
    fn omitted_errors_are_counted() {
        let mut errors = Errors::new();
        let text = "ä".repeat(CAPACITY / 7);
        for _ in 0..5 {
            errors.report(&NODE, &[Part::Text(&text)]);
        }
        assert_eq!(errors.count(), 5);
        let messages = errors.into_messages();
        assert_eq!(messages.len(), 4);
        assert!(messages[2].ends_with('ä'));
        assert_eq!(messages[3], "and 2 more");
    }

    #[test]
    fn a_single_error_that_does_not_fit_is_cut() {
        let mut errors = Errors::new();
        errors.report(&NODE, &[Part::Text(&"ä".repeat(CAPACITY))]);
        let messages = errors.into_messages();
        assert_eq!(messages.len(), 1);
        assert!(messages[0].starts_with("p.toml:1:2: ä") && messages[0].ends_with('ä'));
    }
}
