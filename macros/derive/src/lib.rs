//! The macros for plugin authors: `#[derive(Args)]` and `#[plugin]`. `schedc_core::prelude` re-exports both.

mod symbols;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Generates `const fn`s that decode a plugin's arguments with all checks, and the schema of the arguments.
///
/// A struct with named fields, or without fields, is a table in the profile; its keys are the field names in
/// kebab-case. An enum without values in its variants is a string in the profile. Fields are `bool`, `i64`, `i32`,
/// `&'static str`, types that also derive `Args`, [`List<T, N>`] and [`Seq<T>`] of those, and `Option` of any of these.
/// Doc comments go into the schema.
///
/// Attributes of a field:
///
/// - `#[args(default = EXPR)]` or `#[args(required)]`. Without either, an `Option` is `None`, a list without `min` is empty, and a
///   nested type has the default of that type. All other fields need one of the two. The default of a `List` may be an array.
/// - `#[args(rename = "key")]`. A raw identifier such as `r#type` needs no `rename`: its key is `type`.
/// - `#[args(range = 1..=100)]` (also `1..`) for integers, also those in a list.
/// - `#[args(format = "qualified-name")]` for strings, also those in a list; the formats are those of [`Format`].
/// - `#[args(min = 1)]`, `#[args(max = 8)]`: the number of entries of a list. A `List<T, N>` has at most `N`.
/// - `#[args(unique = "name")]`: the field `name` (or for `""` the entry itself) differs in all entries of the list.
/// - `#[args(increasing = "utilization")]`: the integer in this field (or for `""` the entry itself) increases from entry
///   to entry.
///
/// On the struct, `#[args(check = path)]` names a `const fn(&Self, &Node, &mut Errors)` for conditions that attributes cannot
/// express. It runs if decoding the struct had no errors. Attributes of a variant: `#[args(default)]` and `#[args(rename = "value")]`.
///
/// Generated, with the visibility of the type: `const DEFAULT: Self` (if no field is required; for an enum, if a variant is
/// the default), `const SCHEMA: Schema`, `const fn decode(&Node) -> Self` (structs),
/// `const fn decode_into(&Node, &mut Errors) -> Self`, and an implementation of [`Decode`].
///
/// ```
/// use schedc_core::args::{Args, List, Node, Value};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Args)]
/// pub struct ExampleArgs {
///     /// Ignored resources.
///     #[args(format = "qualified-name", unique = "")]
///     pub ignored_resources: List<&'static str, 8>,
///     /// Weight in the total.
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

/// Adds the items with a default to an implementation of `Plugin`, `SimpleFilter` or `SimpleScore`.
///
/// For [`Plugin`], each item that the `impl` does not have:
///
/// | item | default |
/// |---|---|
/// | `NAME` | the name of the type |
/// | `Args` | `NoArgs` |
/// | `Columns`, `Indexes`, `Reads` | `()` |
/// | `new` | the type's `Default` |
/// | `Pod` and `compile` | `()`: the plugin reads nothing of a pod |
///
/// For [`SimpleFilter`] and [`SimpleScore`]:
///
/// | item | default |
/// |---|---|
/// | `Columns` | `NodeInfo`, the whole node |
/// | `Pod` and `read` | `()`: the plugin reads nothing of a pod |
/// | `Normalization` | `Unnormalized` |
///
/// A type with one of these two traits also gets an implementation of `Plugin`. The plugin's name is the name of the
/// type, and its arguments are the type's fields. `filter` and `score` get `#[inline]`, so that rustc inlines them into
/// the loop over nodes, which is in another crate.
///
/// ```
/// use schedc_core::prelude::*;
///
/// #[derive(Default)]
/// struct Pinned;
///
/// #[plugin]
/// impl Plugin for Pinned {
///     type Columns = NodeInfo;
///     type Pod = Option<Symbol>;
///
///     fn compile(_: &NoArgs, pod: &PodSpec, _: CompileContext<'_, Self>) -> Option<Symbol> {
///         pod.node_name
///     }
/// }
///
/// assert_eq!(Pinned::NAME, "Pinned");
/// ```
///
/// [`Plugin`]: ../schedc_core/trait.Plugin.html
/// [`SimpleFilter`]: ../schedc_core/trait.SimpleFilter.html
/// [`SimpleScore`]: ../schedc_core/trait.SimpleScore.html
#[proc_macro_attribute]
pub fn plugin(attribute: TokenStream, item: TokenStream) -> TokenStream {
    schedc_derive_model::plugin(attribute.into(), item.into()).into()
}

/// Generates an implementation of `Symbols` for a type of `schedc-core`'s model, which visits the symbols of all fields.
#[proc_macro_derive(Symbols)]
pub fn derive_symbols(input: TokenStream) -> TokenStream {
    symbols::derive(&parse_macro_input!(input as DeriveInput)).into()
}
