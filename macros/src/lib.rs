//! The macro `profile!`. `#[derive(Args)]` is in `schedc-derive`, which `schedc-core` re-exports.

mod profile;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Compiles scheduler profiles in place, for packages without a build script.
///
/// Takes the paths of one or more TOML files, relative to the package's manifest. It expands to what `schedc expand`
/// prints: a module `state`, a module for each profile with its `Pipeline`, and `Profiles`, the bundle of all of them.
/// Therefore each use needs a separate module. The next build includes changes of a profile, or of the catalog of a
/// crate that it names.
///
/// The package depends on `schedc-core`, and on the crates of the plugins that the profiles run (`schedc-plugins` for
/// kube-scheduler's).
///
/// ```ignore
/// mod scheduler {
///     schedc_macros::profile!("profiles/edge.toml", "profiles/batch.toml");
/// }
///
/// let cluster = schedc_core::minimal_cluster::MinimalCluster::<scheduler::Profiles>::new(seed)?;
/// ```
///
/// All errors of the profiles are in one compile error at the path. It has the location of each error, like the output
/// of `schedc check`.
#[proc_macro]
pub fn profile(input: TokenStream) -> TokenStream {
    let paths = parse_macro_input!(input as profile::Paths);
    profile::expand(&paths).unwrap_or_else(|error| error.to_compile_error()).into()
}
