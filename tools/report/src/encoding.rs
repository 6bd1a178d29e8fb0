//! The data of a page as compact JSON: each string is written once, and tables are written by column.

use std::collections::HashMap;

use serde::Serialize;
use serde::ser::Serializer;

use crate::heat_map::{self, HeatMap};
use crate::table::{Candidate, Column, Decision, Kind, Table, Values};
use crate::unit::Unit;
use crate::view::{Bars, Lines, View};
use crate::{Fact, Report};

/// Returns the data of a page.
pub(crate) fn json(report: &Report) -> serde_json::Result<String> {
    let mut strings = Strings::default();
    let views = report.views.iter().map(|view| strings.view(view)).collect();
    serde_json::to_string(&Page {
        version: env!("CARGO_PKG_VERSION"),
        title: &report.title,
        subtitle: &report.subtitle,
        facts: &report.facts,
        notes: &report.notes,
        levels: heat_map::LEVELS,
        views,
        strings: strings.all,
    })
}

#[derive(Serialize)]
struct Page<'a> {
    version: &'static str,
    title: &'a str,
    subtitle: &'a str,
    facts: &'a [Fact],
    notes: &'a [String],
    levels: &'static str,
    views: Vec<EncodedView<'a>>,
    strings: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "view", rename_all = "camelCase")]
enum EncodedView<'a> {
    #[serde(rename_all = "camelCase")]
    Lines {
        title: &'a str,
        description: &'a str,
        x_label: &'a str,
        x_unit: Unit,
        unit: Unit,
        x: Vec<Number>,
        series: Vec<(&'a str, Numbers)>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        half: bool,
    },
    Bars {
        title: &'a str,
        description: &'a str,
        empty: &'a str,
        label: &'a str,
        unit: Unit,
        series: &'a [String],
        bars: Vec<(&'a str, Vec<Number>, Option<&'a str>)>,
    },
    #[serde(rename_all = "camelCase")]
    HeatMap {
        title: &'a str,
        description: &'a str,
        nodes: Vec<usize>,
        x_label: &'a str,
        x_unit: Unit,
        x: Vec<Number>,
        layers: Vec<(&'a str, Vec<String>)>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        half: bool,
    },
    Table {
        title: &'a str,
        description: &'a str,
        empty: &'a str,
        rows: usize,
        columns: Vec<EncodedColumn<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        decisions: Option<Decisions>,
    },
}

#[derive(Serialize)]
struct EncodedColumn<'a> {
    name: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<Unit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    values: EncodedValues,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum EncodedValues {
    /// Indices of strings.
    Strings(Vec<usize>),
    Numbers(Numbers),
}

/// Numbers, or indices of a few distinct ones.
#[derive(Serialize)]
#[serde(untagged)]
enum Numbers {
    All(Vec<Number>),
    Distinct { distinct: Vec<Number>, at: Vec<usize> },
}

/// The decisions about the pods of a table.
#[derive(Default, Serialize)]
struct Decisions {
    /// Lists of plugins: for each plugin, the index of its name, and its weight.
    plugins: Vec<Vec<i64>>,
    /// Lists of scores: an index in `plugins`, and the score of each plugin of that list.
    scores: Vec<Vec<i64>>,
    /// For each row with a decision: the numbers of feasible and of best nodes, and for each candidate the indices of
    /// its role, its node and its scores.
    rows: Vec<Option<Vec<usize>>>,
}

/// A number with at most four decimals. Whole numbers have no decimal point, and numbers that JSON does not have are `null`.
#[derive(Clone, Copy)]
struct Number(Option<f64>);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.filter(|number| number.is_finite()) {
            None => serializer.serialize_none(),
            Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => serializer.serialize_i64(number as i64),
            Some(number) => serializer.serialize_f64((number * 1e4).round() / 1e4),
        }
    }
}

fn numbers(values: &[Option<f64>]) -> Numbers {
    let mut distinct = Interned::default();
    let at: Vec<usize> = values.iter().map(|value| distinct.index(value.map(f64::to_bits))).collect();
    match distinct.all.len() * 4 < values.len() {
        true => {
            let distinct = distinct.all.into_iter().map(|bits| Number(bits.map(f64::from_bits))).collect();
            Numbers::Distinct { distinct, at }
        }
        false => Numbers::All(values.iter().map(|value| Number(*value)).collect()),
    }
}

