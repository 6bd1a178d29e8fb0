//! The fields of kube-scheduler's argument types (k8s.io/kube-scheduler/config/v1).

/// Shape of a field.
pub(crate) enum Shape {
    Bool,
    Int { bits: u32 },
    Str,
    List(&'static Shape),
    Map(&'static [(&'static str, Shape)]),
}

impl Shape {
    /// Returns a description of the shape.
    pub(super) fn description(&self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int { .. } => "a whole number",
            Self::Str => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map of fields",
        }
    }
}

use Shape::{Bool, List, Map, Str};

const INT32: Shape = Shape::Int { bits: 32 };
const INT64: Shape = Shape::Int { bits: 64 };
const STRINGS: Shape = List(&Str);

/// Returns the fields of a plugin's arguments; `None` if it has no arguments or is out-of-tree.
pub(super) fn of(plugin: &str) -> Option<&'static [(&'static str, Shape)]> {
    Some(match plugin {
        "DefaultPreemption" => &[("minCandidateNodesPercentage", INT32), ("minCandidateNodesAbsolute", INT32)],
        "DynamicResources" => &[("filterTimeout", Str), ("bindingTimeout", Str)],
        "InterPodAffinity" => &[("hardPodAffinityWeight", INT32), ("ignorePreferredTermsOfExistingPods", Bool)],
        "NodeAffinity" => &[("addedAffinity", NODE_AFFINITY)],
        "NodeResourcesBalancedAllocation" => &[("resources", RESOURCES)],
        "NodeResourcesFit" => {
            &[("ignoredResources", STRINGS), ("ignoredResourceGroups", STRINGS), ("scoringStrategy", SCORING_STRATEGY)]
        }
        "PodTopologySpread" => &[("defaultConstraints", List(&SPREAD_CONSTRAINT)), ("defaultingType", Str)],
        "VolumeBinding" => &[("bindTimeoutSeconds", INT64), ("shape", SHAPE)],
        _ => return None,
    })
}

/// The fields of an extender.
pub(crate) const EXTENDER: &[(&str, Shape)] = &[
    ("urlPrefix", Str),
    ("filterVerb", Str),
    ("preemptVerb", Str),
    ("prioritizeVerb", Str),
    ("weight", INT64),
    ("bindVerb", Str),
    ("enableHTTPS", Bool),
    ("tlsConfig", TLS),
    ("httpTimeout", Str),
    ("nodeCacheCapable", Bool),
    ("managedResources", List(&Map(&[("name", Str), ("ignoredByScheduler", Bool)]))),
    ("ignorable", Bool),
];

const TLS: Shape = Map(&[
    ("insecure", Bool),
    ("serverName", Str),
    ("certFile", Str),
    ("keyFile", Str),
    ("caFile", Str),
    ("certData", Str),
    ("keyData", Str),
    ("caData", Str),
]);

const RESOURCES: Shape = List(&Map(&[("name", Str), ("weight", INT64)]));
const SHAPE: Shape = List(&Map(&[("utilization", INT32), ("score", INT32)]));
const SCORING_STRATEGY: Shape =
    Map(&[("type", Str), ("resources", RESOURCES), ("requestedToCapacityRatio", Map(&[("shape", SHAPE)]))]);

const NODE_AFFINITY: Shape = Map(&[
    ("requiredDuringSchedulingIgnoredDuringExecution", Map(&[("nodeSelectorTerms", List(&NODE_SELECTOR_TERM))])),
    (
        "preferredDuringSchedulingIgnoredDuringExecution",
        List(&Map(&[("weight", INT32), ("preference", NODE_SELECTOR_TERM)])),
    ),
]);
const NODE_SELECTOR_TERM: Shape = Map(&[("matchExpressions", REQUIREMENTS), ("matchFields", REQUIREMENTS)]);
const REQUIREMENTS: Shape = List(&Map(&[("key", Str), ("operator", Str), ("values", STRINGS)]));

const SPREAD_CONSTRAINT: Shape = Map(&[
    ("maxSkew", INT32),
    ("topologyKey", Str),
    ("whenUnsatisfiable", Str),
    ("labelSelector", Map(&[("matchLabels", ANY_MAP), ("matchExpressions", REQUIREMENTS)])),
    ("minDomains", INT32),
    ("nodeAffinityPolicy", Str),
    ("nodeTaintsPolicy", Str),
    ("matchLabelKeys", STRINGS),
]);
/// The keys are not listed, because a constraint with a selector is an error anyway.
const ANY_MAP: Shape = Map(&[]);
