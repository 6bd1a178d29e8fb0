//! Variants of a profile with other weights and arguments.

use std::fmt;

use schedc_backtest::report::Parameter;
use schedc_codegen::parse::RawArgs;
use schedc_codegen::plan::{Field, Node, Plan, PluginId, Point, Points, Setting, Value};
use schedc_codegen::source::{Span, Spanned};
use schedc_codegen::tree::{RawField, RawNode, RawTable, RawValue};
use schedc_codegen::{Compilation, check_args};

/// Maximum number of values of a parameter. Also the maximum number of variants of a profile.
const MAX_VARIANTS: usize = 1000;

/// A parameter and its values: `NodeResourcesFit.weight=1..10`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    plugin: String,
    path: Vec<String>,
    values: Vec<String>,
}

impl Sweep {
    /// Parses a parameter with its values.
    pub(crate) fn parse(text: &str) -> Result<Sweep, String> {
        let (parameter, values) = text.split_once('=').ok_or("write PLUGIN.weight=VALUES or PLUGIN.ARGUMENT=VALUES")?;
        let (plugin, path) = parameter
            .split_once('.')
            .ok_or("name a plugin and its weight or argument, such as NodeResourcesFit.weight")?;
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        if plugin.is_empty() || path.iter().any(String::is_empty) {
            return Err(format!("`{parameter}` has an empty part"));
        }
        let values = match range(values)? {
            Some(range) => range,
            None => values.split(',').map(|value| value.trim().to_owned()).collect(),
        };
        if values.iter().any(String::is_empty) {
            return Err(format!("`{text}` has an empty value"));
        }
        Ok(Sweep { plugin: plugin.to_owned(), path, values })
    }

    fn name(&self) -> String {
        format!("{}.{}", self.plugin, self.path.join("."))
    }

    /// Returns whether the parameter is the weight of a score.
    fn is_weight(&self) -> bool {
        matches!(&self.path[..], [weight] if weight == "weight")
    }
}

/// Parses a range such as `1..10`, which includes both numbers. Returns `None` for a text without `..`.
fn range(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some((first, last)) = text.split_once("..") else { return Ok(None) };
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| format!("`{text}` is not a whole number"));
    let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
    if first > last {
        return Err(format!("the range {text} is empty"));
    }
    if last.abs_diff(first) >= MAX_VARIANTS as u64 {
        return Err(format!("the range {text} has more than {MAX_VARIANTS} values"));
    }
    Ok(Some((first..=last).map(|value| value.to_string()).collect()))
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--sweep {}", self.name())
    }
}

/// A variant of a profile.
pub(crate) struct Variant {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) compilation: Compilation,
}

/// Returns the variants of a profile, one for each combination of values.
pub(crate) fn variants(compilation: &Compilation, sweeps: &[Sweep]) -> Result<Vec<Variant>, String> {
    let mut variants = vec![Variant { parameters: Vec::new(), compilation: compilation.clone() }];
    for (at, sweep) in sweeps.iter().enumerate() {
        if sweeps[..at].iter().any(|other| other.name() == sweep.name()) {
            return Err(format!("{sweep}: this parameter has two sweeps; list all values in one"));
        }
        if variants.len().saturating_mul(sweep.values.len()) > MAX_VARIANTS {
            return Err(format!("{sweep}: there are more than {MAX_VARIANTS} combinations of values"));
        }
        let mut next = Vec::new();
        for Variant { parameters, compilation } in &variants {
            for value in &sweep.values {
                let mut compilation = compilation.clone();
                for plan in &mut compilation.plans {
                    set(plan, sweep, value).map_err(|error| format!("{sweep}={value}: {error}"))?;
                }
                let mut parameters = parameters.clone();
                parameters.push(Parameter { name: sweep.name(), value: value.clone() });
                next.push(Variant { parameters, compilation });
            }
        }
        variants = next;
    }
    Ok(variants)
}

