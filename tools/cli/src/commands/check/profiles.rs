//! Checks of profiles, the same as in a build.

use std::path::Path;

use schedc_codegen::source::{Files, Span};
use schedc_codegen::{Diagnostic, Diagnostics};
use schedc_core::erased::AnyBundle;
use schedc_objects::manifests::entries::{self, Entry, Field};
use serde::Serialize;

use super::sarif::{Finding, sarif};
use super::{Check, CheckFormat};
use crate::commands::failure::Failure;
use crate::commands::{output, sources};

const RULE: (&str, &str) = ("profile-error", "A profile cannot be compiled");

impl Check {
    pub(super) fn profiles(&self, bundle: &AnyBundle) -> Result<(), Failure> {
        let files = self.input.files();
        if let Some(file) = files.iter().find(|file| is_manifest(file)) {
            let message = "has Kubernetes objects and is not a profile; give the manifests to check with -f";
            return Err(Failure::new(format_args!(
                "{} {message}: schedc check -f MANIFEST FILE|FOLDER...",
                file.display()
            )));
        }
        let (report, result) = match sources::load(bundle, files) {
            Ok(compilation) => {
                let profiles = compilation.plans.into_iter().map(|plan| plan.path).collect();
                (Report { profiles, errors: Vec::new() }, Ok(()))
            }
            Err(Failure::Profiles(diagnostics)) if self.output != CheckFormat::Table => {
                (Report { profiles: Vec::new(), errors: errors(&diagnostics) }, Err(Failure::Reported))
            }
            Err(failure) => return Err(failure),
        };
        match self.output.common() {
            Some(format) => output::print(format, &report, |report| match report.profiles.len() {
                1 => "1 profile, no errors\n".to_owned(),
                n => format!("{n} profiles, no errors\n"),
            })?,
            None => {
                let findings: Vec<Finding> = report.errors.iter().map(finding).collect();
                output::print_text(&(output::json(&sarif(&[RULE], &findings))? + "\n"))?;
            }
        }
        result
    }
}

/// Returns whether a file has objects of a cluster. Returns `false` for kube-scheduler's configuration, which has a
/// separate error message.
fn is_manifest(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    let text = |field: &Field| field.value.as_str().map(str::to_owned);
    let is_object = |entry: &Entry| {
        let value = |name: &str| entry.fields.iter().find(|field| field.name == name).and_then(text);
        value("kind").is_some()
            && value("apiVersion").is_some_and(|version| !version.starts_with("kubescheduler.config.k8s.io/"))
    };
    matches!(extension, Some("yaml" | "yml" | "json" | "jsonl"))
        && entries::read(file).is_ok_and(|entries| entries.iter().any(is_object))
}

fn finding(error: &Error) -> Finding {
    let place = error.place.as_ref().map(|place| (place.file.clone(), Some(place.line), Some(place.column)));
    let notes = error.notes.iter().chain(&error.help).map(|note| format!("; {note}"));
    let message = error.message.clone() + &notes.collect::<String>();
    Finding { rule: RULE.0, level: "error", message, place }
}

/// The result of the check. For the output format `table`, errors are printed in another way.
#[derive(Serialize)]
struct Report {
    /// Paths of the profiles; empty if there are errors.
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
