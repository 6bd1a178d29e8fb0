//! `schedc check`

use std::path::PathBuf;

use clap::Args;
use schedc_codegen::source::{Files, Span};
use schedc_codegen::{Diagnostic, Diagnostics};
use schedc_core::erased::AnyBundle;
use serde::Serialize;

use super::failure::Failure;
use super::output::{self, Format};
use super::sources;

/// Check profiles and show all errors
///
/// The same checks as those of a build. They include the rules between profiles, because all given profiles
/// will share a binary. The exit code is 1 if there are errors.
#[derive(Args)]
pub(crate) struct Check {
    /// Profiles: names of files in profiles/ or of compiled-in profiles, paths, or folders [default: all of
    /// profiles/]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

impl Check {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let (report, result) = match sources::load(bundle, &self.profiles) {
            Ok(compilation) => {
                let profiles = compilation.plans.into_iter().map(|plan| plan.path).collect();
                (Report { profiles, errors: Vec::new() }, Ok(()))
            }
            Err(Failure::Profiles(diagnostics)) if self.output != Format::Table => {
                (Report { profiles: Vec::new(), errors: errors(&diagnostics) }, Err(Failure::Reported))
            }
            Err(failure) => return Err(failure),
        };
        output::print(self.output, &report, |report| match report.profiles.len() {
            1 => "1 profile, no errors\n".to_owned(),
            n => format!("{n} profiles, no errors\n"),
        })?;
        result
    }
}

/// The result in JSON or YAML.
#[derive(Serialize)]
struct Report {
    /// The profiles, if there are no errors.
    profiles: Vec<String>,
    errors: Vec<Error>,
}

#[derive(Serialize)]
struct Error {
    message: String,
    #[serde(flatten)]
    place: Option<Place>,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Related>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement: Option<Replacement>,
}

/// Another source location that explains the error.
#[derive(Serialize)]
struct Related {
    #[serde(flatten)]
    place: Place,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
}

/// A replacement text that fixes the error.
#[derive(Serialize)]
struct Replacement {
    #[serde(flatten)]
    place: Place,
    text: String,
}

/// A range of a file. Lines and columns count from 1, columns in characters; the end is exclusive.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    file: String,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

fn errors(diagnostics: &Diagnostics) -> Vec<Error> {
    diagnostics.iter().map(|diagnostic| error(diagnostic, diagnostics.files())).collect()
}

fn error(diagnostic: &Diagnostic, files: &Files) -> Error {
    let replacement = diagnostic.help.as_ref().and_then(|help| help.replacement.as_ref());
    Error {
        message: diagnostic.title.clone(),
        place: diagnostic.primary.as_ref().map(|label| place(label.span, files)),
        label: diagnostic.primary.as_ref().map(|label| label.text.clone()).unwrap_or_default(),
        related: diagnostic
            .secondary
            .iter()
            .map(|label| Related { place: place(label.span, files), label: label.text.clone() })
            .collect(),
        notes: diagnostic.notes.clone(),
        help: diagnostic.help.as_ref().map(|help| help.text.clone()),
        replacement: replacement.map(|(span, text)| Replacement { place: place(*span, files), text: text.clone() }),
    }
}

fn place(span: Span, files: &Files) -> Place {
    let start = files.location(span);
    let end = files.location(Span { start: span.end, ..span });
    Place {
        file: start.path.to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}
