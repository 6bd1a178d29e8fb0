//! Metric definitions: name, type and labels.

/// Metric family: all series of one name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family {
    /// Name; kube-scheduler's, if it has the metric.
    pub name: &'static str,
    /// Type.
    pub kind: MetricType,
    /// Label names, sorted.
    pub labels: &'static [&'static str],
    /// Stability level of Kubernetes, which precedes the help text.
    pub stability: Stability,
    /// Help text.
    pub help: &'static str,
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricType {
    /// Counter.
    Counter,
    /// Gauge.
    Gauge,
    /// Histogram.
    Histogram(Buckets),
}

impl MetricType {
    /// Returns the type name in a `# TYPE` line.
    pub const fn name(self) -> &'static str {
        match self {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Histogram(_) => "histogram",
        }
    }
}

/// Upper bounds of the buckets, without infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buckets {
    /// `count` bounds, each the previous one times `factor`.
    Exponential {
        /// First bound.
        start: f64,
        /// Factor.
        factor: f64,
        /// Number of bounds.
        count: usize,
    },
    /// Explicit bounds.
    Explicit(&'static [f64]),
}

impl Buckets {
    /// Returns the bounds. They are multiplied one by one, as in Go, since labels contain all digits.
    pub fn bounds(self) -> Vec<f64> {
        match self {
            Buckets::Explicit(bounds) => bounds.to_vec(),
            Buckets::Exponential { start, factor, count } => {
                std::iter::successors(Some(start), |bound| Some(bound * factor)).take(count).collect()
            }
        }
    }
}

/// Stability level of a metric in Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stability {
    /// No guarantee.
    Alpha,
    /// Labels are stable.
    Beta,
    /// The metric is stable.
    Stable,
    /// Not a metric of Kubernetes; the help text has no prefix.
    None,
}

impl Stability {
    /// Returns the name of the level.
    pub const fn name(self) -> &'static str {
        match self {
            Stability::Alpha => "ALPHA",
            Stability::Beta => "BETA",
            Stability::Stable => "STABLE",
            Stability::None => "",
        }
    }
}

impl Family {
    /// Defines a counter.
    pub const fn counter(
        name: &'static str,
        labels: &'static [&'static str],
        stability: Stability,
        help: &'static str,
    ) -> Family {
        Family { name, kind: MetricType::Counter, labels, stability, help }
    }
    /// Defines a gauge.
    pub const fn gauge(
        name: &'static str,
        labels: &'static [&'static str],
        stability: Stability,
        help: &'static str,
    ) -> Family {
        Family { name, kind: MetricType::Gauge, labels, stability, help }
    }
    /// Defines a histogram.
    pub const fn histogram(
        name: &'static str,
        labels: &'static [&'static str],
        buckets: Buckets,
        stability: Stability,
        help: &'static str,
    ) -> Family {
        Family { name, kind: MetricType::Histogram(buckets), labels, stability, help }
    }
}
