//! Valid names of crates.

use schedc_codegen::is_dns_subdomain;

/// Names with another meaning in Rust, in cargo, or in generated code.
const RESERVED_NAMES: &str = "\
    abstract alloc as async await become box break const continue core crate do dyn else enum extern \
    false final fn for gen if impl in let loop macro match mod move mut override priv proc-macro pub ref \
    return self state static std struct super test trait true try type typeof unsafe unsized use virtual \
    where while yield";

/// Returns the name if it is valid for a crate, a profile and a scheduler.
pub(super) fn check(name: &str) -> Result<&str, String> {
    let is_plain = is_dns_subdomain(name) && !name.contains('.') && name.len() <= 63;
    if !is_plain || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Err(format!(
            "`{name}` is not a valid name: use at most 63 lower-case letters, digits and dashes, a letter first"
        ));
    }
    if RESERVED_NAMES.split(' ').any(|reserved| reserved == name) || name == "schedc" || name.starts_with("schedc-") {
        return Err(format!("`{name}` is not a valid name: it is reserved"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_name_is_valid_for_a_crate_a_profile_and_a_scheduler() {
        for name in ["my-scheduler", "a", "gpu2"] {
            assert_eq!(check(name), Ok(name));
        }
        for name in ["", "My", "2gpu", "a_b", "a.b", "-a", "..", "match", "std", "schedc", "schedc-core"] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
