//! Identifiers of Rust.

/// Keywords of the latest edition, used and reserved.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Keywords that cannot be raw identifiers.
const NEVER_RAW: &[&str] = &["Self", "crate", "self", "super"];

/// Returns whether `text` is an identifier, and not a keyword. Raw identifiers, such as `r#type`, are identifiers.
pub(crate) fn is_identifier(text: &str) -> bool {
    let (name, excluded) = match text.strip_prefix("r#") {
        Some(name) => (name, NEVER_RAW),
        None => (text, KEYWORDS),
    };
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|first| first == '_' || unicode_ident::is_xid_start(first));
    starts && name != "_" && chars.all(unicode_ident::is_xid_continue) && !excluded.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_those_of_rust() {
        let texts =
            ["a", "_a", "größe", "r#type", "Type1", "", "_", "1a", "a-b", "a b", "a::b", "r#self", "r#", "type"];
        for text in texts.iter().chain(KEYWORDS).filter(|text| **text != "gen") {
            let expected = syn::parse_str::<syn::Ident>(text).is_ok();
            assert_eq!(is_identifier(text), expected, "{text}");
        }
        assert!(!is_identifier("gen"), "a keyword since edition 2024");
    }
}
