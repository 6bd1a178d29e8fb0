//! What can be wrong with manifests, for people to read.

use std::fmt;

use schedc_bounds::text::shortened;

use super::SourceLocation;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: SourceLocation,
    /// The object, such as `Pod default/web`, as far as it is known.
    pub object: Option<String>,
    /// The path of the field, such as `spec.containers[0].name`.
    pub field: Option<String>,
    /// What is wrong, and what to do where that is not plain.
    pub message: String,
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

/// Everything that is wrong with a set of manifests; displays with one line for each problem, up to a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong: at least one problem, in the order in which things were read.
    pub problems: Vec<Problem>,
}

/// As many problems are displayed.
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