/// Returns the unchanged profile and, for each of its scores, a variant without that score.
pub(crate) fn without_each_score(compilation: &Compilation) -> Result<Vec<Variant>, String> {
    let mut all = variants(compilation, &[])?;
    for plan in &compilation.plans {
        for (_, plugin) in plan.at(Point::Score) {
            let path = vec!["weight".to_owned()];
            let sweep = Sweep { plugin: plugin.entry.name.clone(), path, values: vec!["0".to_owned()] };
            all.extend(variants(compilation, &[sweep])?);
        }
    }
    Ok(all)
}

fn set(plan: &mut Plan, sweep: &Sweep, value: &str) -> Result<(), String> {
    let Some((id, _)) = plan.find(&sweep.plugin) else {
        let names: Vec<&str> = plan.plugins.iter().map(|plugin| plugin.entry.name.as_str()).collect();
        return Err(format!("{} does not run a plugin `{}`; it runs {}", plan.path, sweep.plugin, names.join(", ")));
    };
    match sweep.is_weight() {
        true => set_weight(plan, id, value),
        false => set_argument(plan, id, &sweep.path, value),
    }
}

fn set_weight(plan: &mut Plan, id: PluginId, value: &str) -> Result<(), String> {
    let weight = value.parse::<i64>().ok().filter(|weight| (0..=1_000_000).contains(weight));
    let weight = weight.ok_or("a weight is a whole number from 0 to 1000000; 0 removes the score of the plugin")?;
    if plan.points[Point::Score].iter().all(|step| step.plugin != id) {
        return Err(format!("the plugin does not score in {}", plan.path));
    }
    plan.points = Points::new(|point| {
        let mut steps = plan.points[point].clone();
        if point == Point::Score {
            steps.retain(|step| step.plugin != id || weight > 0);
            for step in steps.iter_mut().filter(|step| step.plugin == id) {
                step.weight = Some(Setting { value: weight, span: None });
            }
        }
        steps
    });
    Ok(())
}

fn set_argument(plan: &mut Plan, id: PluginId, path: &[String], value: &str) -> Result<(), String> {
    let span = Span { file: plan.file, start: 0, end: 0 };
    let plugin = &mut plan.plugins[id.0];
    let table = || Node { span, value: Value::Table(Vec::new()) };
    put(plugin.args.get_or_insert_with(table), path, value, span)?;
    let Some(args) = &plugin.args else { return Ok(()) };
    let plugin_name = Spanned { value: plugin.entry.name.clone(), span };
    let found = check_args(&plugin.entry.args, &RawArgs { plugin: plugin_name, value: raw(args) });
    match found.first() {
        Some(error) => Err(error.title.clone()),
        None => Ok(()),
    }
}

/// Sets the value at a path, and creates missing tables on the way.
fn put(node: &mut Node, path: &[String], value: &str, span: Span) -> Result<(), String> {
    let Some((first, rest)) = path.split_first() else {
        node.value = parsed(value);
        return Ok(());
    };
    match &mut node.value {
        Value::Table(fields) => {
            if let Some(field) = fields.iter_mut().find(|field| field.key.value == *first) {
                return put(&mut field.value, rest, value, span);
            }
            let mut new = Node { span, value: Value::Table(Vec::new()) };
            put(&mut new, rest, value, span)?;
            fields.push(Field { key: Spanned { value: first.clone(), span }, value: new });
            Ok(())
        }
        Value::List(entries) => {
            let count = entries.len();
            let entry = first.parse::<usize>().ok().and_then(|at| entries.get_mut(at));
            let entry = entry.ok_or_else(|| format!("`{first}` is not an index of a list with {count} entries"))?;
            put(entry, rest, value, span)
        }
        Value::Bool(_) | Value::Int(_) | Value::Str(_) => Err(format!("`{first}` is below a value that has no fields")),
    }
}

fn parsed(text: &str) -> Value {
    match (text, text.parse::<i64>()) {
        (_, Ok(number)) => Value::Int(number),
        ("true" | "false", _) => Value::Bool(text == "true"),
        _ => Value::Str(text.to_owned()),
    }
}

