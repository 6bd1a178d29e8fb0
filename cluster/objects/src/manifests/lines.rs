//! Line numbers of the fields of a document.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::yaml;
use crate::kinds::{join, join_item};

/// The line of each field and item of the documents of a chunk, by path.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<BTreeMap<String, u32>>);

impl Lines {
    /// Finds the lines of a YAML text. JSON is YAML, too; for JSON that is not, no line is known.
    pub(super) fn of(chunk: &yaml::Chunk<'_>) -> Lines {
        let documents: Vec<Tree> = yaml::parse(chunk).unwrap_or_default();
        let lines = |document: &Tree| {
            let mut lines = BTreeMap::new();
            document.collect("", chunk, &mut lines);
            lines
        };
        Lines(documents.iter().map(lines).collect())
    }

    /// Returns the line of a field in one of the documents.
    pub(super) fn find(&self, document: usize, path: &str) -> Option<u32> {
        self.0.get(document)?.get(&plain(path)).copied()
    }
}

/// A path without brackets: messages have map keys in brackets, but the document does not distinguish maps.
fn plain(path: &str) -> String {
    path.replace('[', ".").replace(']', "")
}

/// A document without its scalars.
enum Tree {
    Map(Vec<(Spanned<String>, Tree)>),
    List(Vec<Spanned<Tree>>),
    Scalar,
}

impl Tree {
    fn collect(&self, path: &str, chunk: &yaml::Chunk<'_>, lines: &mut BTreeMap<String, u32>) {
        let mut add = |path: String, location, value: &Tree| {
            if let Some(line) = chunk.line_of(location) {
                lines.insert(plain(&path), line);
            }
            value.collect(&path, chunk, lines);
        };
        match self {
            Tree::Map(fields) => {
                fields.iter().for_each(|(name, value)| add(join(path, &name.value), name.referenced, value));
            }
            Tree::List(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(at, item)| add(join_item(path, at), item.referenced, &item.value));
            }
            Tree::Scalar => {}
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

macro_rules! scalars {
    ($($method:ident($ty:ty))*) => {$(
        fn $method<E>(self, _: $ty) -> Result<Tree, E> {
            Ok(Tree::Scalar)
        }
    )*};
}

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    scalars! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Scalar)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Scalar)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Tree, A::Error> {
        let mut map = Vec::new();
        while let Some(field) = fields.next_entry()? {
            map.push(field);
        }
        Ok(Tree::Map(map))
    }
}
