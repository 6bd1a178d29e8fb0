//! The examples of `schedc new`.

use clap::ValueEnum;

/// Values of `--with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExampleName {
    /// A filter with arguments, which reads a label with a number
    Filter,
    /// A score that is normalised and reads a column that depends on arguments
    Score,
    /// An index of the cluster, PreScore and Score
    State,
    /// Reserve, Permit and PostBind, with state
    Permit,
}

/// A plugin with its tests and a small cluster.
pub(super) struct Example {
    /// Name of the plugin: `KeptNodes`.
    pub(super) plugin: &'static str,
    /// Module of the plugin: `kept_nodes`.
    pub(super) module: &'static str,
    /// Description for the README.
    pub(super) description: &'static str,
    /// Source of the module.
    pub(super) source: &'static str,
    /// The plugin's entries in `schedc.toml`.
    pub(super) catalog: &'static str,
    /// `[plugins]` and arguments in the profile.
    pub(super) profile: &'static str,
    /// Manifests of the nodes.
    pub(super) nodes: &'static str,
    /// Manifests of the pods.
    pub(super) pods: &'static str,
    /// The part of the output of `simulate` before the section `Utilisation`.
    pub(super) output: &'static str,
    /// Source of the test module `scheduling`.
    pub(super) scheduling: &'static str,
    /// Manifests with which the contracts are verified.
    pub(super) contracts: &'static str,
}

macro_rules! example {
    ($folder:literal, $plugin:literal, $module:literal, $description:literal) => {
        Example {
            plugin: $plugin,
            module: $module,
            description: $description,
            source: include_str!(concat!("template/", $folder, "/", $module, ".rs")),
            catalog: include_str!(concat!("template/", $folder, "/schedc.toml")),
            profile: include_str!(concat!("template/", $folder, "/profile.toml")),
            nodes: include_str!(concat!("template/", $folder, "/nodes.yaml")),
            pods: include_str!(concat!("template/", $folder, "/pods.yaml")),
            output: include_str!(concat!("template/", $folder, "/output.txt")),
            scheduling: include_str!(concat!("template/", $folder, "/scheduling.rs")),
            contracts: include_str!(concat!("template/", $folder, "/contracts.yaml")),
        }
    };
}

const SIMPLE: Example = example!(
    "simple",
    "KeptNodes",
    "kept_nodes",
    "a filter. Nodes with the label `example.com/kept-for` accept only pods of one namespace"
);
const FILTER: Example = example!(
    "filter",
    "MinimumGeneration",
    "minimum_generation",
    "a filter with arguments. The number in a node's label `example.com/generation` must be at least that of the pod"
);
const SCORE: Example = example!(
    "score",
    "CheapNodes",
    "cheap_nodes",
    "a score with a column, arguments and normalisation. Nodes with a low `example.com/price` are preferred"
);
const STATE: Example = example!(
    "state",
    "TeamSpread",
    "team_spread",
    "a score with an index. The pods of a team (`example.com/team`) are spread over racks (`example.com/rack`)"
);
const PERMIT: Example = example!(
    "permit",
    "Pairs",
    "pairs",
    "Reserve, Permit and PostBind. The two pods of a pair (`example.com/pair`) are bound together"
);

impl Example {
    /// Returns the example of `--with`, or the simplest one.
    pub(super) fn of(with: Option<ExampleName>) -> &'static Example {
        match with {
            None => &SIMPLE,
            Some(ExampleName::Filter) => &FILTER,
            Some(ExampleName::Score) => &SCORE,
            Some(ExampleName::State) => &STATE,
            Some(ExampleName::Permit) => &PERMIT,
        }
    }

    /// Returns the files of a crate: path and content. The caller replaces the remaining placeholders. `@NAME@` stands
    /// for the name of the crate, and `@CRATE@` for its form in Rust. Placeholders such as `@schedc-core@` stand for
    /// the locations of schedc's packages.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        let fill = |text: &str| {
            text.replace("@CATALOG@\n", self.catalog)
                .replace("@PROFILE@\n", self.profile)
                .replace("@OUTPUT@\n", self.output)
                .replace("@DESCRIPTION@", self.description)
                .replace("@PLUGIN@", self.plugin)
                .replace("@MODULE@", self.module)
        };
        let files = [
            ("Cargo.toml", include_str!("template/manifest.toml")),
            ("README.md", include_str!("template/README.md")),
            (".gitignore", "/target\n"),
            ("build.rs", include_str!("template/build.rs")),
            ("schedc.toml", include_str!("template/schedc.toml")),
            ("profiles/@NAME@.toml", include_str!("template/profile.toml")),
            ("src/lib.rs", include_str!("template/lib.rs")),
            ("src/main.rs", include_str!("template/main.rs")),
            ("src/@MODULE@.rs", self.source),
            ("src/tests/mod.rs", include_str!("template/tests.rs")),
            ("src/tests/scheduling.rs", self.scheduling),
            ("src/tests/contracts.yaml", self.contracts),
            ("cluster/nodes.yaml", self.nodes),
            ("cluster/pods.yaml", self.pods),
        ];
        files.into_iter().map(|(path, text)| (fill(path), fill(text))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_placeholders_for_the_name_and_packages_remain() {
        for with in [None].into_iter().chain(ExampleName::value_variants().iter().copied().map(Some)) {
            for (path, text) in Example::of(with).files() {
                let text = [path, text].join("\n");
                let unfilled = text.split('@').skip(1).step_by(2).find(|word| !matches!(*word, "NAME" | "CRATE"));
                let unfilled = unfilled.filter(|word| !word.starts_with("schedc"));
                assert_eq!(unfilled, None, "{with:?}: {text}");
                assert!(Example::of(with).output.starts_with("Placed\n"));
            }
        }
    }
}