/// Converts arguments to the form that [`check_args`] checks.
fn raw(node: &Node) -> RawNode {
    let value = match &node.value {
        Value::Bool(value) => RawValue::Bool(*value),
        Value::Int(value) => RawValue::Int(i128::from(*value)),
        Value::Str(value) => RawValue::Str(value.clone()),
        Value::List(entries) => RawValue::List(entries.iter().map(raw).collect()),
        Value::Table(fields) => {
            let field = |field: &Field| RawField { key: field.key.clone(), value: raw(&field.value) };
            RawValue::Table(RawTable { fields: fields.iter().map(field).collect() })
        }
    };
    RawNode { span: node.span, value }
}

#[cfg(test)]
mod tests {
    use schedc_codegen::{NoCrates, SourceText, compile};

    use super::*;

    fn compilation() -> Compilation {
        let text = include_str!("../../../../../profiles/binpack.toml").to_owned();
        compile(&[SourceText { path: "binpack.toml".to_owned(), text }], &mut NoCrates).expect("a valid profile")
    }

    fn swept(sweeps: &[&str]) -> Result<Vec<Variant>, String> {
        let sweeps: Result<Vec<Sweep>, String> = sweeps.iter().map(|text| Sweep::parse(text)).collect();
        variants(&compilation(), &sweeps?)
    }

    fn error(sweep: &str) -> String {
        swept(&[sweep]).err().unwrap_or_default()
    }

    #[test]
    fn a_sweep_has_all_combinations_of_values() {
        let sweeps =
            ["NodeResourcesFit.weight=1..3", "NodeResourcesFit.scoring-strategy.type=LeastAllocated,MostAllocated"];
        let all = swept(&sweeps).expect("valid sweeps");
        let values: Vec<String> =
            all.iter().map(|it| format!("{} {}", it.parameters[0].value, it.parameters[1].value)).collect();
        assert_eq!(
            values.join(", "),
            "1 LeastAllocated, 1 MostAllocated, 2 LeastAllocated, 2 MostAllocated, 3 LeastAllocated, 3 MostAllocated"
        );
        let plan = &all[5].compilation.plans[0];
        let weight = plan.at(Point::Score).find(|(_, plugin)| plugin.entry.name == "NodeResourcesFit");
        assert_eq!(weight.and_then(|(step, _)| step.weight.as_ref()).map(|weight| weight.value), Some(3));
    }

    #[test]
    fn a_parameter_has_one_sweep() {
        let found = swept(&["ImageLocality.weight=1", "ImageLocality.weight=2"]);
        assert!(found.err().unwrap_or_default().contains("has two sweeps"));
    }

    #[test]
    fn weight_0_removes_a_score() {
        let all = swept(&["ImageLocality.weight=0..1"]).expect("a valid sweep");
        let scores = |at: usize| all[at].compilation.plans[0].points[Point::Score].len();
        assert_eq!(scores(0) + 1, scores(1));
    }

    #[test]
    fn each_score_is_removed_once() {
        let compilation = compilation();
        let scores = compilation.plans[0].points[Point::Score].len();
        let all = without_each_score(&compilation).expect("a valid profile");
        let score_counts: Vec<usize> =
            all.iter().map(|it| it.compilation.plans[0].points[Point::Score].len()).collect();
        assert_eq!((score_counts[0], score_counts.len()), (scores, scores + 1));
        assert!(score_counts[1..].iter().all(|count| *count == scores - 1));
    }

    #[test]
    fn invalid_sweeps_are_errors() {
        for (sweep, expected) in [
            ("NodeResourcesFit.weight", "PLUGIN.weight=VALUES"),
            ("weight=1", "name a plugin"),
            ("NodeResourcesFit.weight=10..1", "is empty"),
            ("NodeResourcesFit.weight=1..100000", "more than 1000 values"),
            ("NodeResourcesFit.weight=1,,2", "empty value"),
            ("NodeResourcesFit.weight=-1..1", "0 removes the score"),
            ("NoPlugin.weight=1", "does not run a plugin `NoPlugin`"),
            ("NodePorts.weight=1", "does not score"),
            ("NodeResourcesFit.scoring-strategy.type=Fullest", "Fullest"),
            ("NodeResourcesFit.scoring-strategy.resources.7.weight=1", "not an index"),
        ] {
            assert!(error(sweep).contains(expected), "{sweep}: {}", error(sweep));
        }
    }
}
