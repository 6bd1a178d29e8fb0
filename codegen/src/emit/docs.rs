//! Doc comments with the origin of generated code.

use proc_macro2::TokenStream;

use super::member::Members;
use super::tokens::doc;
use crate::plan::Point;
use crate::source::{Files, Span};

/// Describes the plugins of an extension point, their order, and the locations in the profile.
pub(super) fn steps(members: &Members<'_>, point: Point) -> TokenStream {
    let steps: Vec<String> = members
        .steps(point)
        .map(|(step, member)| {
            let weight =
                step.weight.as_ref().map(|weight| format!(" with weight {}", weight.value)).unwrap_or_default();
            format!("`{}`{weight}, {}", member.name, location(members.files, step.named_at))
        })
        .collect();
    match steps.as_slice() {
        [] => doc(format!("`{point}`: no plugin.")),
        [only] => doc(format!("`{point}`: {only}.")),
        steps => {
            let list: Vec<String> = (1..).zip(steps).map(|(at, step)| format!("{at}. {step}")).collect();
            doc(format!("`{point}`, in order:\n\n{}", list.join("\n")))
        }
    }
}

/// Describes a location.
pub(super) fn location(files: &Files, span: Option<Span>) -> String {
    span.map_or_else(|| "by default".to_owned(), |span| files.location(span).to_string())
}
