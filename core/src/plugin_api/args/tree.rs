//! The argument tree: values as written in a profile, with their locations.

/// A value of a profile.
///
/// All data is borrowed for `'static`: the generator embeds trees as constants. A profile that is read at run time
/// leaks its tree once (the `leaked_*` constructors), because plugins keep their arguments until the program ends.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A string.
    Str(&'static str),
    /// A list, in the order of the profile.
    List(&'static [Node]),
    /// A table: keys and values, in the order of the profile.
    Table(&'static [(&'static str, Node)]),
}

/// A value and its location.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The profile's path, as shown in errors.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The value.
    pub value: Value,
}

impl Value {
    /// Returns the value's kind with its article: `"an integer"`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Str(_) => "a string",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Makes a string that lives as long as the program.
    pub fn leaked_str(text: impl Into<String>) -> Self {
        Value::Str(String::leak(text.into()))
    }

    /// Makes a list that lives as long as the program.
    pub fn leaked_list(entries: Vec<Node>) -> Self {
        Value::List(Vec::leak(entries))
    }

    /// Makes a table that lives as long as the program.
    pub fn leaked_table(entries: impl IntoIterator<Item = (String, Node)>) -> Self {
        let entries: Vec<_> = entries.into_iter().map(|(key, node)| (&*String::leak(key), node)).collect();
        Value::Table(Vec::leak(entries))
    }
}

impl Node {
    /// Returns the value at `key`, if this is a table that has it.
    pub const fn get(&self, key: &str) -> Option<&'static Node> {
        if let Value::Table(entries) = self.value {
            let mut i = 0;
            while i < entries.len() {
                if super::text::eq(entries[i].0, key) {
                    return Some(&entries[i].1);
                }
                i += 1;
            }
        }
        None
    }
}
