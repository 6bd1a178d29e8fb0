//! What a profile runs, as lists: to be compared with what is compiled in.

use schedc_codegen::catalog::Catalog;
use schedc_codegen::plan::Point;
use schedc_codegen::tree::{RawNode, RawValue};
use serde_json::Value;

use crate::effective::Effective;
use crate::profile::{self, Profile};

/// An extension point as it is written in profiles, and its plugins in order, with their weights at `score`.
pub type PluginsAt = (&'static str, Vec<(String, Option<i64>)>);

/// What a profile runs, as far as schedc has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// How many nodes of a hundred are looked for before scoring; 0 is kube-scheduler's adaptive rule.
    pub percentage_of_nodes_to_score: i64,
    /// All extension points.
    pub points: Vec<PluginsAt>,
    /// The arguments that are given to plugins, by their names; the fields are called as in profiles.
    pub args: Vec<(String, Value)>,
}

impl Meaning {
    pub(crate) fn new(profile: &Profile, effective: &Effective, catalog: &Catalog) -> Meaning {
        let points = Point::ALL.into_iter().map(|point| {
            let here = effective.point(point).iter().filter(|entry| profile::runs_at(&entry.name, point, catalog));
            let weight = |weight: i64| (point == Point::Score).then_some(weight);
            (point.name(), here.map(|entry| (entry.name.clone(), weight(entry.weight))).collect())
        });
        Meaning {
            percentage_of_nodes_to_score: profile.percentage_of_nodes_to_score,
            points: points.collect(),
            args: profile.args.iter().map(|args| (args.plugin.value.clone(), json(&args.value))).collect(),
        }
    }
}

fn json(node: &RawNode) -> Value {
    match &node.value {
        RawValue::Bool(value) => (*value).into(),
        // What does not fit was an error before.
        RawValue::Int(value) => i64::try_from(*value).unwrap_or(i64::MAX).into(),
        RawValue::Str(value) | RawValue::Float(value) | RawValue::Datetime(value) => value.as_str().into(),
        RawValue::List(items) => items.iter().map(json).collect(),
        RawValue::Table(table) => {
            table.fields.iter().map(|field| (field.key.value.clone(), json(&field.value))).collect()
        }
    }
}
