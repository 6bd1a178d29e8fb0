//! What a crate can be called.

use schedc_codegen::is_dns_subdomain;

/// Names that mean something else: to Rust, to cargo, or in generated code.
const RESERVED_NAMES: [&str; 57] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "self",
    "state",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// The name, if it can be that of a crate, of a profile and of a scheduler.
pub(super) fn check(name: &str) -> Result<&str, String> {
    let is_plain = is_dns_subdomain(name) && !name.contains('.') && name.len() <= 63;
    if !is_plain || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Err(format!(
            "`{name}` cannot be the name: lower-case letters, digits and dashes, at most 63, a letter first"
        ));
    }
    if RESERVED_NAMES.contains(&name) || name == "schedc" || name.starts_with("schedc-") {
        return Err(format!("`{name}` cannot be the name: it means something else already"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_name_is_that_of_a_crate_a_profile_and_a_scheduler() {
        for name in ["my-scheduler", "a", "gpu2"] {
            assert_eq!(check(name), Ok(name));
        }
        for name in ["", "My", "2gpu", "a_b", "a.b", "-a", "..", "match", "std", "schedc", "schedc-core"] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
