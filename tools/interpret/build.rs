//! Writes `OUT_DIR/plugins.rs`: the state and the extension points of every in-tree plugin.

use std::path::Path;
use std::{env, fs};

use schedc_codegen::{NoCrates, SourceText, compile, emit};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // An empty profile is the default profile, which runs every plugin.
    let all = SourceText { path: "in-tree.toml".to_owned(), text: String::new() };
    let compilation = compile(&[all], &mut NoCrates).unwrap_or_else(|errors| panic!("{errors}"));
    let code = emit::render_registry(&compilation).unwrap_or_else(|error| panic!("{error}"));
    let folder = env::var_os("OUT_DIR").unwrap_or_else(|| panic!("cargo sets OUT_DIR"));
    let path = Path::new(&folder).join("plugins.rs");
    fs::write(&path, code).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
