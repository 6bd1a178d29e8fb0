//! Markdown pages, parsed for tests.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Path from the root of the repository.
    pub path: PathBuf,
    /// Content.
    pub text: String,
}

/// A fenced code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Info string: `toml`, `console`, ... Empty if the fence has none.
    pub info: String,
    /// Content.
    pub text: String,
    /// Line of its fence, from 1.
    pub line: usize,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Target, as written.
    pub target: String,
    /// Line, from 1.
    pub line: usize,
}

impl Block {
    /// Returns the file that the block represents, if its first line is a comment with only a path.
    pub fn file(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        let path = first.strip_prefix("# ").or_else(|| first.strip_prefix("// "))?;
        (path.contains('.') && !path.contains(' ')).then_some(path)
    }
}

impl Page {
    /// Reads a page.
    ///
    /// # Errors
    ///
    /// Returns errors of reading the file.
    pub fn read(root: &Path, path: impl Into<PathBuf>) -> io::Result<Page> {
        let path = path.into();
        let text = fs::read_to_string(root.join(&path))?;
        Ok(Page { path, text })
    }

    /// Returns all pages in a folder and its subfolders, sorted by path. Skips `target` and hidden folders.
    ///
    /// # Errors
    ///
    /// Returns errors of reading folders and files.
    pub fn below(root: &Path, folder: impl AsRef<Path>) -> io::Result<Vec<Page>> {
        let mut pages = Vec::new();
        let mut folders = vec![folder.as_ref().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(root.join(&folder))? {
                let entry = entry?;
                let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
                if entry.file_type()?.is_dir() {
                    let name = name.to_string_lossy();
                    if !name.starts_with('.') && name != "target" {
                        folders.push(path);
                    }
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    pages.push(Page::read(root, path)?);
                }
            }
        }
        pages.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(pages)
    }

    /// Returns a location on this page for messages: `docs/run.md:12`.
    pub fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }

    /// Parses the page into events with their lines.
    fn events(&self) -> impl Iterator<Item = (Event<'_>, usize)> {
        let ends: Vec<usize> = self.text.match_indices('\n').map(|(at, _)| at).collect();
        let parser = Parser::new_ext(&self.text, Options::ENABLE_TABLES);
        parser.into_offset_iter().map(move |(event, range)| (event, ends.partition_point(|end| *end < range.start) + 1))
    }

    /// Returns the fenced code blocks.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for (event, line) in self.events() {
            match (event, &mut open) {
                (Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))), _) => {
                    open = Some(Block { info: info.into_string(), text: String::new(), line });
                }
                (Event::Text(text), Some(block)) => block.text.push_str(&text),
                (Event::End(TagEnd::CodeBlock), _) => blocks.extend(open.take()),
                _ => {}
            }
        }
        blocks
    }

    /// Returns the links.
    pub fn links(&self) -> Vec<Link> {
        let link = |(event, line)| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(Link { target: dest_url.into_string(), line })
            }
            _ => None,
        };
        self.events().filter_map(link).collect()
    }

    /// Returns the anchors of the headings, as GitHub and mdBook generate them.
    pub fn anchors(&self) -> Vec<String> {
        let mut anchors = Vec::new();
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut open: Option<String> = None;
        for (event, _) in self.events() {
            match (event, &mut open) {
                (Event::Start(Tag::Heading { .. }), _) => open = Some(String::new()),
                (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(&text),
                (Event::End(TagEnd::Heading(_)), _) => {
                    let anchor = anchor(&open.take().unwrap_or_default());
                    let count = seen.entry(anchor.clone()).or_default();
                    anchors.push(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
                    *count += 1;
                }
                _ => {}
            }
        }
        anchors
    }
}

/// Returns the anchor of a heading.
pub fn anchor(heading: &str) -> String {
    let letter = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    heading.trim().chars().filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { path: PathBuf::from("docs/page.md"), text: text.to_owned() }
    }

    #[test]
    fn blocks_have_their_info_string_and_line() {
        let page = page("# A\n\n```toml\na = 1\n```\n\n- item\n\n  ```\n  plain\n  ```\n\n    indented\n");
        let block = |info: &str, text: &str, line| Block { info: info.to_owned(), text: text.to_owned(), line };
        assert_eq!(page.blocks(), [block("toml", "a = 1\n", 3), block("", "plain\n", 9)]);
        assert_eq!(page.place(3), "docs/page.md:3");
    }

    #[test]
    fn a_block_whose_first_line_is_a_path_is_that_file() {
        let block = |text: &str| Block { info: "toml".to_owned(), text: text.to_owned(), line: 1 };
        assert_eq!(block("# profiles/mine.toml\na = 1\n").file(), Some("profiles/mine.toml"));
        assert_eq!(block("// src/lib.rs\n").file(), Some("src/lib.rs"));
        assert_eq!(block("# Mine. All of it\n").file(), None);
        assert_eq!(block("a = 1\n").file(), None);
    }

    #[test]
    fn links_in_code_are_ignored() {
        let links = page("See [a](b.md#c), `[x](y.md)`.\n\n| [d](../e) |\n|---|\n").links();
        let targets: Vec<&str> = links.iter().map(|link| link.target.as_str()).collect();
        assert_eq!(targets, ["b.md#c", "../e"]);
    }

    #[test]
    fn anchors_are_lower_case_headings_without_punctuation() {
        let page = page("# What holds, when?\n\n## `--events`: over time\n\n## Again\n\n## Again\n");
        assert_eq!(page.anchors(), ["what-holds-when", "--events-over-time", "again", "again-1"]);
    }
}
