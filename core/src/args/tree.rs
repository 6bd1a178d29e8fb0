//! The argument tree: values as written in a profile, each with its place.

/// A value of a profile.
///
/// Everything is borrowed for `'static`: the generator embeds trees as constants. A profile that is read when the program
/// runs leaks its tree (the `leaked_*` constructors), once per profile, since plugins keep their arguments for as long as
/// the program runs.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A string.
    Str(&'static str),
    /// A list, in the order written.
    List(&'static [Node]),
    /// A table: keys and values, in the order written.
    Table(&'static [(&'static str, Node)]),
}

/// A value and where it is written.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The profile's path, as complaints show it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The value.
    pub value: Value,
}

impl Value {
    /// The value's kind with its article: `"an integer"`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Str(_) => "a string",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// A string that lives as long as the program.
    pub fn leaked_str(text: impl Into<String>) -> Self {
        Value::Str(String::leak(text.into()))
    }

    /// A list that lives as long as the program.
    pub fn leaked_list(entries: Vec<Node>) -> Self {
        Value::List(Vec::leak(entries))
    }

    /// A table that lives as long as the program.
    pub fn leaked_table(entries: impl IntoIterator<Item = (String, Node)>) -> Self {
        let entries: Vec<_> = entries.into_iter().map(|(key, node)| (&*String::leak(key), node)).collect();
        Value::Table(Vec::leak(entries))
    }
}

impl Node {
    /// The value at `key`, if this is a table that has it.
    pub const fn get(&self, key: &str) -> Option<&'static Node> {
        if let Value::Table(entries) = self.value {
            let mut i = 0;
            while i < entries.len() {
                if super::decode::eq(entries[i].0, key) {
                    return Some(&entries[i].1);
                }
                i += 1;
            }
        }
        None
    }
}
