//! The reference pages, generated from the compiler's own data: the keys of profiles, the in-tree catalog,
//! the schemas of arguments, the event registrations of plugins, and the documentation in their files.

mod arguments;
mod events;
mod plugins;
mod profiles;
mod state;

use schedc_codegen::catalog::Catalog;
use schedc_codegen::source::Files;

pub use plugins::plugins;
pub use profiles::profiles;
pub use state::state;

/// Returns the first lines of a generated page.
fn title(title: &str) -> String {
    format!("<!-- Generated: `UPDATE_EXPECT=1 cargo test -p schedc-book` regenerates it. -->\n\n# {title}\n")
}

/// Returns the in-tree catalog.
fn in_tree() -> Result<std::sync::Arc<Catalog>, String> {
    let mut errors = Vec::new();
    Catalog::in_tree(&mut Files::default(), &mut errors).ok_or_else(|| format!("the in-tree catalog: {errors:?}"))
}

/// Formats names as code, separated by commas.
fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Returns a link to the reference section of a plugin.
fn plugin_link(page: &str, name: &str) -> String {
    format!("[{name}]({page}#{})", crate::page::anchor(name))
}
