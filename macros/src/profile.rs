//! `profile!`: the profile compiler as a macro.

use std::env;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::quote;
use schedc_codegen::{Diagnostics, Options, emit, load};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{LitStr, Token};

/// Arguments of the macro.
pub(crate) struct Paths(Vec<LitStr>);

impl Parse for Paths {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Err(input.error("expected the path of a profile, such as \"profiles/edge.toml\""));
        }
        let paths = Punctuated::<LitStr, Token![,]>::parse_terminated(input)?;
        Ok(Paths(paths.into_iter().collect()))
    }
}

pub(crate) fn expand(paths: &Paths) -> syn::Result<TokenStream> {
    let first = &paths.0[0];
    match env::var_os("CARGO_MANIFEST_DIR") {
        Some(manifest_dir) => expand_in(Path::new(&manifest_dir), &paths.0),
        None => Err(syn::Error::new(first.span(), "CARGO_MANIFEST_DIR is not set: `profile!` needs cargo")),
    }
}

fn expand_in(manifest_dir: &Path, paths: &[LitStr]) -> syn::Result<TokenStream> {
    let files: Vec<PathBuf> = paths.iter().map(|path| manifest_dir.join(path.value())).collect();
    let compilation = load(&files, &Options { manifest_dir: manifest_dir.to_owned() })
        .map_err(|errors| syn::Error::new(first_error_path(&errors, paths).span(), message(&errors)))?;
    let code = emit::emit(&compilation);
    let watched = compilation.watched.iter().map(|path| path.to_string_lossy());
    Ok(quote! {
        #code
        #(const _: &[u8] = include_bytes!(#watched);)*
    })
}

/// Returns every error in full, below a line that rustc shows as the title.
fn message(errors: &Diagnostics) -> String {
    let errors_in_full = errors.iter().map(|error| error.render(errors.files(), false));
    std::iter::once(errors.summary()).chain(errors_in_full).collect::<Vec<_>>().join("\n\n")
}

/// Returns the path of the profile with the first error; the first path if that error is in another file.
fn first_error_path<'p>(errors: &Diagnostics, paths: &'p [LitStr]) -> &'p LitStr {
    let label = errors.iter().find_map(|error| error.primary.as_ref());
    let file = label.map(|label| errors.files().path(label.span.file));
    paths.iter().find(|path| Some(path.value().as_str()) == file).unwrap_or(&paths[0])
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn expanded(written: &str) -> syn::Result<TokenStream> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let paths = syn::parse_str::<Paths>(written)?;
        expand_in(&root.canonicalize().unwrap(), &paths.0)
    }

    fn check_error(written: &str, expected: &Expect) {
        match expanded(written) {
            Ok(_) => panic!("{written} is accepted"),
            Err(error) => expected.assert_eq(&error.to_string()),
        }
    }

    #[test]
    fn several_profiles_share_one_state_and_are_all_watched() {
        let code = expanded(r#""profiles/edge.toml", "profiles/binpack.toml","#).unwrap().to_string();
        assert_eq!(code.matches("pub struct State ").count(), 1);
        assert_eq!(code.matches("pub struct Pipeline ").count(), 2);
        assert_eq!(code.matches("include_bytes !").count(), 2);
    }

    #[test]
    fn every_error_is_reported() {
        let written = r#""profiles/edge.toml", "macros/tests/wrong.toml""#;
        check_error(
            written,
            &expect![[r#"
                2 errors in macros/tests/wrong.toml

                error: no plugin is called `NodeNam`
                 --> macros/tests/wrong.toml:5:11
                  |
                5 | filter = ["NodeNam"]
                  |           ^^^^^^^^^ not in any catalog of this profile
                  |
                  = note: plugins of `filter` are `DynamicResources`, `InterPodAffinity`, `NodeAffinity`, `NodeDeclaredFeatures`, `NodeName`, `NodePorts`, `NodeResourcesFit`, `NodeUnschedulable`, `NodeVolumeLimits`, `PodTopologySpread`, `TaintToleration`, `VolumeBinding`, `VolumeRestrictions` and `VolumeZone`
                help: did you mean `NodeName`?
                  |
                5 | filter = ["NodeName"]
                  |                   +

                error: the weight of `TaintToleration` must be at least 1, not 0
                 --> macros/tests/wrong.toml:6:47
                  |
                6 | score = [{ name = "TaintToleration", weight = 0 }]
                  |                                               ^ must be at least 1
                  |
                  = help: to leave `TaintToleration` out, disable it at `score`"#]],
        );
        check_error(
            "",
            &expect![[r#"unexpected end of input, expected the path of a profile, such as "profiles/edge.toml""#]],
        );
        check_error("edge", &expect!["expected string literal"]);
    }
}
