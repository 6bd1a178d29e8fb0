//! The pages of the reference, made of what the compiler itself goes by: the keys of profiles, the in-tree catalog, the shapes
//! of arguments, the events that plugins wait for, and the documentation in their files.

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

/// The first lines of a generated page.
fn title(title: &str) -> String {
    format!("<!-- Generated: `UPDATE_EXPECT=1 cargo test -p schedc-book` regenerates it. -->\n\n# {title}\n")
}

/// The in-tree catalog.
fn in_tree() -> Result<std::sync::Arc<Catalog>, String> {
    let mut found = Vec::new();
    Catalog::in_tree(&mut Files::default(), &mut found).ok_or_else(|| format!("the in-tree catalog: {found:?}"))
}

/// The names as code, with commas.
fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A link to what the reference says of a plugin.
fn plugin_link(page: &str, name: &str) -> String {
    format!("[{name}]({page}#{})", crate::page::anchor(name))
}
