//! Compiler from scheduler profiles in TOML to the plan of a pipeline, and from the plan to Rust.
//!
//! | phase | module | from | to |
//! |---|---|---|---|
//! | select | [`mod@select`] | a folder of profiles, and the variable `SCHEDC_PROFILES` | paths of profiles |
//! | load | [`mod@load`] | paths | texts, of profiles and of the catalogs that they name |
//! | parse | [`parse`], [`catalog`] | texts | profiles as written ([`parse::RawProfile`]), plugins ([`catalog::Catalogs`]) |
//! | resolve | `resolve` | a profile as written | the plan: merged with defaults ([`plan::Plan`]) |
//! | check | `check` | a profile as written and its plan | errors ([`diagnostic::Diagnostics`]) |
//! | emit | [`emit`] | plans | Rust |
//!
//! Every phase continues after errors, so one run reports all errors of all files. Only two phases read files:
//! [`mod@select`], and [`mod@load`] with the help of `dependencies`. [`compile()`] is a function of texts. It
//! has three thin callers: [`build()`] for build scripts, the proc macro, and the command line.

#[cfg(feature = "emit")]
mod build;
pub mod catalog;
mod check;
#[cfg_attr(not(feature = "sources"), path = "no_declared_args.rs")]
mod declared_args;
mod dependencies;
#[cfg(feature = "emit")]
pub mod emit;
mod identifier;
pub mod json_schema;
#[cfg(feature = "emit")]
mod link;
pub mod load;
mod messages;
pub mod parse;
mod paths;
pub mod permissions;
pub mod plan;
mod resolve;
pub mod select;
pub mod settings;
pub mod tree;

mod compile;

#[cfg(feature = "emit")]
pub use build::build;
pub use compile::{
    CatalogFinder, Compilation, FoundCatalog, MissingCatalog, NoCrates, SourceText, catalogs, compile, compile_with,
};
pub use diagnostic::{Diagnostic, Diagnostics};
pub use load::{Options, load, load_catalogs};
pub use schedc_bounds::suggest;
pub use schedc_profile_rules::format::is_dns_subdomain;
pub use schedc_profile_rules::{check_args, diagnostic, schema, source};
pub(crate) use schedc_profile_rules::{fields, format, point};
pub use select::{Selection, select};
