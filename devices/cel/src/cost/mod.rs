//! Costs in Kubernetes' units: the costs of calls at run time, and the estimated cost of an expression.

mod estimate;
mod size;

pub(crate) use estimate::estimate;

use crate::MAX_COST;
use crate::eval::value::Value;

/// Cost per character of reading a string.
const TRAVERSAL: f64 = 0.1;
/// Factor per character of a regular expression, by which the cost of reading the string is multiplied.
const REGEX: f64 = 0.25;
/// Cost of creating a list.
pub(crate) const LIST: u64 = 10;
/// Cost of creating a map.
pub(crate) const MAP: u64 = 30;

/// How the cost of a call depends on its arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// One unit.
    One,
    /// Size of the first argument, times a factor, rounded up.
    Traversal(f64),
    /// Cost of reading everything in the first argument.
    Contents,
    /// Cost of reading both arguments.
    Concatenation,
    /// Cost of reading the smaller argument.
    Comparison,
    /// As `Comparison`, but one unit for Kubernetes' own types.
    Equality,
    /// Number of elements of the second argument.
    Membership,
    Regex,
    Contains,
    /// Cost of reading the result twice, known after the call.
    Result,
    /// Test whether a network contains an address. `text`: the address is given as text.
    ContainsIp {
        text: bool,
    },
    ContainsCidr {
        text: bool,
    },
    Validate,
    Range,
    Slice,
    Reverse,
    Flatten,
    /// Comparison of each element with each other element, for the list at this argument position.
    SelfComparison(usize),
    /// Product of two lists' sizes, times a factor.
    Sets(u64),
}

impl Rule {
    /// Returns the rule for a function, given the signature if only one is possible.
    pub(crate) fn new(function: &str, overload: Option<&str>) -> Rule {
        match function {
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => Rule::Contents,
            "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "quantity"
            | "isQuantity" | "semver" | "isSemver" => Rule::Traversal(TRAVERSAL),
            "ip" if overload != Some("cidr_ip") => Rule::Traversal(TRAVERSAL),
            "replace" | "split" | "ip.isCanonical" => Rule::Traversal(2.0 * TRAVERSAL),
            "join" => Rule::Result,
            "find" | "findAll" => Rule::Regex,
            "containsIP" => Rule::ContainsIp { text: overload == Some("cidr_contains_ip_string") },
            "containsCIDR" => Rule::ContainsCidr { text: overload == Some("cidr_contains_cidr_string") },
            "validate" => Rule::Validate,
            "_==_" => Rule::Equality,
            _ => match overload {
                Some(
                    "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string" | "strings_quote"
                    | "string_format",
                ) => Rule::Traversal(TRAVERSAL),
                Some("in_list") => Rule::Membership,
                Some("order_string" | "order_bytes" | "not_equals") => Rule::Comparison,
                Some("add_string" | "add_bytes") => Rule::Concatenation,
                Some("matches_string") => Rule::Regex,
                Some("contains_string") => Rule::Contains,
                Some("list_slice") => Rule::Slice,
                Some("list_flatten" | "list_flatten_int") => Rule::Flatten,
                Some("lists_range") => Rule::Range,
                Some("list_reverse") => Rule::Reverse,
                Some("list_distinct" | "list_sort" | "list_sort_text") => Rule::SelfComparison(0),
                Some("list_sort_by" | "list_sort_by_text") => Rule::SelfComparison(1),
                Some("list_sets_contains_list" | "list_sets_intersects_list") => Rule::Sets(1),
                Some("list_sets_equivalent_list") => Rule::Sets(2),
                _ => Rule::One,
            },
        }
    }

