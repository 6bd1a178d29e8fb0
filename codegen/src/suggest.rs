//! Suggestions for unknown names.

/// Returns the candidate that `name` most likely means: equal except for case and separators, or with a few
/// typos.
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // No known name is as long, and the comparison time is proportional to the length.
    if name.len() > MAX_TEXT_LEN {
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

/// Maximum length of a name with a suggestion, in bytes.
const MAX_TEXT_LEN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, suggestion: Option<&str>) {
        let candidates = ["NodeName", "NodePorts", "NodeResourcesFit", "pre-filter", "filter", "scoring-strategy"];
        assert_eq!(closest(name, candidates), suggestion, "{name}");
    }

    #[test]
    fn finds_the_closest_name() {
        check("NodeNam", Some("NodeName"));
        check("nodeports", Some("NodePorts"));
        check("NodeResourceFit", Some("NodeResourcesFit"));
        check("preFilter", Some("pre-filter"));
        check("pre_filter", Some("pre-filter"));
        check("scoringStrategy", Some("scoring-strategy"));
        check("fliter", Some("filter"));
    }

    #[test]
    fn distant_names_are_not_suggested() {
        check("Coscheduling", None);
        check("x", None);
        check("", None);
    }
}
