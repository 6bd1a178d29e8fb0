//! Queries of generated tokens, and common pieces of them.

use std::collections::BTreeSet;
use std::fmt::Display;

use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::names::ident;

/// Returns `/// line` for each line.
pub(super) fn doc(text: impl Display) -> TokenStream {
    let text = text.to_string();
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote! { #(#[doc = #lines])* }
}

/// Returns every identifier except fields, labels of struct literals, declared functions, and identifiers
/// after `::`.
pub(super) fn idents(tokens: &TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(tokens.clone(), &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Ident(ident) => {
                let after = |punct| {
                    let twice = at > 1 && is_punct(&trees[at - 1], punct) && is_punct(&trees[at - 2], punct);
                    (at > 0 && is_punct(&trees[at - 1], punct), twice)
                };
                let is_field = after('.') == (true, false);
                let is_inside_path = after(':') == (true, true);
                let is_label = trees.get(at + 1).is_some_and(|next| match next {
                    TokenTree::Punct(punct) => punct.as_char() == ':' && punct.spacing() == Spacing::Alone,
                    _ => false,
                });
                let is_declared = at > 0 && matches!(&trees[at - 1], TokenTree::Ident(before) if before == "fn");
                if !is_field && !is_inside_path && !is_label && !is_declared {
                    found.insert(ident.to_string());
                }
            }
            _ => {}
        }
    }
}

fn is_punct(tree: &TokenTree, punct: char) -> bool {
    matches!(tree, TokenTree::Punct(found) if found.as_char() == punct)
}

/// Returns whether a function's body uses a variable.
pub(super) fn uses(body: &TokenStream, variable: &str) -> bool {
    idents(body).contains(variable)
}

/// Returns a parameter's name, with an underscore if the body does not use it.
pub(super) fn parameter(name: &str, body: &TokenStream) -> Ident {
    if uses(body, name) { ident(name) } else { format_ident!("_{name}") }
}

/// Returns a tuple of the parts; the part itself if there is only one.
pub(super) fn tuple(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [only] => only.clone(),
        parts => quote! { (#(#parts),*) },
    }
}

/// Combines the `IdlePlugins` of all plugins that can be idle.
pub(super) fn idle(answers: impl Iterator<Item = TokenStream>) -> TokenStream {
    quote! { IdlePlugins::All #(.and(#answers))* }
}

/// Returns `let UpdateContext { .. } = *cx;` with the variables that the body uses, and the name of the parameter.
pub(super) fn context(body: &TokenStream) -> (TokenStream, Ident) {
    let fields = [("plugins", quote! { plugins }), ("pod", quote! { compiled: pod }), ("cache", quote! { cache })];
    let used: Vec<TokenStream> =
        fields.into_iter().filter(|(name, _)| uses(body, name)).map(|(_, field)| field).collect();
    if used.is_empty() {
        return (TokenStream::new(), ident("_cx"));
    }
    (quote! { let UpdateContext { #(#used,)* .. } = *cx; }, ident("cx"))
}

/// Prepends `let columns` to code that uses columns. The code runs rarely, so `columns` is created next to it, not at the
/// start of the function.
pub(super) fn with_columns(code: TokenStream) -> TokenStream {
    if uses(&code, "columns") {
        quote! {
            let columns = Pipeline::columns(&cache.state, &cache.base);
            #code
        }
    } else {
        code
    }
}

/// As [`with_columns`], for an expression.
pub(super) fn expression_with_columns(expression: TokenStream) -> TokenStream {
    if uses(&expression, "columns") {
        let block = with_columns(expression);
        quote! { { #block } }
    } else {
        expression
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_labels_are_no_variables() {
        let body = quote! { View { columns: self.pod, base: &cache.base, run }; for _ in 0..index {} Code::Error };
        assert!(!uses(&body, "columns"));
        assert!(!uses(&body, "pod"));
        assert!(!uses(&body, "base"));
        assert!(!uses(&body, "Error"));
        for used in ["cache", "run", "index", "Code", "View"] {
            assert!(uses(&body, used), "{used}");
        }
        assert_eq!(parameter("pod", &body), "_pod");
    }
}
