//! Verification of a written profile: it is compiled, and the result is compared with kube-scheduler's
//! pipeline, for each extension point.

use std::sync::Arc;

use schedc_codegen::catalog::{Catalog, PluginEntry};
use schedc_codegen::plan::{Plan, Point};
use schedc_codegen::schema::ArgsSchema;
use schedc_codegen::source::{FileId, Files, Span};
use schedc_codegen::{Diagnostics, NoCrates, SourceText, compile_with};

use crate::config;
use crate::effective::{Effective, Entry, OutOfTreePoints};
use crate::profile::{self, Profile, Set};
use crate::summary::ProfileSummary;
use crate::{messages, write};

/// Writes an equivalent profile and compiles it. If schedc's order of plugins would differ from kube-scheduler's, the
/// plugins are listed explicitly.
pub(crate) fn text(
    mut profile: Profile,
    written: &config::Profile,
    summary: &ProfileSummary,
    files: &Files,
    configuration: FileId,
) -> Result<String, Diagnostics> {
    let path = files.path(configuration);
    let mut files = files.clone();
    let mut diagnostics = Vec::new();
    let Some(catalog) = Catalog::in_tree(&mut files, &mut diagnostics) else {
        return Err(Diagnostics::new(files, diagnostics));
    };
    let names = written.names();
    let mut last_attempt = false;
    loop {
        let text = write::toml(&profile, path);
        let check = |out_of_tree: OutOfTreePoints| -> Result<(Plan, Vec<(Point, Set)>), Diagnostics> {
            let runs_at = |name: &str, point| out_of_tree.runs_at(name, point, &names);
            let effective = Effective::new(written, runs_at);
            let plan = compiled(&text, &profile, runs_at, &catalog, &files, path)?;
            let differing = Point::ALL.into_iter().filter(|point| !is_same(*point, &plan, effective.point(*point)));
            let sets = differing.map(|point| (point, profile::explicit(point, effective.point(point))));
            let sets = sets.collect();
            Ok((plan, sets))
        };
        let (plan, mut differing) = check(OutOfTreePoints::Mentioned)?;
        if differing.is_empty() {
            (_, differing) = check(OutOfTreePoints::All)?;
        }
        if differing.is_empty() {
            debug_assert!(summary.has_settings_of(&plan), "{summary:?} {plan:?}");
            return Ok(text);
        }
        if last_attempt {
            let points: Vec<Point> = differing.into_iter().map(|(point, _)| point).collect();
            return Err(Diagnostics::new(files, vec![messages::different_pipeline(&points)]));
        }
        for (point, set) in differing {
            replace(&mut profile, point, set);
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
    in_tree: &Catalog,
    files: &Files,
    path: &str,
) -> Result<Plan, Diagnostics> {
    let mut catalog = in_tree.clone();
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
    let source = SourceText { path: format!("the profile made of {path}"), text: text.to_owned() };
    let mut compilation = compile_with(Arc::new(catalog), files.clone(), &[source], &mut NoCrates)?;
    match compilation.plans.pop() {
        Some(plan) => Ok(plan),
        None => Err(Diagnostics::new(compilation.files, vec![messages::different_pipeline(&[])])),
    }
}

/// Returns whether a plan runs the same plugins at a point as kube-scheduler, as far as schedc supports them.
fn is_same(point: Point, plan: &Plan, expected: &[Entry]) -> bool {
    let expected = expected.iter().filter(|entry| profile::runs_at(&entry.name, point));
    let expected = expected.map(|entry| (entry.name.as_str(), entry.weight));
    let actual = plan
        .at(point)
        .map(|(step, plugin)| (plugin.entry.name.as_str(), step.weight.as_ref().map_or(0, |weight| weight.value)));
    expected.eq(actual)
}
