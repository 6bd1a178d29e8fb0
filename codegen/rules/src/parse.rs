//! Arguments and extenders as written.

mod extender;

use crate::source::Spanned;
use crate::tree::RawNode;

pub use extender::{EXTENDER_KEYS, RawExtender, RawManagedResource, RawTls, TLS_KEYS, VERBS, extender, extenders};

/// A plugin's arguments as written.
#[derive(Clone, Debug)]
pub struct RawArgs {
    /// The plugin.
    pub plugin: Spanned<String>,
    /// Its arguments.
    pub value: RawNode,
}
