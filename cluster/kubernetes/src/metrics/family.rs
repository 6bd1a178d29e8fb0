//! What a metric is: its name, its type, its labels.

/// All series of one name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family {
    /// kube-scheduler's name for it.
    pub name: &'static str,
    /// What its series are.
    pub kind: MetricType,
    /// The names of its labels, sorted.
    pub labels: &'static [&'static str],
    /// What Kubernetes promises of it, which is repeated before the help.
    pub stability: Stability,
    /// A sentence.
    pub help: &'static str,
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricType {
    /// It grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// How often something was in which range.
    Histogram(Buckets),
}

impl MetricType {
    /// The word in a `# TYPE` line.
    pub const fn name(self) -> &'static str {
        match self {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Histogram(_) => "histogram",
        }
    }
}

/// The upper bounds of the ranges, without the last, which has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buckets {
    /// So many, each the factor times the one before.
    Exponential {
        /// The first.
        start: f64,
        /// What the next is multiplied with.
        factor: f64,
        /// How many.
        count: usize,
    },
    /// These.
    Explicit(&'static [f64]),
}

impl Buckets {
    /// The bounds. They are multiplied one by one, as Go does: the last digits are in the labels.
    pub fn bounds(self) -> Vec<f64> {
        match self {
            Buckets::Explicit(bounds) => bounds.to_vec(),
            Buckets::Exponential { start, factor, count } => {
                std::iter::successors(Some(start), |bound| Some(bound * factor)).take(count).collect()
            }
        }
    }
}

/// What Kubernetes promises of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stability {
    /// Nothing.
    Alpha,
    /// Labels stay.
    Beta,
    /// It stays.
    Stable,
    /// It is not Kubernetes' own, and nothing is written before its help.
    None,
}

impl Stability {
    /// The word.
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
    /// A counter.
    pub const fn counter(
        name: &'static str,
        labels: &'static [&'static str],
        stability: Stability,
        help: &'static str,
    ) -> Family {
        Family { name, kind: MetricType::Counter, labels, stability, help }
    }
    /// A gauge.
    pub const fn gauge(
        name: &'static str,
        labels: &'static [&'static str],
        stability: Stability,
        help: &'static str,
    ) -> Family {
        Family { name, kind: MetricType::Gauge, labels, stability, help }
    }
    /// A histogram.
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