/// Distinct values, with their indices.
struct Interned<T> {
    all: Vec<T>,
    indices: HashMap<T, usize>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Interned { all: Vec::new(), indices: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn index(&mut self, value: T) -> usize {
        *self.indices.entry(value.clone()).or_insert_with(|| {
            self.all.push(value);
            self.all.len() - 1
        })
    }
}

/// All strings of tables and heat maps.
type Strings<'a> = Interned<&'a str>;

impl<'a> Strings<'a> {
    fn view(&mut self, view: &'a View) -> EncodedView<'a> {
        match view {
            View::Lines(lines) => {
                let Lines { title, description, x_label, x_unit, x, unit, series, is_half } = lines;
                let x = x.iter().map(|x| Number(Some(*x))).collect();
                let series = series.iter().map(|series| (series.name.as_str(), numbers(&series.values))).collect();
                EncodedView::Lines {
                    title,
                    description,
                    x_label,
                    x_unit: *x_unit,
                    unit: *unit,
                    x,
                    series,
                    half: *is_half,
                }
            }
            View::Bars(bars) => {
                let Bars { title, description, label, unit, series, bars, empty } = bars;
                let bars = bars.iter().map(|bar| {
                    let values = bar.values.iter().map(|value| Number(Some(*value))).collect();
                    (bar.label.as_str(), values, bar.query.as_deref())
                });
                EncodedView::Bars { title, description, empty, label, unit: *unit, series, bars: bars.collect() }
            }
            View::HeatMap(map) => {
                let HeatMap { title, description, nodes, x_label, x_unit, x, layers, is_half } = map;
                EncodedView::HeatMap {
                    title,
                    description,
                    half: *is_half,
                    nodes: nodes.iter().map(|node| self.index(node)).collect(),
                    x_label,
                    x_unit: *x_unit,
                    x: x.iter().map(|x| Number(Some(*x))).collect(),
                    layers: layers
                        .iter()
                        .map(|layer| {
                            let moments = layer.shares.iter().map(|shares| heat_map::encoded(shares));
                            (layer.name.as_str(), moments.collect())
                        })
                        .collect(),
                }
            }
            View::Table(Table { title, description, columns, decisions, empty }) => EncodedView::Table {
                title,
                description,
                empty,
                rows: columns.first().map_or(0, |column| match &column.values {
                    Values::Text(values) => values.len(),
                    Values::Numbers(values) => values.len(),
                }),
                columns: columns.iter().map(|column| self.column(column)).collect(),
                decisions: (!decisions.is_empty()).then(|| self.decisions(decisions)),
            },
        }
    }

    fn column(&mut self, column: &'a Column) -> EncodedColumn<'a> {
        let (kind, unit, max) = match column.kind {
            Kind::Text => ("text", None, None),
            Kind::Pod => ("pod", None, None),
            Kind::Node => ("node", None, None),
            Kind::Number(unit) => ("number", Some(unit), None),
            Kind::Bar(max, unit) => ("bar", Some(unit), Some(max)),
        };
        let values = match &column.values {
            Values::Text(values) => EncodedValues::Strings(values.iter().map(|value| self.index(value)).collect()),
            Values::Numbers(values) => EncodedValues::Numbers(numbers(values)),
        };
        EncodedColumn { name: &column.name, kind, unit, max, hidden: column.is_hidden, values }
    }

    fn decisions(&mut self, decisions: &'a [Option<Decision>]) -> Decisions {
        let (mut plugins, mut scores) = (Interned::default(), Interned::default());
        let rows = decisions.iter().map(|decision| {
            let Decision { feasible, best, candidates } = decision.as_ref()?;
            let mut row = vec![*feasible, *best];
            for Candidate { role, node, scores: node_scores } in candidates {
                let list =
                    node_scores.iter().flat_map(|score| [self.index(&score.plugin) as i64, score.weight]).collect();
                let mut values = vec![plugins.index(list) as i64];
                values.extend(node_scores.iter().map(|score| score.normalized));
                row.extend([self.index(role), self.index(node), scores.index(values)]);
            }
            Some(row)
        });
        let rows = rows.collect();
        Decisions { plugins: plugins.all, scores: scores.all, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PluginScore;

    #[test]
    fn numbers_are_short() {
        let text = |number| serde_json::to_string(&Number(number)).expect("JSON");
        assert_eq!([1.0, -0.5, 1.0 / 3.0, f64::NAN, 1e18].map(|n| text(Some(n))).join(" "), "1 -0.5 0.3333 null 1e+18");
        assert_eq!(text(None), "null");
    }

    #[test]
    fn repeated_numbers_are_written_once() {
        let text = |values: &[Option<f64>]| serde_json::to_string(&numbers(values)).expect("JSON");
        assert_eq!(text(&[Some(1.0), None]), "[1,null]");
        assert_eq!(text(&[Some(2.5); 5]), r#"{"distinct":[2.5],"at":[0,0,0,0,0]}"#);
    }

    #[test]
    fn strings_and_scores_are_written_once() {
        let score = |normalized| PluginScore { plugin: "Fit".to_owned(), weight: 2, normalized };
        let candidate = |node: &str, normalized| Candidate {
            role: "chosen".to_owned(),
            node: node.to_owned(),
            scores: vec![score(normalized)],
        };
        let decision = Decision { feasible: 3, best: 1, candidates: vec![candidate("n", 9), candidate("m", 8)] };
        let mut table = Table::new("Pods", "", "").with(Column::text("Pod", Kind::Pod, ["a", "b", "a"]));
        table.decisions = vec![Some(decision.clone()), None, Some(decision)];
        let report = Report { views: vec![table.into()], ..Report::default() };
        let page: serde_json::Value = serde_json::from_str(&json(&report).expect("JSON")).expect("JSON");
        assert_eq!(page["strings"], serde_json::json!(["a", "b", "Fit", "chosen", "n", "m"]));
        assert_eq!(page["views"][0]["columns"][0]["values"]["strings"], serde_json::json!([0, 1, 0]));
        let expected = serde_json::json!({
            "plugins": [[2, 2]], "scores": [[0, 9], [0, 8]], "rows": [[3, 1, 3, 4, 0, 3, 5, 1], null, [3, 1, 3, 4, 0, 3, 5, 1]],
        });
        assert_eq!(page["views"][0]["decisions"], expected);
    }
}
