//! Problems of manifests, for users.

use std::fmt;

use schedc_bounds::text::shortened;

use super::SourceLocation;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Location of the problem.
    pub place: SourceLocation,
    /// The object, such as `Pod default/web`, or the known part of the name.
    pub object: Option<String>,
    /// The path of the field, such as `spec.containers[0].name`.
    pub field: Option<String>,
    /// The problem, and the fix if it is not obvious.
    pub message: String,
}

impl Problem {
    /// Returns the path of the field in its document.
    pub(super) fn path(&self) -> Option<String> {
        self.field.as_ref().map(|field| self.place.path(field))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        match (&self.object, &self.field) {
            (Some(object), Some(field)) => write!(f, "{}: {}: ", shortened(object, 200), shortened(field, 400))?,
            (Some(object), None) => write!(f, "{} ", shortened(object, 200))?,
            (None, Some(field)) => write!(f, "{}: ", shortened(field, 400))?,
            (None, None) => {}
        }
        f.write_str(&shortened(&self.message, 2000))
    }
}

/// All problems of a set of manifests; displayed with one line for each problem, up to a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// At least one problem, in the order in which the manifests were read; repeated objects are last.
    pub problems: Vec<Problem>,
}

/// Maximum number of displayed problems.
const SHOWN: usize = 20;

impl Error {
    pub(crate) fn error_if_any(problems: Vec<Problem>) -> Result<(), Error> {
        if problems.is_empty() { Ok(()) } else { Err(Error { problems }) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().take(SHOWN).enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        match self.problems.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_shorten_long_names() {
        let name = "x".repeat(20_000_000);
        let place = SourceLocation { file: "a.yaml".into(), line: 1, item: None };
        let message = format!("`{name}` is no name");
        let text = Problem { place, object: Some(format!("Pod {name}")), field: Some(name), message }.to_string();
        assert!(text.len() < 3000 && text.ends_with("xx` is no name"), "{} bytes", text.len());
    }
}
