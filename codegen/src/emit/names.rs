//! Identifiers made from names of plugins, states, profiles and crates.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

use crate::plan::Plan;

/// Converts `NodeResourcesFit` to `node_resources_fit`, and `node-resources` to `node_resources`.
pub(super) fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let starts_word = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase() || before.is_numeric() || after.is_some_and(|after| after.is_lowercase())
            });
        if starts_word && !snake.ends_with('_') {
            snake.push('_');
        }
        if letter.is_alphanumeric() {
            snake.extend(letter.to_lowercase());
        } else if !snake.ends_with('_') {
            snake.push('_');
        }
    }
    snake
}

/// Converts `schedc_plugins` to `SchedcPlugins`.
pub(super) fn camel_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    name.split(|c: char| !c.is_alphanumeric()).map(word).collect()
}

/// Unique identifiers of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct IdentScope {
    taken: BTreeSet<String>,
}

impl IdentScope {
    /// Creates a scope in which these names are taken.
    pub(super) fn without(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|&name| name.to_owned()).collect() }
    }

    /// Takes a name. Returns `None` if it is taken, a keyword, or not an identifier.
    pub(super) fn take(&mut self, name: &str) -> Option<Ident> {
        (syn::parse_str::<Ident>(name).is_ok() && self.taken.insert(name.to_owned())).then(|| ident(name))
    }

    /// Takes the identifier that is most similar to this name: other characters become underscores, and underscores are
    /// appended if the result is taken or a keyword.
    pub(super) fn ident(&mut self, name: String) -> Ident {
        let mut name: String = name.chars().map(|c| if unicode_ident::is_xid_continue(c) { c } else { '_' }).collect();
        if !name.starts_with(|c| c == '_' || unicode_ident::is_xid_start(c)) {
            name.insert(0, '_');
        }
        loop {
            if let Some(ident) = self.take(&name) {
                return ident;
            }
            // Keywords do not end with an underscore, so the next name is an identifier.
            name.push('_');
        }
    }
}

/// Returns an identifier.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Returns the names of the constants for the arguments of a profile's plugins, parallel to
/// [`Plan::plugins`].
pub(super) fn constants(plan: &Plan) -> Vec<Ident> {
    let mut constants = IdentScope::default();
    plan.plugins.iter().map(|plugin| constants.ident(snake_case(&plugin.entry.name).to_uppercase())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        let check = |name: &str, snake: &str| assert_eq!(snake_case(name), snake);
        check("NodeResourcesFit", "node_resources_fit");
        check("node-resources", "node_resources");
        check("GPUShare", "gpu_share");
        check("NodeV2Affinity", "node_v2_affinity");
        check("plain", "plain");
        assert_eq!(camel_case("schedc_plugins"), "SchedcPlugins");
    }

    #[test]
    fn no_identifier_is_given_twice_and_none_is_a_keyword() {
        let mut names = IdentScope::without(&["pod"]);
        let mut check = |name: &str, given: &str| assert_eq!(names.ident(name.to_owned()).to_string(), given);
        check("pod", "pod_");
        check("type", "type_");
        check("node_name", "node_name");
        check("node_name", "node_name_");
    }

    #[test]
    fn every_name_has_an_identifier() {
        let mut names = IdentScope::default();
        let mut check = |name: &str, given: &str| assert_eq!(names.ident(name.to_owned()).to_string(), given);
        check("a-b", "a_b");
        check("a.b", "a_b_");
        check("2nd", "_2nd");
        check("", "__");
        check("-", "___");
    }
}
