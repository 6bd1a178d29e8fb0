//! One concept in each test, with a minimal catalog and profile.

mod catalogs;
mod extenders;
mod filters;
mod inputs;
mod outcomes;
mod scores;

use expect_test::Expect;
use schedc_codegen::parse::RawCrate;
use schedc_codegen::{CatalogFinder, FoundCatalog, MissingCatalog, SourceText, compile, emit};

/// Plugins with features that the in-tree ones lack.
const CATALOG: &str = r#"
crate = "my_plugins"

[columns]
gpus = "my_plugins::Gpus"

[[plugin]]
name = "GPUShare"
path = "my_plugins::GpuShare"
points = ["pre-filter", "filter", "score"]
columns = ["gpus", "node-info", "node-index"]

[[plugin]]
name = "Gang"
path = "my_plugins::gang::Gang"
points = ["post-filter", "reserve", "permit", "pre-bind", "bind", "post-bind"]
indexes = ["gangs", "image-nodes"]
reads = ["GPUShare"]

[[plugin]]
name = "Prepare"
path = "my_plugins::Prepare"
points = ["post-filter", "pre-bind", "pre-score"]

[[plugin]]
name = "View"
path = "my_plugins::View"
points = ["pre-filter"]
reads = ["GPUShare?", "NodePorts?"]

[[plugin]]
name = "Shifts"
path = "my_plugins::Shifts"
points = ["pre-filter"]
indexes = ["shifts"]
enqueue-extensions = true
watches = ["Shift", "Team"]

[indexes]
gangs = "my_plugins::Gangs"
shifts = "schedc_core::custom::Lister<my_plugins::Shift>"

[kinds]
Team = { api-version = "v1", resource = "teams", namespaced = false }
Shift = { api-version = "example.com/v1beta1", kind = "WorkShift", resource = "workshifts" }
"#;

/// Returns [`CATALOG`] for every crate.
struct Inline;

impl CatalogFinder for Inline {
    fn find(&mut self, _: &RawCrate, _: &str) -> Result<FoundCatalog, MissingCatalog> {
        Ok(FoundCatalog { path: "my-plugins/schedc.toml".to_owned(), text: CATALOG.to_owned(), sources: Vec::new() })
    }
}

pub(crate) fn code(profile: &str) -> String {
    let text = format!("crates = [\"my-plugins\"]\n{profile}");
    let sources = [SourceText { path: "profiles/mine.toml".to_owned(), text }];
    let compilation = compile(&sources, &mut Inline).unwrap_or_else(|errors| panic!("{errors}"));
    emit::render(&compilation).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) const PROFILE: &str = r#"
[plugins]
multi-point = ["PrioritySort", "NodePorts", "GPUShare", "View", "Gang", "Prepare", "DefaultBinder"]

[args.GPUShare]
slices = [-1, { deep = true }]
"#;

/// Returns the item whose first line contains `start`, up to the closing brace at the same depth.
pub(crate) fn item(code: &str, start: &str) -> String {
    let lines: Vec<&str> = code.lines().collect();
    let first = lines.iter().position(|line| line.contains(start)).unwrap_or_else(|| panic!("no {start}"));
    let indent = lines[first].len() - lines[first].trim_start().len();
    let ends = |line: &str| line.len() > indent && line[indent..].starts_with(['}', ')']) && line.ends_with(['}', ';']);
    let length = if lines[first].ends_with(['}', ';']) {
        0
    } else {
        lines[first..].iter().position(|line| ends(line)).unwrap_or(0)
    };
    let item: Vec<&str> = lines[first..=first + length].iter().map(|line| line.get(indent..).unwrap_or("")).collect();
    item.join("\n")
}

pub(crate) fn check(profile: &str, start: &str, expected: &Expect) {
    expected.assert_eq(&item(&code(profile), start));
}
