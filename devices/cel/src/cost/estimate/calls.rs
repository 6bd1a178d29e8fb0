//! Estimates of calls.

use super::super::size::{EntrySizes, Range};
use super::super::{LIST, REGEX, TRAVERSAL};
use super::Estimator;
use crate::check::types::{CIDR, Constructor, FORMAT, IP, QUANTITY, SEMVER, Type, URL};
use crate::syntax::ast::{Expr, Literal, NodeId};

/// Length of the longest regular expression of a named format.
const MAX_FORMAT_REGEX: f64 = 128.0;
/// Length of the longest name of a format.
const MAX_FORMAT: u64 = 64;
/// Maximum number of values that `includes` compares.
const MAX_INCLUDES: u64 = 48;

/// Call to estimate.
#[derive(Clone, Copy)]
struct Call<'c> {
    id: NodeId,
    function: &'c str,
    overload: &'c str,
    target: Option<NodeId>,
    arguments: &'c [NodeId],
    costs: &'c [Range],
}

/// Cost of a call, and size of its result. The estimates of [`Estimator::operator`] include the costs of the operands.
/// To all others, the caller adds them.
type Estimate = (Range, Option<Range>);

impl Estimator<'_> {
    pub(super) fn call(&mut self, id: NodeId, function: &str, target: Option<NodeId>, arguments: &[NodeId]) -> Range {
        if let ("dyn", [argument]) = (function, arguments) {
            let cost = self.cost(*argument);
            let (size, entries) = (self.size(*argument), self.entry_sizes(*argument));
            self.set_size(id, size);
            self.set_entries(id, entries);
            return cost.plus(Range::ONE);
        }
        let costs: Vec<Range> = arguments.iter().map(|argument| self.cost(*argument)).collect();
        let Some(resolution) = self.checked.call(id).cloned() else { return Range::ZERO };
        let target_cost = target.map_or(Range::ZERO, |target| self.cost(target));
        let operands = costs.iter().fold(Range::ZERO, |sum, cost| sum.plus(*cost));
        let mut total = Range { min: u64::MAX, max: 0 };
        let mut size: Option<Range> = None;
        for overload in resolution.overloads {
            let call = Call { id, function, overload: overload.id, target, arguments, costs: &costs };
            let (cost, result) = match self.operator(call) {
                Some(estimate) => estimate,
                None => {
                    let (cost, result) = self.library(call).unwrap_or_else(|| self.standard(call));
                    (cost.plus(operands), result)
                }
            };
            total = total.union(cost);
            size = match (size, result) {
                (Some(size), Some(result)) => Some(size.union(result)),
                (size, result) => size.or(result),
            };
            if let ("index_list" | "index_map", Some(container)) = (overload.id, arguments.first()) {
                size = self.entry_sizes(*container).map(|entries| entries.value);
                self.shapes[id.0] = self.shape(*container).and_then(super::Shape::element);
            }
            size = size.or_else(|| self.size(id));
        }
        self.set_size(id, size);
        target_cost.plus(total)
    }

    /// Estimates an operator that evaluates only some of its operands. The cost includes that of the operands.
    fn operator(&mut self, call: Call<'_>) -> Option<Estimate> {
        match call.overload {
            "logical_and" | "logical_or" => {
                let sum = call.costs.iter().fold(Range::ZERO, |sum, cost| sum.plus(*cost));
                Some((Range { min: call.costs.first().map_or(0, |cost| cost.min), max: sum.max }, None))
            }
            "conditional" => {
                let (&[_, yes, no], &[condition, yes_cost, no_cost]) = (call.arguments, call.costs) else {
                    return None;
                };
                let entries = EntrySizes::union(self.entry_sizes(yes), self.entry_sizes(no));
                self.set_entries(call.id, entries);
                let size = self.size_or_unknown(yes).union(self.size_or_unknown(no));
                Some((condition.plus(yes_cost.union(no_cost)), Some(size)))
            }
            _ => None,
        }
    }

    /// Returns the value of an integer literal, 0 if it is negative, and `default` for any other expression.
    fn literal_or(&self, id: NodeId, default: u64) -> u64 {
        match self.ast.expr(id) {
            Expr::Literal(Literal::Int(value)) => u64::try_from(*value).unwrap_or(0),
            _ => default,
        }
    }

    /// Returns the type of a list's elements.
    fn element_type(&self, id: NodeId) -> Option<&Type> {
        self.ty(id).parameters(Constructor::List).map(|parameters| &parameters[0])
    }

    /// Returns the size of a list's elements. It is known only if the list is part of the variable `device`.
    fn element_size(&self, id: NodeId) -> Range {
        let shape = self.shape(id).and_then(super::Shape::element);
        shape.map_or(Range::UNKNOWN, |shape| Range::up_to(shape.max_size()))
    }

    /// Estimates a function of Kubernetes or of CEL's extensions.
    fn library(&self, call: Call<'_>) -> Option<Estimate> {
        let size = |id: NodeId| self.size_or_unknown(id);
        let first = call.arguments.first().copied();
        let read = |id: NodeId| (size(id).scaled(TRAVERSAL), None);
        let ip = Range { min: 4, max: 16 };
        if let Some(estimate) = self.list_extension(call) {
            return Some(estimate);
        }
        Some(match (call.function, call.target, first) {
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(target), _) => {
                let Some(element) = self.element_type(target) else { return Some(read(target)) };
                let mut each = Range::ONE;
                if matches!(element, Type::String | Type::Bytes) {
                    each = each.plus(self.element_size(target).scaled(TRAVERSAL));
                }
                (size(target).times(each), None)
            }
            ("includes", Some(_), _) => (Range::up_to(MAX_INCLUDES), None),
            ("url", None, Some(text)) => (size(text).scaled(TRAVERSAL), Some(size(text))),
            ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(target), _) => {
                (size(target).scaled(TRAVERSAL), Some(size(target)))
            }
            ("replace", Some(target), _) if call.arguments.len() >= 2 => {
                let result = replaced(size(target), size(call.arguments[0]), size(call.arguments[1]));
                (size(target).scaled(2.0 * TRAVERSAL), Some(result))
            }
            ("split", Some(target), _) => {
                let limit =
                    call.arguments.get(1).map_or(size(target).max, |limit| self.literal_or(*limit, size(target).max));
                (size(target).scaled(2.0 * TRAVERSAL), Some(Range::up_to(limit)))
            }
            ("join", Some(target), separator) => {
                let mut joined = size(target).times(self.element_size(target));
                if let Some(separator) = separator {
                    let Range { min, max } = size(target);
                    let separators = Range { min: min.saturating_sub(1), max: max.saturating_sub(1) };
                    joined = joined.plus(size(separator).times(separators));
                }
                (joined.scaled(TRAVERSAL), Some(joined))
            }
            ("find" | "findAll", Some(target), Some(pattern)) => {
                let text = size(target).plus(Range::ONE).scaled(TRAVERSAL);
                (text.times(size(pattern).scaled(REGEX)), Some(Range::up_to(size(target).max)))
            }
            ("ip", ..) if call.overload == "cidr_ip" => (Range::ONE, None),
            ("cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver", _, Some(text)) => {
                read(text)
            }
            ("ip.isCanonical", _, Some(text)) => (size(text).scaled(2.0 * TRAVERSAL), None),
            ("containsIP", _, Some(other)) => {
                let mut cost = ip.plus(ip).scaled(TRAVERSAL);
                if call.overload == "cidr_contains_ip_string" {
                    cost = cost.plus(size(other).scaled(TRAVERSAL));
                }
                (cost, None)
            }
            ("containsCIDR", _, Some(other)) => {
                let mut cost = ip.plus(ip).scaled(TRAVERSAL).plus(ip.scaled(TRAVERSAL)).plus(Range::ONE);
                if call.overload == "cidr_contains_cidr_string" {
                    cost = cost.plus(size(other).scaled(TRAVERSAL));
                }
                (cost, None)
            }
            ("validate", _, Some(text)) => (size(text).scaled(TRAVERSAL).scaled(MAX_FORMAT_REGEX * REGEX), None),
            ("_==_", _, Some(a)) if self.ty(a) == self.ty(call.arguments[1]) => {
                let ty = self.ty(a);
                match ty {
                    _ if [IP, CIDR, QUANTITY, SEMVER].contains(ty) => (Range::ONE, None),
                    _ if *ty == FORMAT => (Range { min: 1, max: MAX_FORMAT }.scaled(TRAVERSAL), None),
                    _ if *ty == URL => {
                        let max = self.size(call.arguments[1]).map_or(1, |size| size.max);
                        (Range { min: 1, max }.scaled(TRAVERSAL), None)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// Estimates a function that creates a list or compares all elements.
    fn list_extension(&self, call: Call<'_>) -> Option<Estimate> {
        let created = |factor: f64, size: Range| Some((size.scaled(factor).plus(Range::exactly(1 + LIST)), Some(size)));
        let size = |id: Option<NodeId>| id.map_or(Range::UNKNOWN, |id| self.size_or_unknown(id));
        let target = size(call.target);
        let argument = |index: usize| call.arguments.get(index).copied();
        match call.overload {
            "list_slice" => {
                let from = argument(0).map_or(0, |from| self.literal_or(from, 0));
                let to = argument(1).map_or(target.max, |to| self.literal_or(to, target.max));
                created(1.0, Range::exactly(to.wrapping_sub(from)))
            }
            "lists_range" => {
                created(1.0, Range::exactly(argument(0).map_or(u64::MAX, |end| self.literal_or(end, u64::MAX))))
            }
            "list_reverse" => created(1.0, target),
            "list_flatten" => created(1.0, target),
            "list_flatten_int" => {
                created(argument(0).map_or(u64::MAX, |depth| self.literal_or(depth, u64::MAX)) as f64, target)
            }
            "list_distinct" | "list_sort" => created(2.0, target.times(target)),
            "list_sort_text" => created(2.0 + TRAVERSAL, target.times(target)),
            "list_sort_by" => created(2.0, size(argument(0)).times(size(argument(0)))),
            "list_sort_by_text" => created(2.0 + TRAVERSAL, size(argument(0)).times(size(argument(0)))),
            "list_sets_contains_list" | "list_sets_intersects_list" => {
                Some((size(argument(0)).times(size(argument(1))).plus(Range::ONE), None))
            }
            "list_sets_equivalent_list" => {
                Some((size(argument(0)).times(size(argument(1))).scaled(2.0).plus(Range::ONE), None))
            }
            _ => None,
        }
    }

    /// Estimates a call of one of CEL's standard functions.
    fn standard(&mut self, call: Call<'_>) -> Estimate {
        let arguments = call.arguments;
        let size = |id: NodeId| self.size_or_unknown(id);
        match (call.overload, call.target, arguments) {
            ("string_format", Some(target), _) => (size(target).scaled(TRAVERSAL), None),
            ("string_to_bytes", _, [text]) => {
                let Range { min, max } = size(*text);
                (size(*text).scaled(TRAVERSAL), Some(Range { min, max: max.saturating_mul(4) }))
            }
            ("bytes_to_string", _, [bytes]) => {
                let Range { min, max } = size(*bytes);
                (size(*bytes).scaled(TRAVERSAL), Some(Range { min: min / 4, max }))
            }
            ("strings_quote", _, [text]) => {
                let Range { min, max } = size(*text);
                let result = Range { min: min.saturating_add(2), max: max.saturating_mul(2).saturating_add(2) };
                (size(*text).scaled(TRAVERSAL), Some(result))
            }
            ("starts_with_string" | "ends_with_string", _, [part]) => (size(*part).scaled(TRAVERSAL), None),
            ("in_list", _, [_, list]) => (size(*list), None),
            ("matches_string", Some(target), [pattern]) => {
                let text = size(target).plus(Range::ONE).scaled(TRAVERSAL);
                (text.times(size(*pattern).scaled(REGEX)), None)
            }
            ("contains_string", Some(target), [part]) => {
                (size(target).scaled(TRAVERSAL).times(size(*part).scaled(TRAVERSAL)), None)
            }
            ("add_string" | "add_bytes" | "add_list", _, [a, b]) => {
                let result = size(*a).plus(size(*b));
                let entries = EntrySizes::union(self.entry_sizes(*a), self.entry_sizes(*b));
                self.set_entries(call.id, entries);
                let cost = if call.overload == "add_list" { Range::ONE } else { result.scaled(TRAVERSAL) };
                (cost, Some(result))
            }
            ("order_string" | "order_bytes" | "equals" | "not_equals", _, [a, b]) => {
                let max = size(*a).max.min(size(*b).max);
                (Range { min: u64::from(max > 0), max }.scaled(TRAVERSAL), None)
            }
            _ => (Range::ONE, None),
        }
    }
}

/// Returns the size of `text` after `old` is replaced by `new`.
fn replaced(text: Range, old: Range, new: Range) -> Range {
    let (mut count, mut kept) = (Range::ZERO, Range::ZERO);
    if old.min == 0 {
        count.max = text.max.saturating_add(1);
        kept.max = text.max;
    } else if new.max <= old.min {
        kept.max = text.max;
    } else {
        count.max = (text.max as f64 / old.min as f64).ceil() as u64;
    }
    if old.max == 0 {
        count.min = text.min.saturating_add(1);
        kept.min = text.min;
    } else if old.max <= new.min {
        kept.min = text.min;
    } else {
        count.min = (text.min as f64 / old.max as f64).ceil() as u64;
    }
    count.times(new).plus(kept)
}
