//! Comparison of texts in constants.

/// Returns `a == b`, in a `const fn`.
pub(super) const fn eq(a: &str, b: &str) -> bool {
    eq_bytes(a.as_bytes(), b.as_bytes())
}

/// Returns `a == b` for bytes.
pub(super) const fn eq_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
