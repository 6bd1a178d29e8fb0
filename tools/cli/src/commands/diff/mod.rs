//! `schedc diff`

pub(crate) mod comparison;
mod effects;
mod placements;
mod sides;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use schedc_core::erased::AnyBundle;
use schedc_import::{Difference, differences};
use schedc_objects::{Kinds, Objects, Options};
use serde_json::{Value, json};

use super::exit_code::exit_code;
use super::failure::Failure;
use super::live::{LiveCluster, UsedKinds};
use super::output::{self, Format};
use super::reports::{self, ReportFile};
use super::tables::diff::table;
use super::validate::Validate;
use comparison::{Comparison, DifferenceKind, Entry, Named};
#[cfg(feature = "recordings")]
pub(crate) use placements::placing_profile;
pub(crate) use sides::Side;

/// Compare two profiles and describe the effects of their differences on pods
///
/// Compares the plugins of each extension point, their order, weights and arguments. The exit code is 0 if
/// the profiles are equivalent, 1 if they differ, and 2 if they cannot be compared.
#[derive(Args)]
#[command(group = ArgGroup::new("pods").args(["cluster", "live", "kubeconfig", "context"]).multiple(true))]
pub(crate) struct Diff {
    /// A profile: its name in profiles/, a path, or the name of a compiled-in profile; a
    /// KubeSchedulerConfiguration in YAML or JSON, with `#NAME` for one of several profiles; or `kube-scheduler`
    /// for its defaults
    #[arg(value_name = "A")]
    a: String,

    /// The other profile
    #[arg(value_name = "B")]
    b: String,

    /// Place the pending pods of this cluster with both profiles and list the pods with different nodes
    ///
    /// Manifests in YAML or JSON: files, folders, or `-` for standard input, as for `schedc simulate`. A profile
    /// that is not compiled in is interpreted. Each profile serves all pods, regardless of their scheduler name.
    #[arg(long, num_args = 1.., value_name = "FILE|FOLDER")]
    cluster: Vec<PathBuf>,

    #[command(flatten)]
    live: LiveCluster,

    #[command(flatten)]
    validate: Validate,

    /// List every pod with different nodes in the table, however many there are
    #[arg(long, requires = "pods")]
    all: bool,

    /// Seed for the choice among equally good nodes: equal seeds give equal placements
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "pods")]
    seed: u64,

    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    #[command(flatten)]
    report: ReportFile,
}

impl Diff {
    /// Runs the command. The exit codes are those of `diff`.
    pub(crate) fn run(self, bundle: &AnyBundle) -> ExitCode {
        exit_code(self.compare(bundle))
    }

    /// Prints the comparison, and returns whether the two are equal.
    fn compare(self, bundle: &AnyBundle) -> Result<bool, Failure> {
        let (mut a, mut b) = (Side::load(bundle, &self.a)?, Side::load(bundle, &self.b)?);
        if a.name == b.name {
            (a.name, b.name) = (self.a.clone(), self.b.clone());
        }
        let found = differences(&a.summary, &b.summary);
        let (placements, sides) = match self.objects(bundle)? {
            None => (None, None),
            Some(objects) => {
                let has_report = self.report.is_requested();
                let (changes, sides) = placements::placement_changes(bundle, [&a, &b], objects, self.seed, has_report)?;
                (Some(changes), sides)
            }
        };
        let comparison = Comparison {
            equal: found.is_empty(),
            differences: found.iter().map(|difference| Entry::new(difference, &found, &a, &b)).collect(),
            a: Named { name: a.name, scheduler_name: a.scheduler_name },
            b: Named { name: b.name, scheduler_name: b.scheduler_name },
            placements,
        };
        output::print(self.output, &comparison, |comparison| table(comparison, self.all))?;
        self.report.write(|| {
            let cluster = if comparison.placements.is_some() {
                format!("two profiles on {}, seed {}", reports::names(&self.cluster), self.seed)
            } else {
                "two profiles".to_owned()
            };
            reports::diff::page(&comparison, sides.as_ref(), cluster)
        })?;
        Ok(comparison.equal)
    }

    /// Reads the objects of the files or of the live cluster. Returns `None` if neither is given.
    fn objects(&self, bundle: &AnyBundle) -> Result<Option<Objects>, Failure> {
        if self.cluster.is_empty() && !self.live.is_named() {
            return Ok(None);
        }
        let options = Options {
            kinds: Kinds::declared(bundle.kinds),
            validation: self.validate.validation(),
            ..Options::default()
        };
        self.live.load(&self.cluster, bundle, UsedKinds::All, options).map(Some)
    }
}

impl Entry {
    fn new(difference: &Difference, all: &[Difference], a: &Side, b: &Side) -> Self {
        let effect = effects::of(difference, all, a, b);
        let entry = |what, a: Value, b: Value| Entry {
            what,
            point: None,
            plugin: None,
            extender: None,
            name: None,
            a,
            b,
            effect,
        };
        match difference {
            Difference::Setting { name, a, b } => {
                Entry { name: Some((*name).to_owned()), ..entry(DifferenceKind::Setting, json!(a), json!(b)) }
            }
            Difference::Plugin { point, plugin, in_a, weight } => {
                let runs = match weight {
                    Some(weight) => json!({ "weight": weight }),
                    None => json!({}),
                };
                let (a, b) = if *in_a { (runs, Value::Null) } else { (Value::Null, runs) };
                Entry { point: Some(point), plugin: Some(plugin.clone()), ..entry(DifferenceKind::Plugin, a, b) }
            }
            Difference::Weight { plugin, a, b } => Entry {
                point: Some("score"),
                plugin: Some(plugin.clone()),
                ..entry(DifferenceKind::Weight, json!(a), json!(b))
            },
            Difference::Order { point, a, b } => {
                Entry { point: Some(point), ..entry(DifferenceKind::Order, json!(a), json!(b)) }
            }
            Difference::Argument { plugin, path, a, b } => Entry {
                plugin: Some(plugin.clone()),
                name: Some(path.clone()),
                ..entry(DifferenceKind::Argument, json!(a), json!(b))
            },
            Difference::Extender { url, a, b } => {
                Entry { extender: Some(url.clone()), ..entry(DifferenceKind::Extender, json!(a), json!(b)) }
            }
            Difference::ExtenderSetting { url, key, a, b } => Entry {
                extender: Some(url.clone()),
                name: Some(key.clone()),
                ..entry(DifferenceKind::Extender, json!(a), json!(b))
            },
        }
    }
}
