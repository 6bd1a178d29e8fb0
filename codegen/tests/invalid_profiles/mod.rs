//! Invalid profiles, and the full text of their errors, by topic.

mod argument_rules;
mod arguments;
mod catalog_contents;
mod catalog_kinds;
mod catalog_permissions;
mod catalogs;
mod cross_profile;
mod extenders;
mod extenders_tls;
mod message_coverage;
mod misspelt_keys;
mod plugins;
mod settings;
mod syntax;
mod weights;

use std::collections::BTreeMap;

use expect_test::Expect;
use schedc_codegen::parse::RawCrate;
use schedc_codegen::{CatalogFinder, Diagnostics, FoundCatalog, MissingCatalog, SourceText, compile};

/// Crates by name or path, with their catalogs; `None` without `schedc.toml`.
#[derive(Default)]
struct Crates(BTreeMap<&'static str, Option<&'static str>>);

impl CatalogFinder for Crates {
    fn find(&mut self, wanted: &RawCrate, _: &str) -> Result<FoundCatalog, MissingCatalog> {
        let (RawCrate::Name(name) | RawCrate::Path(name)) = wanted;
        match self.0.get(name.value.as_str()) {
            Some(Some(text)) => Ok(FoundCatalog {
                path: format!("{}/schedc.toml", name.value),
                text: (*text).to_owned(),
                sources: Vec::new(),
            }),
            Some(None) => {
                Err(MissingCatalog::NoCatalog { expected_path: format!("{}/schedc.toml", name.value).into() })
            }
            None => Err(MissingCatalog::NotADependency {
                package: "my-scheduler".to_owned(),
                dependencies: self.0.keys().map(|name| (*name).to_owned()).collect(),
            }),
        }
    }
}

fn errors(profiles: &[(&str, &str)], crates: &[(&'static str, Option<&'static str>)]) -> Diagnostics {
    let sources: Vec<SourceText> =
        profiles.iter().map(|(path, text)| SourceText { path: (*path).to_owned(), text: (*text).to_owned() }).collect();
    let mut crates = Crates(crates.iter().copied().collect());
    compile(&sources, &mut crates).expect_err("the profile is wrong")
}

/// Compares the errors of one profile.
fn check(profile: &str, expect: Expect) {
    expect.assert_eq(&errors(&[("profiles/p.toml", profile)], &[]).render(false));
}

/// Compares the errors of a profile with crates.
fn check_with_crates(profile: &str, crates: &[(&'static str, Option<&'static str>)], expect: Expect) {
    expect.assert_eq(&errors(&[("profiles/p.toml", profile)], crates).render(false));
}

/// Compares the errors of profiles of one scheduler.
fn check_together(profiles: &[(&str, &str)], expect: Expect) {
    expect.assert_eq(&errors(profiles, &[]).render(false));
}

/// A catalog with a queue-sort plugin.
const SORTS: &str = r#"crate = "sorts"

[[plugin]]
name = "OldestFirst"
path = "sorts::OldestFirst"
points = ["queue-sort"]
"#;

/// Compares the errors of profiles of one scheduler with the plugins of [`SORTS`].
fn check_together_with_sorts(profiles: &[(&str, &str)], expect: Expect) {
    expect.assert_eq(&errors(profiles, &[("sorts", Some(SORTS))]).render(false));
}
