//! Suggestions for unknown names.

/// Maximum length of a name that gets a suggestion, in bytes. Known names are shorter, and the time of the comparison
/// is quadratic.
const MAX_LENGTH: usize = 200;

/// Returns the candidate closest to `name`, if it is similar. The maximum edit distance is a third of the number of
/// letters of `name`, rounded down, but at least 1 and at most 3. The distance must also be less than the length of the
/// candidate. Case, `-`, `_` and spaces are ignored.
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    let letters = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
    };
    let wanted = letters(name);
    let length = wanted.chars().count();
    let limit = (length / 3).clamp(1, 3);
    // The distance is at least the difference in length, which excludes most candidates.
    let similar = candidates.into_iter().map(|candidate| (letters(candidate), candidate));
    let similar = similar.filter(|(letters, _)| letters.chars().count().abs_diff(length) <= limit);
    let distances = similar.map(|(letters, candidate)| (strsim::osa_distance(&wanted, &letters), candidate));
    let near = distances.filter(|&(distance, candidate)| distance <= limit && distance < candidate.len());
    near.min_by_key(|&(distance, _)| distance).map(|(_, candidate)| candidate)
}

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
