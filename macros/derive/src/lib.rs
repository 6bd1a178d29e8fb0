//! `#[derive(Args)]`: the arguments of plugins. `schedc_core::args` and `schedc_core::prelude` re-export it.

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Lets a profile write a plugin's arguments: generates decoding in `const fn`s, with every check, and the schema.
///
/// On a struct with named fields, a table in the profile whose keys are the field names in kebab-case; or on an enum whose
/// variants hold nothing, a string in the profile. Fields are `bool`, `i64`, `i32`, `&'static str`, types that derive
/// `Args` too, [`List<T, N>`] and [`Seq<T>`] of those, and `Option` of any of these. Doc comments go into the schema.
///
/// A field's attributes:
///
/// - `#[args(default = EXPR)]` or `#[args(required)]`. Without either, an `Option` is `None`, a list is empty, a nested type
///   is its own default; the other types must say. The default of a `List` may be an array.
/// - `#[args(rename = "key")]`. A raw identifier such as `r#type` needs none.
/// - `#[args(range = 1..=100)]` (also `1..`) for integers, also those in a list.
/// - `#[args(format = "qualified-name")]` for strings, also those in a list; the formats are those of [`Format`].
/// - `#[args(min = 1)]`, `#[args(max = 8)]`: the number of entries of a list. A `List<T, N>` has at most `N`.
/// - `#[args(unique = "name")]`: no two entries of the list agree in the field `name`, or in themselves for `""`.
/// - `#[args(increasing = "utilization")]`: the integer in this field (or `""`) grows from entry to entry.
///
/// On the struct, `#[args(check = path)]` names a `const fn(&Self, &Node, &mut Errors)` for what no attribute can say; it
/// runs if there were no complaints before. A variant takes `#[args(default)]` and `#[args(rename = "value")]`.
///
/// Generated, with the visibility of the type: `const DEFAULT: Self` (if no field is required), `const SCHEMA: Schema`,
/// `const fn decode(&Node) -> Self` (structs), `const fn decode_into(&Node, &mut Errors) -> Self`, and an implementation of
/// [`Decode`].
///
/// ```
/// use schedc_core::args::{Args, List, Node, Value};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Args)]
/// pub struct ExampleArgs {
///     /// Resources that are left out.
///     #[args(format = "qualified-name", unique = "")]
///     pub ignored_resources: List<&'static str, 8>,
///     /// How much this counts.
///     #[args(default = 1, range = 1..=100)]
///     pub weight: i64,
/// }
///
/// const WEIGHT: Node = Node { file: "profiles/edge.toml", line: 8, column: 10, value: Value::Int(7) };
/// const ARGS: ExampleArgs = ExampleArgs::decode(&Node {
///     file: "profiles/edge.toml",
///     line: 7,
///     column: 1,
///     value: Value::Table(&[("weight", WEIGHT)]),
/// });
/// assert_eq!(ARGS, ExampleArgs { weight: 7, ..ExampleArgs::DEFAULT });
/// ```
///
/// [`List<T, N>`]: ../schedc_core/args/struct.List.html
/// [`Seq<T>`]: ../schedc_core/args/struct.Seq.html
/// [`Format`]: ../schedc_core/args/enum.Format.html
/// [`Decode`]: ../schedc_core/args/trait.Decode.html
#[proc_macro_derive(Args, attributes(args))]
pub fn derive_args(input: TokenStream) -> TokenStream {
    schedc_derive_model::derive(parse_macro_input!(input as DeriveInput)).into()
}
