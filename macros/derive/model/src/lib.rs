//! The code that `#[derive(Args)]` and `#[plugin]` generate.
//!
//! `#[derive(Args)]` generates a `const fn` that decodes a struct or an enum, and a schema. The module `model` reads
//! the declaration, `shape` has the types of values, and `expand` writes the code. The macro (`schedc-derive`) calls
//! [`derive()`]; the profile compiler reads declarations in source files with [`Model::read`]. [`plugin()`] adds
//! default items to an implementation of a plugin.

mod attributes;
mod expand;
mod model;
mod plugin;
mod shape;

pub use model::{Field, Kind, Model, Variant};
pub use plugin::plugin;
pub use shape::{Entries, Rules, Shape, integer};

use proc_macro2::TokenStream;
use syn::DeriveInput;

/// Returns the expansion, or every error in the declaration as a compile error at its location.
pub fn derive(input: DeriveInput) -> TokenStream {
    match Model::read(input) {
        Ok(model) => expand::expand(&model),
        Err(error) => error.into_compile_error(),
    }
}

/// Collects errors: one build shows all of them.
#[derive(Default)]
struct ErrorCollector(Option<syn::Error>);

impl ErrorCollector {
    fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    fn finish<T>(self, value: T) -> syn::Result<T> {
        match self.0 {
            Some(error) => Err(error),
            None => Ok(value),
        }
    }
}