    /// Returns the cost of a call, except for the part that depends on its result.
    pub(crate) fn before(self, arguments: &[Value<'_>]) -> u64 {
        let size = |index: usize| arguments.get(index).map_or(1, Value::size);
        let integer = |index: usize| match arguments.get(index) {
            Some(Value::Int(value)) => u64::try_from(*value).unwrap_or(0),
            _ => 0,
        };
        let list = |elements: u64| elements.saturating_add(1 + LIST);
        match self {
            Rule::One => 1,
            Rule::Result => 0,
            Rule::Traversal(factor) => scaled(size(0), factor),
            Rule::Contents => arguments.first().map_or(0, contents),
            Rule::Concatenation => scaled(size(0).saturating_add(size(1)), TRAVERSAL),
            Rule::Comparison => scaled(size(0).min(size(1)), TRAVERSAL),
            Rule::Equality => match arguments.first() {
                Some(
                    Value::Quantity(_)
                    | Value::Version(_)
                    | Value::Ip(_)
                    | Value::Cidr(_)
                    | Value::Url(_)
                    | Value::Format(_),
                ) => 1,
                _ => scaled(size(0).min(size(1)), TRAVERSAL),
            },
            Rule::Membership => size(1),
            Rule::Regex => scaled(size(0).saturating_add(1), TRAVERSAL).saturating_mul(scaled(size(1), REGEX)),
            Rule::Contains => scaled(size(0), TRAVERSAL).saturating_mul(scaled(size(1), TRAVERSAL)),
            Rule::ContainsIp { text } => {
                let parsing = if text { scaled(size(1), TRAVERSAL) } else { 0 };
                scaled(2 * size(0), TRAVERSAL) + parsing
            }
            Rule::ContainsCidr { text } => {
                let parsing = if text { scaled(size(1), TRAVERSAL) } else { 0 };
                scaled(2 * size(0), TRAVERSAL) + scaled(size(0), TRAVERSAL) + 1 + parsing
            }
            Rule::Validate => match arguments.first() {
                Some(Value::Format(format)) => {
                    scaled(size(1).saturating_add(1), TRAVERSAL).saturating_mul(scaled(format.regex_size, REGEX))
                }
                _ => 1,
            },
            Rule::Range => list(integer(0)),
            Rule::Slice => list(integer(2).saturating_sub(integer(1))),
            Rule::Reverse => list(size(0)),
            Rule::Flatten => list(size(0).saturating_mul(if arguments.len() == 2 { integer(1) } else { 1 })),
            Rule::SelfComparison(index) => {
                let Some(Value::List(elements)) = arguments.get(index) else { return 1 };
                let is_text = matches!(elements.get(0), Some(Value::String(_) | Value::Bytes(_)));
                let pairs = (elements.len() as u64).saturating_mul(elements.len() as u64);
                list((pairs as f64 * if is_text { 2.0 + TRAVERSAL } else { 2.0 }) as u64)
            }
            Rule::Sets(factor) => size(0).saturating_mul(size(1)).saturating_mul(factor).saturating_add(1),
        }
    }

    /// Returns the part of the cost that depends on the result of a call.
    pub(crate) fn after(self, result: &Value<'_>) -> u64 {
        if self == Rule::Result { scaled(result.size(), 2.0 * TRAVERSAL) } else { 0 }
    }
}

/// Returns the product, rounded up.
fn scaled(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

/// Returns the cost of reading everything in a value.
fn contents(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => (text.len() as f64 * TRAVERSAL) as u64,
        Value::Bytes(bytes) => (bytes.len() as f64 * TRAVERSAL) as u64,
        // The cost exceeds the limit of an evaluation, unless almost all elements are empty.
        Value::List(list) if list.len() as u64 > 2 * MAX_COST => u64::MAX,
        // A nested list costs its number of elements, so this computation is linear in the length of the outer list.
        Value::List(list) => list.iter().map(shallow_contents).fold(0, u64::saturating_add),
        other => shallow_contents(other),
    }
}

fn shallow_contents(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => (text.len() as f64 * TRAVERSAL) as u64,
        Value::Bytes(bytes) => (bytes.len() as f64 * TRAVERSAL) as u64,
        Value::List(_) | Value::Map(_) | Value::Domains(_) | Value::Domain(_) => value.size(),
        _ => 1,
    }
}
