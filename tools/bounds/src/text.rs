//! Texts of users in messages.

use std::borrow::Cow;

/// Shortens a text to about `limit` characters: omits its middle, and inserts a note with the number of omitted
/// characters. Without this, messages that quote names and values of manifests could have any length.
pub fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    // A text has at most as many characters as bytes.
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let half = limit / 2;
    let Some((begin, _)) = text.char_indices().nth(half) else { return Cow::Borrowed(text) };
    let Some((end, _)) = text.char_indices().rev().nth(half.saturating_sub(1)) else { return Cow::Borrowed(text) };
    if end <= begin {
        return Cow::Borrowed(text);
    }
    let left_out = text[begin..end].chars().count();
    Cow::Owned(format!("{}[… {left_out} characters …]{}", &text[..begin], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefghi", 6), "abc[… 3 characters …]ghi");
        assert_eq!(shortened("ääää", 6), "ääää");
        assert_eq!(shortened("äääääää", 6), "äää[… 1 characters …]äää");
        assert_eq!(shortened("", 0), "");
    }
}
