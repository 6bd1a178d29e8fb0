//! Prometheus' text format.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::family::{Family, MetricType, Stability};
use super::number::Number;
use super::values::Histogram;

/// Metrics of one response: families by name, series by labels.
#[derive(Debug)]
pub(crate) struct Exposition<'a> {
    disabled: &'a BTreeSet<String>,
    families: BTreeMap<&'static str, (&'static Family, Vec<String>)>,
}

impl<'a> Exposition<'a> {
    /// Creates an exposition without series. It ignores series of the disabled families.
    pub(crate) fn new(disabled: &'a BTreeSet<String>) -> Self {
        Exposition { disabled, families: BTreeMap::new() }
    }

    /// Adds a series of a counter or gauge. Label values are in the order of the family's labels.
    pub(crate) fn number(&mut self, family: &'static Family, values: &[&str], number: f64) {
        let line = format!("{}{} {}\n", family.name, labels(family, values, None), Number(number));
        self.add(family, line);
    }

    /// Adds a series of a histogram.
    pub(crate) fn histogram(&mut self, family: &'static Family, values: &[&str], histogram: &Histogram) {
        let MetricType::Histogram(buckets) = family.kind else { return };
        let (counts, total) = histogram.cumulative();
        let name = family.name;
        let mut text = String::new();
        let bounds = buckets.bounds().into_iter().zip(counts).chain([(f64::INFINITY, total)]);
        for (bound, count) in bounds {
            let labels = labels(family, values, Some(&Number(bound).to_string()));
            write_line(&mut text, format_args!("{name}_bucket{labels} {count}"));
        }
        let labels = labels(family, values, None);
        write_line(&mut text, format_args!("{name}_sum{labels} {}", Number(histogram.sum())));
        write_line(&mut text, format_args!("{name}_count{labels} {total}"));
        self.add(family, text);
    }

    fn add(&mut self, family: &'static Family, text: String) {
        if !self.disabled.contains(family.name) {
            self.families.entry(family.name).or_insert_with(|| (family, Vec::new())).1.push(text);
        }
    }

    pub(crate) fn text(self) -> String {
        let mut text = String::new();
        for (name, (family, mut series)) in self.families {
            let stability = match family.stability {
                Stability::None => String::new(),
                stability => format!("[{}] ", stability.name()),
            };
            let help = escaped(family.help, false);
            write_line(&mut text, format_args!("# HELP {name} {stability}{help}"));
            write_line(&mut text, format_args!("# TYPE {name} {}", family.kind.name()));
            series.sort_unstable();
            text.extend(series);
        }
        text
    }
}

fn write_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing into a string cannot fail.
    let _written = writeln!(text, "{line}");
}

fn labels(family: &Family, values: &[&str], bound: Option<&str>) -> String {
    let labels = family.labels.iter().copied().zip(values.iter().copied()).chain(bound.map(|bound| ("le", bound)));
    let labels: Vec<_> = labels.map(|(name, value)| format!("{name}=\"{}\"", escaped(value, true))).collect();
    if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) }
}

fn escaped(text: &str, in_quotes: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    if in_quotes { text.replace('"', "\\\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::family::Buckets;

    static PODS: Family = Family::gauge("pods", &["queue"], Stability::Stable, "How\nmany.");
    static TIME: Family =
        Family::histogram("time_seconds", &["of"], Buckets::Explicit(&[0.00001, 2.0]), Stability::None, "How long.");

    #[test]
    fn families_and_series_are_sorted_in_prometheus_format() {
        let none = BTreeSet::new();
        let mut exposition = Exposition::new(&none);
        let time = Histogram::new(&TIME);
        time.observe(1_500_000_000);
        exposition.histogram(&TIME, &["x"], &time);
        exposition.number(&PODS, &["b\"\\"], 1e6);
        exposition.number(&PODS, &["a"], 0.0);
        let expected = r#"# HELP pods [STABLE] How\nmany.
# TYPE pods gauge
pods{queue="a"} 0
pods{queue="b\"\\"} 1e+06
# HELP time_seconds How long.
# TYPE time_seconds histogram
time_seconds_bucket{of="x",le="1e-05"} 0
time_seconds_bucket{of="x",le="2"} 1
time_seconds_bucket{of="x",le="+Inf"} 1
time_seconds_sum{of="x"} 1.5
time_seconds_count{of="x"} 1
"#;
        assert_eq!(exposition.text(), expected);
    }

    #[test]
    fn disabled_families_are_left_out() {
        let disabled = BTreeSet::from(["pods".to_owned()]);
        let mut exposition = Exposition::new(&disabled);
        exposition.number(&PODS, &["a"], 0.0);
        assert_eq!(exposition.text(), "");
    }
}
