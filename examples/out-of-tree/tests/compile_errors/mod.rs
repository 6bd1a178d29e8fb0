//! Messages of rustc for catalogs that do not match their plugins (tests/proofs), and for invalid plugins
//! (tests/mistakes). Each case in tests/proofs comes with the generated catalog checks. All cases share one target
//! directory.

use expect_test::expect_file;
use schedc_codegen::parse::RawCrate;
use schedc_codegen::{CatalogFinder, FoundCatalog, MissingCatalog, SourceText, compile, emit};

/// Finder that returns this catalog for every crate.
struct Mine(String);

impl CatalogFinder for Mine {
    fn find(&mut self, _: &RawCrate, _: &str) -> Result<FoundCatalog, MissingCatalog> {
        Ok(FoundCatalog { path: "schedc.toml".to_owned(), text: self.0.clone(), sources: Vec::new() })
    }
}

/// Returns the generated catalog checks for the catalog entry of a plugin.
fn catalog_checks(name: &str, ty: &str, entry: &str) -> String {
    let text = format!("crates = [\"mine\"]\n[plugins]\nmulti-point = [\"{name}\", \"DefaultBinder\"]\n");
    let sources = [SourceText { path: "mine.toml".to_owned(), text }];
    let catalog = format!("crate = \"mine\"\n\n[[plugin]]\nname = \"{name}\"\npath = \"mine::{ty}\"\n{entry}\n");
    let compilation = compile(&sources, &mut Mine(catalog)).unwrap_or_else(|errors| panic!("{errors}"));
    let code = emit::render(&compilation).unwrap_or_else(|error| panic!("{error}"));
    let start = code.find("/// Compares catalog entries with plugins").unwrap_or(0);
    code[start..].lines().map(|line| without_paths(line) + "\n").collect()
}

/// Returns the line. Replaces a position in the catalog of schedc, because positions change with the catalog.
fn without_paths(line: &str) -> String {
    match line.split_once("in-tree.toml\", ") {
        Some((before, _)) => format!("{before}in-tree.toml\", 1, 1),"),
        None => line.to_owned(),
    }
}

#[test]
fn catalogs_are_checked_against_plugins() {
    let rows = [
        (expect_file!["../proofs/unlisted.txt"], "points = [\"queue-sort\"]\ncolumns = [\"node-info\"]"),
        (
            expect_file!["../proofs/unimplemented.txt"],
            "points = [\"queue-sort\", \"filter\", \"post-bind\"]\ncolumns = [\"node-info\"]",
        ),
        (
            expect_file!["../proofs/other_columns.txt"],
            "points = [\"queue-sort\", \"filter\"]\ncolumns = [\"node-info\", \"node-index\"]",
        ),
        (
            expect_file!["../proofs/unwatched.txt"],
            "points = [\"queue-sort\", \"filter\"]\nindexes = [\"shifts\"]\nenqueue-extensions = true\nwatches = [\"Team\"]\n\n\
             [indexes]\nshifts = \"schedc_core::custom::Lister<mine::Shift>\"\n\n\
             [kinds]\nTeam = { api-version = \"example.com/v1\", resource = \"teams\" }",
        ),
        (
            expect_file!["../proofs/unwatched_event.txt"],
            "points = [\"queue-sort\", \"filter\"]\nindexes = [\"shifts\"]\nenqueue-extensions = true\nwatches = [\"Shift\"]\n\n\
             [indexes]\nshifts = \"schedc_core::custom::Lister<mine::Shift>\"\n\n\
             [kinds]\nShift = { api-version = \"example.com/v1\", resource = \"shifts\" }",
        ),
        (
            expect_file!["../proofs/claims_everything.txt"],
            "points = [\"pre-enqueue\", \"queue-sort\", \"pre-filter\", \"filter\", \"post-filter\", \"pre-score\", \
             \"score\", \"reserve\", \"permit\", \"pre-bind\", \"bind\", \"post-bind\"]\ncolumns = [\"node-info\"]\n\
             normalizes = true\nprepares-score = true\nenqueue-extensions = true",
        ),
        (
            expect_file!["../proofs/other_reads.txt"],
            "points = [\"queue-sort\", \"filter\"]\ncolumns = [\"node-info\"]\nreads = [\"DefaultBinder?\"]",
        ),
        (
            expect_file!["../proofs/other_indexes.txt"],
            "points = [\"queue-sort\", \"filter\"]\ncolumns = [\"node-info\"]\nindexes = [\"image-nodes\"]",
        ),
    ];
    for (expected, entry) in rows {
        expected.assert_eq(&catalog_checks("Mine", "Mine", entry));
    }
    let sorts = "points = [\"queue-sort\", \"filter\"]\ncolumns = [\"node-info\"]";
    expect_file!["../proofs/other_name.txt"].assert_eq(&catalog_checks("Yours", "Mine", sorts));
    expect_file!["../proofs/no_such_type.txt"].assert_eq(&catalog_checks("Mine", "Missing", sorts));
    expect_file!["../proofs/not_a_plugin.txt"].assert_eq(&catalog_checks("Plain", "Plain", sorts));
    if slow_tests::is_skipped("rustc runs for each case") {
        return;
    }
    if !slow_tests::runs_with_trybuild_flags("compile_errors::catalogs_are_checked_against_plugins") {
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/proofs/*.rs");
    cases.compile_fail("tests/mistakes/*.rs");
}
