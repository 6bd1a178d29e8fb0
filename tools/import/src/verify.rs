//! Verification of a written profile: it is compiled, and the result is compared with kube-scheduler's
//! pipeline, for each extension point.

use std::sync::Arc;

use schedc_codegen::catalog::{Catalog, PluginEntry};
use schedc_codegen::plan::{Plan, Point};
use schedc_codegen::schema::ArgsSchema;
use schedc_codegen::source::{Files, Span};
use schedc_codegen::{Diagnostics, NoCrates, SourceText, compile_with};

use crate::config::{self, Names};
use crate::effective::{Effective, Entry};
use crate::profile::{self, Profile, Set};
use crate::{messages, write};

/// Assumed extension points of out-of-tree plugins, whose catalogs are unknown. If the profile is equivalent for both
/// extremes, it is assumed to be equivalent for all sets of points between them.
#[derive(Clone, Copy)]
enum OutOfTreePoints {
    /// Only the points where the configuration names them, and Score if they have a weight in `multiPoint`. Plugins of
    /// `multiPoint` are also assumed to run at PostBind, because every plugin runs at some point.
    Mentioned,
    /// All points except QueueSort, which has exactly one plugin.
    All,
}

impl OutOfTreePoints {
    fn runs_at(self, name: &str, point: Point, (points, multi_point): &(Vec<Names<'_>>, Names<'_>)) -> bool {
        let set = &points[point as usize];
        set.enabled.contains_key(name)
            || set.disabled.contains(name)
            || match self {
                OutOfTreePoints::Mentioned => multi_point
                    .enabled
                    .get(name)
                    .is_some_and(|plugin| point == Point::PostBind || point == Point::Score && plugin.weight.is_some()),
                OutOfTreePoints::All => point != Point::QueueSort,
            }
    }
}

/// Returns kube-scheduler's pipeline, with out-of-tree plugins where the configuration names them.
pub(crate) fn effective(written: &config::Profile) -> Effective {
    let names = written.names();
    Effective::new(written, |name, point| OutOfTreePoints::Mentioned.runs_at(name, point, &names))
}

/// The files and the name of the imported configuration, and the catalog of plugins.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) files: &'a Files,
    /// Name of the configuration in messages.
    pub(crate) path: &'a str,
}

/// Writes an equivalent profile and compiles it. If schedc's order of plugins would differ from kube-scheduler's, the
/// plugins are listed explicitly.
pub(crate) fn text(
    profile: &mut Profile,
    written: &config::Profile,
    input: Input<'_>,
) -> Result<(String, Plan), Diagnostics> {
    let Input { catalog, files, path } = input;
    let names = written.names();
    let mut last_attempt = false;
    loop {
        let text = write::toml(profile, path);
        let check = |out_of_tree: OutOfTreePoints| -> Result<(Plan, Vec<(Point, Set)>), Diagnostics> {
            let runs_at = |name: &str, point| out_of_tree.runs_at(name, point, &names);
            let effective = Effective::new(written, runs_at);
            let plan = compiled(&text, profile, runs_at, input)?;
            let differing =
                Point::ALL.into_iter().filter(|point| !is_same(*point, &plan, effective.point(*point), catalog));
            let sets = differing.map(|point| (point, profile::explicit(point, effective.point(point), catalog)));
            let sets = sets.collect();
            Ok((plan, sets))
        };
        let (plan, mut differing) = check(OutOfTreePoints::Mentioned)?;
        if differing.is_empty() {
            (_, differing) = check(OutOfTreePoints::All)?;
        }
        if differing.is_empty() {
            return Ok((text, plan));
        }
        if last_attempt {
            let points: Vec<Point> = differing.into_iter().map(|(point, _)| point).collect();
            return Err(Diagnostics::new(files.clone(), vec![messages::different_pipeline(&points)]));
        }
        for (point, set) in differing {
            replace(profile, point, set);
        }
        last_attempt = true;
    }
}

fn replace(profile: &mut Profile, point: Point, set: Set) {
    profile.sets.retain(|(at, _)| *at != Some(point));
    profile.sets.push((Some(point), set));
    profile.sets.sort_by_key(|(at, _)| *at);
}

fn compiled(
    text: &str,
    profile: &Profile,
    runs_at: impl Fn(&str, Point) -> bool,
    input: Input<'_>,
) -> Result<Plan, Diagnostics> {
    let mut catalog = input.catalog.clone();
    let declared_at = Span { file: catalog.file, start: 0, end: 0 };
    for name in &profile.out_of_tree {
        catalog.plugins.push(Arc::new(PluginEntry {
            name: name.clone(),
            declared_at,
            crate_name: "outside".to_owned(),
            path: format!("outside::{name}"),
            points: Point::ALL.into_iter().filter(|point| runs_at(name, *point)).collect(),
            columns: Vec::new(),
            indexes: Vec::new(),
            reads: Vec::new(),
            default_weight: 1,
            normalizes: false,
            prepares_score: false,
            enqueue_extensions: false,
            watches: Vec::new(),
            kinds: Vec::new(),
            writes: Vec::new(),
            description: String::new(),
            args: ArgsSchema::Opaque,
        }));
    }
    let source = SourceText { path: format!("the profile made of {}", input.path), text: text.to_owned() };
    let mut compilation = compile_with(Arc::new(catalog), input.files.clone(), &[source], &mut NoCrates)?;
    match compilation.plans.pop() {
        Some(plan) => Ok(plan),
        None => Err(Diagnostics::new(compilation.files, vec![messages::different_pipeline(&[])])),
    }
}

/// Returns whether a plan runs the same plugins at a point as kube-scheduler, as far as schedc supports them.
fn is_same(point: Point, plan: &Plan, expected: &[Entry], catalog: &Catalog) -> bool {
    let expected = expected.iter().filter(|entry| profile::runs_at(&entry.name, point, catalog));
    let expected = expected.map(|entry| (entry.name.as_str(), entry.weight));
    let actual = plan
        .at(point)
        .map(|(step, plugin)| (plugin.entry.name.as_str(), step.weight.as_ref().map_or(0, |weight| weight.value)));
    expected.eq(actual)
}
