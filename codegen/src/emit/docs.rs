//! Doc comments with the origin of generated code.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::quote;

use super::member::Members;
use crate::plan::Point;
use crate::source::{Files, Span};

/// Returns `/// line` for each line.
pub(super) fn doc(text: impl Display) -> TokenStream {
    let text = text.to_string();
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote! { #(#[doc = #lines])* }
}

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
