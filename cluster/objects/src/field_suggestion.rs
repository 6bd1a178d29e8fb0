//! Suggestions for unknown fields.

use std::fmt;

use schedc_bounds::suggest::closest;
use schedc_kinds::{SchemaField, UnknownField};

/// Returns the candidate that begins with `name` if there is exactly one, as `priorityClassName` for `priorityClass`.
/// Names of at most three letters have no completion.
fn completion_if_unique(name: &str, candidates: &[&'static str]) -> Option<&'static str> {
    let mut completions = candidates.iter().filter(|candidate| name.len() > 3 && candidate.starts_with(name));
    completions.next().copied().filter(|_| completions.next().is_none())
}

/// Maximum number of known fields that are listed if none is similar.
const LISTED: usize = 12;

/// Suggestion for an unknown field.
pub(crate) struct FieldSuggestion<'a> {
    pub(crate) field: &'a UnknownField,
    /// All fields of the kind.
    pub(crate) schema: &'a [SchemaField],
}

impl fmt::Display for FieldSuggestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownField { name, known, .. } = self.field;
        if let Some(meant) = closest(name, known.iter().copied()).or_else(|| completion_if_unique(name, known)) {
            return write!(f, "did you mean `{meant}`?");
        }
        if let Some(place) = self.nearest_place() {
            return match place.is_empty() {
                true => write!(f, "`{name}` is a field of the object itself, next to `metadata`"),
                false => write!(f, "`{name}` belongs in `{}`", place.join(".")),
            };
        }
        match known.len() {
            ..=LISTED => write!(f, "the fields here are {}", known.join(", ")),
            _ => f.write_str("no field here has a similar name"),
        }
    }
}

impl<'a> FieldSuggestion<'a> {
    /// Returns the path of the part of an object that has a field with this name. If several parts have one, returns
    /// the path that is nearest to the path in the manifest. The path of the object itself is empty.
    fn nearest_place(&self) -> Option<&'a [&'static str]> {
        let parent = names(&self.field.parent);
        let same = self.schema.iter().filter(|field| field.name == self.field.name);
        let places = same.map(|field| field.parent.as_slice());
        let steps = |place: &[&'static str]| {
            let common = parent.iter().zip(place).take_while(|(a, b)| a == b).count();
            (parent.len() + place.len() - 2 * common, place.len())
        };
        places.min_by_key(|place| steps(place))
    }
}

/// Returns the names in a path, without indices.
fn names(path: &str) -> Vec<&str> {
    let without_index = |part: &str| part.find('[').map_or(part.len(), |end| end);
    path.split('.').filter(|part| !part.is_empty()).map(|part| &part[..without_index(part)]).collect()
}
