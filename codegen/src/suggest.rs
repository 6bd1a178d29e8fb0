//! Names in messages: what was meant by a name, and names of any length.

use std::borrow::Cow;

/// The candidate that was most likely meant by `name`: the same but for case and separators, or a few typos away.
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // No known name is as long, and the comparison takes time in proportion to the length.
    if name.len() > LONGEST {
        return None;
    }
    let letters = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
    };
    let wanted = letters(name);
    let limit = (wanted.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&wanted, &letters(candidate)), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Maximum length of a name for which [`closest`] has an answer, in bytes.
const LONGEST: usize = 200;

/// A text of at most about `limit` characters; the middle of a longer text is left out.
pub fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    // A text has at most as many characters as bytes.
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let half = limit / 2;
    let begin = text.char_indices().nth(half).map(|(begin, _)| begin);
    let end = text.char_indices().rev().nth(half.saturating_sub(1)).map(|(end, _)| end);
    match (begin, end) {
        (Some(begin), Some(end)) if begin < end => {
            let left_out = text[begin..end].chars().count();
            Cow::Owned(format!("{}[… {left_out} characters …]{}", &text[..begin], &text[end..]))
        }
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, meant: Option<&str>) {
        let candidates = ["NodeName", "NodePorts", "NodeResourcesFit", "pre-filter", "filter", "scoring-strategy"];
        assert_eq!(closest(name, candidates), meant, "{name}");
    }

    #[test]
    fn finds_what_was_meant() {
        check("NodeNam", Some("NodeName"));
        check("nodeports", Some("NodePorts"));
        check("NodeResourceFit", Some("NodeResourcesFit"));
        check("preFilter", Some("pre-filter"));
        check("pre_filter", Some("pre-filter"));
        check("scoringStrategy", Some("scoring-strategy"));
        check("fliter", Some("filter"));
    }

    #[test]
    fn does_not_guess_wildly() {
        check("Coscheduling", None);
        check("x", None);
        check("", None);
    }

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefghi", 6), "abc[… 3 characters …]ghi");
        assert_eq!(shortened("ääää", 6), "ääää");
        assert_eq!(shortened("äääääää", 6), "äää[… 1 characters …]äää");
        assert_eq!(shortened("", 0), "");
    }
}
