//! Plugin arguments: written in a profile, embedded as a constant tree, decoded and checked by a `const fn`.
//!
//! A plugin author declares a struct and derives [`Args`]:
//!
//! - `decode` turns a [`Node`] tree into the struct. In a constant, wrong arguments are one compile error that lists
//!   every error with the profile's file, line and column.
//! - [`decode_at_runtime`] returns the errors instead, for a profile that is read at run time.
//! - `SCHEMA` describes the arguments as data ([`Schema`]), for other checks and for documentation.
//!
//! A plugin without arguments uses [`NoArgs`].

#[doc(hidden)]
pub mod decode;
mod duration;
mod errors;
mod format;
mod list;
mod schema;
mod seq;
mod text;
mod tree;

pub(crate) use duration::format_nanoseconds;
pub use duration::{format_duration, parse_duration};
pub use errors::{Errors, Part};
pub use format::Format;
pub use list::List;
pub use schedc_derive::Args;
pub use schema::{Field, Schema};
pub use seq::{Seq, SeqIter};
pub use tree::{Node, Value};

/// A type that is decoded from a profile's argument tree. `#[derive(Args)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of arguments",
    note = "put `#[derive(Clone, Copy, Args)]` on it, also if it has no fields"
)]
pub trait Decode: Sized {
    /// Schema of the type's values in a profile.
    const SCHEMA: Schema;

    /// Decodes a value, and adds its errors to `errors`; with errors, the returned value is meaningless.
    fn decode_value(node: &Node, errors: &mut Errors) -> Self;
}

/// Decodes arguments of a profile that is read at run time.
///
/// # Errors
/// Every error, each as `file:line:column: text`.
pub fn decode_at_runtime<T: Decode>(node: &Node) -> Result<T, Vec<String>> {
    let mut errors = Errors::new();
    let value = T::decode_value(node, &mut errors);
    if errors.is_empty() { Ok(value) } else { Err(errors.into_messages()) }
}

/// Arguments of a plugin without arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoArgs;

impl NoArgs {
    /// The only value.
    pub const DEFAULT: Self = NoArgs;
    /// A table without fields.
    pub const SCHEMA: Schema = Schema::Table(&[]);

    /// Accepts an empty table.
    ///
    /// # Panics
    /// On anything else. In a constant, this is a compile error.
    #[track_caller]
    pub const fn decode(node: &Node) -> Self {
        let mut errors = Errors::new();
        let value = Self::decode_into(node, &mut errors);
        errors.finish();
        value
    }

    /// Accepts an empty table and reports anything else.
    pub const fn decode_into(node: &Node, errors: &mut Errors) -> Self {
        match node.value {
            Value::Table(entries) => {
                let mut i = 0;
                while i < entries.len() {
                    let (key, value) = &entries[i];
                    let none = Part::Text(": this plugin takes no arguments");
                    errors.report(value, &[Part::Text("unknown argument "), Part::Name(key), none]);
                    i += 1;
                }
            }
            _ => decode::wrong_kind(node, "a table", errors),
        }
        NoArgs
    }
}

impl Decode for NoArgs {
    const SCHEMA: Schema = NoArgs::SCHEMA;

    fn decode_value(node: &Node, errors: &mut Errors) -> Self {
        NoArgs::decode_into(node, errors)
    }
}
