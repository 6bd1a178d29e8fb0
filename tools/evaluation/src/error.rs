//! Errors in scenarios.

use std::fmt;

use schedc_bounds::text::shortened;
use schedc_objects::ObjectError;

use crate::routes::UnknownProfile;

/// The reasons why a scenario was not evaluated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors(Vec<Error>);

/// An error in a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// Neither the scenario nor the caller names a profile.
    NoProfile,
    /// No profile of the program has this name.
    UnknownProfile(UnknownProfile),
    /// The scenario has an unknown key.
    UnknownKey(ObjectError),
    /// An item of the scenario is invalid.
    InvalidItem {
        /// Location, such as `steps[3]`.
        place: String,
        /// The error.
        error: InvalidItem,
    },
}

/// An error in an item of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidItem {
    /// An object is invalid.
    Object(Vec<ObjectError>),
    /// A required field of an object is missing.
    Missing(&'static str),
    /// Scheduling ignores objects of this kind.
    Kind {
        /// The API version, if the item names one.
        api_version: Option<String>,
        /// The kind.
        kind: String,
    },
    /// An object to schedule is of this kind instead of a pod.
    NotAPod(&'static str),
    /// A step is malformed; with the reason.
    Step(String),
    /// The event does not exist.
    NoEvent {
        /// Resource of the event.
        resource: String,
        /// Action of the event.
        action: String,
    },
}

/// Maximum number of displayed errors per scenario or object.
const MAX_SHOWN: usize = 20;

impl Errors {
    pub(super) fn extend(&mut self, errors: impl IntoIterator<Item = Error>) {
        self.0.extend(errors);
    }

    /// Returns the value of a result. If the result is an error, records the error and returns `None`.
    pub(super) fn value_of<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    /// Returns the value, if there is no error. If the value is missing, an error must have been recorded.
    pub(super) fn or<T>(self, value: Option<T>) -> Result<T, Errors> {
        value.filter(|_| self.0.is_empty()).ok_or(self)
    }

    /// Returns the first errors, and the number of others.
    pub fn shown(&self) -> (&[Error], usize) {
        let (shown, others) = self.0.split_at(self.0.len().min(MAX_SHOWN));
        (shown, others.len())
    }
}

impl Error {
    /// Returns the error of an item of a list.
    pub(super) fn item(list: &str, at: usize, error: InvalidItem) -> Self {
        Error::InvalidItem { place: format!("{list}[{at}]"), error }
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_all(f, &self.0)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoProfile => f.write_str("`profile` is missing; add it, or choose one with --profile"),
            Error::UnknownProfile(error) => error.fmt(f),
            Error::UnknownKey(error) => {
                let field = error.field.as_deref().unwrap_or_default();
                write!(f, "{}: {}", shortened(field, 400), shortened(&error.message, 2000))
            }
            Error::InvalidItem { place, error } => write!(f, "{place}: {error}"),
        }
    }
}

impl fmt::Display for InvalidItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidItem::Object(errors) => write_all(f, errors),
            InvalidItem::Missing(field) => write!(f, "the object has no `{field}`"),
            InvalidItem::Kind { api_version: None, kind } => {
                write!(f, "scheduling ignores objects of kind `{}`", shortened(kind, 200))
            }
            InvalidItem::Kind { api_version: Some(api_version), kind } => {
                let (kind, api_version) = (shortened(kind, 200), shortened(api_version, 200));
                write!(f, "scheduling ignores objects of kind `{kind}` of `{api_version}`")
            }
            InvalidItem::Step(message) => f.write_str(&shortened(message, 2000)),
            InvalidItem::NoEvent { resource, action } => {
                write!(f, "there is no event `{}` of `{}`", shortened(action, 200), shortened(resource, 200))
            }
            InvalidItem::NotAPod(kind) => write!(f, "a {kind} cannot be scheduled"),
        }
    }
}

fn write_all<E: fmt::Display>(f: &mut fmt::Formatter<'_>, errors: &[E]) -> fmt::Result {
    for (i, error) in errors.iter().take(MAX_SHOWN).enumerate() {
        write!(f, "{}{error}", if i > 0 { "; " } else { "" })?;
    }
    match errors.len().saturating_sub(MAX_SHOWN) {
        0 => Ok(()),
        more => write!(f, "; and {more} more"),
    }
}

impl std::error::Error for Errors {}

impl From<Vec<ObjectError>> for InvalidItem {
    fn from(errors: Vec<ObjectError>) -> Self {
        InvalidItem::Object(errors)
    }
}
