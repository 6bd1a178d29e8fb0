//! The file with the mapping of a trace.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schedc_bounds::text::shortened;
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::TraceError;
use super::text::Text;

/// Replacements of values, by name of the map.
pub(super) type Maps = BTreeMap<String, BTreeMap<String, String>>;

/// A mapping.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mapping {
    /// Sources of nodes.
    pub(super) nodes: Vec<NodeMapping>,
    /// Sources of pods.
    pub(super) pods: Vec<PodMapping>,
    /// Replacements of values, by name.
    #[serde(default)]
    pub(super) maps: Maps,
}

/// Mapping of nodes: one node for each row of `file`, or `count` equal nodes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct NodeMapping {
    pub(super) file: Option<String>,
    pub(super) count: Option<u64>,
    #[serde(default)]
    pub(super) only: BTreeMap<String, Vec<String>>,
    pub(super) name: Text,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, Text>,
    pub(super) allocatable: BTreeMap<String, Amount>,
}

/// Mapping of pods: one pod for each row of `file`, or `count` equal pods.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PodMapping {
    pub(super) file: Option<String>,
    pub(super) count: Option<u64>,
    #[serde(default)]
    pub(super) only: BTreeMap<String, Vec<String>>,
    pub(super) name: Text,
    pub(super) namespace: Option<Text>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, Text>,
    pub(super) requests: BTreeMap<String, Amount>,
    pub(super) priority: Option<Text>,
    /// Labels that the pod's node must have, each with a value, or several allowed values separated by `|`.
    #[serde(default)]
    pub(super) node_labels: BTreeMap<String, Text>,
    #[serde(default)]
    pub(super) owner: Owner,
    pub(super) time_unit: TimeUnit,
    pub(super) created: Text,
    pub(super) started: Option<Text>,
    pub(super) ended: Option<Text>,
    /// Other fields of the spec.
    #[serde(default)]
    pub(super) spec: BTreeMap<String, Value>,
}

/// Unit of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum TimeUnit {
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "us")]
    Microseconds,
    #[serde(rename = "ms")]
    Milliseconds,
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "min")]
    Minutes,
    #[serde(rename = "h")]
    Hours,
    #[serde(rename = "d")]
    Days,
    /// Dates such as `2026-01-01T00:00:00Z`.
    #[serde(rename = "date")]
    Date,
}

/// Owner of the pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Owner {
    /// No owner: preempted and evicted pods are not replaced.
    #[default]
    None,
    /// A Job: the replacement of a pod runs for the whole time again.
    Job,
    /// Any other controller: the replacement of a pod runs for the rest of the pod's time.
    ReplicaSet,
}

/// An amount of a resource: a quantity, or a product.
#[derive(Debug)]
pub(super) enum Amount {
    /// A quantity.
    Quantity(Text),
    /// The product of several quantities.
    Product(Vec<Text>),
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AmountVisitor;

        impl<'de> Visitor<'de> for AmountVisitor {
            type Value = Amount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity as text, or a list of quantities")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Amount, E> {
                Text::deserialize(StrDeserializer::new(text)).map(Amount::Quantity)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Amount, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Amount::Product)
            }
        }

        deserializer.deserialize_any(AmountVisitor)
    }
}

impl Mapping {
    /// Parses the file.
    pub(super) fn parse(file: &Arc<str>, text: &str) -> Result<Mapping, TraceError> {
        let mapping: Mapping = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
            TraceError::new(file, line as u64, shortened(error.message(), 400))
        })?;
        if mapping.pods.is_empty() || mapping.nodes.is_empty() {
            return Err(TraceError::new(file, 0, "a mapping needs [[nodes]] and [[pods]]"));
        }
        let dates: Vec<bool> = mapping.pods.iter().map(|pods| pods.time_unit.has_dates()).collect();
        if dates.iter().any(|has_dates| *has_dates != dates[0]) {
            return Err(TraceError::new(
                file,
                0,
                "either all [[pods]] have dates (`time-unit = \"date\"`), or none of them",
            ));
        }
        Ok(mapping)
    }
}
