//! Tests that every profile and catalog in a page is valid.

use std::fs;

use schedc_book::page::Block;
use schedc_codegen::catalog::Catalog;
use schedc_codegen::parse::RawCrate;
use schedc_codegen::source::Files;
use schedc_codegen::{CatalogFinder, FoundCatalog, MissingCatalog, SourceText, compile};

use crate::{pages, root};

/// Returns whether a block is part of a cargo manifest.
fn is_manifest(block: &Block) -> bool {
    block.text.lines().any(|line| ["[package]", "[dependencies]"].contains(&line))
}

/// Returns whether a block is a catalog rather than a profile.
fn is_catalog(block: &Block) -> bool {
    block.text.lines().any(|line| line.starts_with("crate = "))
}

/// Finds catalogs in the blocks of a page, and those of the examples.
struct PageCatalogs<'b> {
    blocks: &'b [Block],
}

impl CatalogFinder for PageCatalogs<'_> {
    fn find(&mut self, wanted: &RawCrate, _: &str) -> Result<FoundCatalog, MissingCatalog> {
        let (RawCrate::Name(name) | RawCrate::Path(name)) = wanted;
        let name = name.value.rsplit('/').next().unwrap_or_default();
        let start = format!("crate = \"{}\"", name.replace('-', "_"));
        let shown = self.blocks.iter().find(|block| block.text.lines().any(|line| line == start));
        if let Some(block) = shown {
            return Ok(FoundCatalog { path: name.to_owned(), text: block.text.clone(), sources: Vec::new() });
        }
        let path = root().join("examples").join(name).join("schedc.toml");
        match fs::read_to_string(&path) {
            Ok(text) => Ok(FoundCatalog { path: name.to_owned(), text, sources: Vec::new() }),
            Err(_) => Err(MissingCatalog::NoCatalog { expected_path: path }),
        }
    }
}

/// Returns the errors in a catalog.
fn catalog_errors(block: &Block) -> Vec<String> {
    let (mut files, mut errors) = (Files::default(), Vec::new());
    let in_tree = Catalog::in_tree(&mut files, &mut errors).unwrap();
    let file = files.add("schedc.toml", &block.text);
    Catalog::third_party(&files, file, &[], &in_tree, &mut errors);
    errors.iter().map(|diagnostic| format!("{diagnostic:?}")).collect()
}

#[test]
fn every_profile_and_catalog_is_valid() {
    let mut checked_blocks = 0;
    let mut wrong = String::new();
    for page in &pages() {
        let blocks: Vec<Block> = page.blocks().into_iter().filter(|block| block.info == "toml").collect();
        for block in &blocks {
            if is_manifest(block) {
                continue;
            }
            let path = block.file().unwrap_or("page.toml");
            let errors = if is_catalog(block) {
                catalog_errors(block).join("\n")
            } else {
                let source = SourceText { path: path.to_owned(), text: block.text.clone() };
                compile(&[source], &mut PageCatalogs { blocks: &blocks })
                    .err()
                    .map(|error| error.to_string())
                    .unwrap_or_default()
            };
            if !errors.is_empty() {
                wrong += &format!("{}:\n{errors}\n", page.place(block.line));
            }
            checked_blocks += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked_blocks > 5, "too few profiles found: did the pages move?");
}
