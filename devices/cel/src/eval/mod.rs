//! Evaluation of compiled expressions.
//!
//! The recursion is as deep as the expression, whose height is bounded. The cost of an operation is charged before the
//! operation runs, except for a cost that depends on its result.

mod chain;
mod device_fields;
pub(crate) mod failure;
mod fold;
mod list;
pub(crate) mod program;
pub(crate) mod value;
pub(crate) mod work;

use std::cmp::Ordering;
use std::sync::Arc;

use failure::{Failure, Output};
use program::{Access, Call, Item, Node, Operator, Program, RegexCall, RegexFunction};
use smallvec::SmallVec;
use value::{DataRef, Entries, List, Map, Value};
use work::Work;

use crate::cost;
use crate::device::{ABSENT, Device, DomainsMap, Kind};
use crate::functions::{equality, regexes};

/// Arguments of a call.
type Arguments<'a> = SmallVec<[Value<'a>; 3]>;

/// Local variable.
#[derive(Clone, Debug)]
enum Slot<'a> {
    Empty,
    /// Not computed yet.
    Lazy(&'a Node),
    Ready(Value<'a>),
    Failed(Failure<'a>),
}

/// One evaluation of a program for a device.
pub(crate) struct Evaluation<'a> {
    program: &'a Program,
    device: Device<'a>,
    /// Column of each of the program's paths, or [`ABSENT`].
    columns: &'a [u32],
    slots: SmallVec<[Slot<'a>; 4]>,
    work: Work,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(program: &'a Program, device: Device<'a>, columns: &'a [u32], limit: u64) -> Evaluation<'a> {
        let slots = if program.slots == 0 { SmallVec::new() } else { SmallVec::from_elem(Slot::Empty, program.slots) };
        Evaluation { program, device, columns, slots, work: Work::new(limit) }
    }

    pub(crate) fn run(&mut self) -> Output<'a> {
        self.eval(&self.program.root)
    }

    /// Returns the cost so far.
    pub(crate) fn cost(&self) -> u64 {
        self.work.cost
    }

    fn eval(&mut self, node: &'a Node) -> Output<'a> {
        match node {
            // Borrowed text needs no reference count.
            Node::Constant(Value::String(text)) => Ok(Value::String(DataRef::Borrowed(text))),
            Node::Constant(value) => Ok(value.clone()),
            Node::Evaluated { value, cost } => self.charged(*cost, || value.clone()),
            Node::Local { slot, cost } => self.local(*slot, *cost),
            Node::Device { cost } => {
                let device = self.device;
                self.charged(*cost, || Value::Device(device))
            }
            Node::Driver { cost } => {
                let device = self.device;
                self.charged(*cost, || Value::String(DataRef::Borrowed(device.driver())))
            }
            Node::AllowMultipleAllocations { cost } => {
                let device = self.device;
                self.charged(*cost, || Value::Bool(device.allow_multiple_allocations()))
            }
            Node::Domains { kind, cost } => {
                let domains = DomainsMap { device: self.device, kind: *kind };
                self.charged(*cost, || Value::Domains(domains))
            }
            Node::Domain { kind, name, cost } => {
                let domains = DomainsMap { device: self.device, kind: *kind };
                self.charged(*cost, || Value::Domain(domains.domain(name)))
            }
            Node::Member(access) => match self.member(access)? {
                Some(value) => Ok(value),
                None => {
                    Err(Failure::NoSuchKey(Value::String(DataRef::Borrowed(&self.program.paths[access.path].name))))
                }
            },
            Node::HasMember(access) => Ok(Value::Bool(self.member(access)?.is_some())),
            Node::OptionalMember(access) => Ok(Value::Optional(self.member(access)?.map(Arc::new))),
            Node::MemberOr { access, other } => match self.member(access)? {
                Some(value) => Ok(value),
                None => self.eval(other),
            },
            Node::Chain(chain) => self.chain(chain),
            Node::Conditional(operands) => self.conditional(operands),
            Node::And(operands) => self.logical(operands, false),
            Node::Or(operands) => self.logical(operands, true),
            Node::Equal { negated, operands } => self.equal(*negated, operands),
            Node::Order { operator, rule, operands } => self.order(*operator, *rule, operands),
            Node::In { rule, operands } => self.contains(*rule, operands),
            Node::InConstants { element, constants } => self.in_constants(element, constants),
            Node::NotStrictlyFalse(operand) => self.not_strictly_false(operand),
            Node::OrOptional(operands) => self.or_optional(operands, false),
            Node::OrValue(operands) => self.or_optional(operands, true),
            Node::Call(call) => self.call(call),
            Node::Regex(call) => self.regex(call),
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Fold(fold) => self.fold(fold),
            Node::Bind(bind) => {
                self.slots[bind.slot] = Slot::Lazy(&bind.value);
                self.eval(&bind.result)
            }
        }
    }

    #[inline]
    fn charged(&mut self, cost: u64, value: impl FnOnce() -> Value<'a>) -> Output<'a> {
        self.work.charge(cost)?;
        Ok(value())
    }

    /// Returns the value at a path, if the device has it. If this is the first use of a `cel.bind` variable, the
    /// variable is evaluated only to charge its cost.
    #[inline]
    fn member(&mut self, access: &Access) -> Result<Option<Value<'a>>, Failure<'a>> {
        if let Some(variable) = access.variable
            && matches!(self.slots[variable], Slot::Lazy(_))
        {
            self.local(variable, 0)?;
        }
        self.work.charge(access.cost)?;
        let column = self.columns[access.path];
        if column == ABSENT {
            return Ok(None);
        }
        let table = self.device.table;
        Ok(match self.program.paths[access.path].kind {
            Kind::Attributes => table.attributes[column as usize].get(self.device.row).map(Value::attribute),
            Kind::Capacities => table.capacities[column as usize]
                .get(self.device.row)
                .map(|quantity| Value::Quantity(DataRef::Borrowed(quantity))),
        })
    }

    fn local(&mut self, slot: usize, cost: u64) -> Output<'a> {
        self.work.charge(cost)?;
        if let Slot::Lazy(node) = self.slots[slot] {
            self.slots[slot] = Slot::Empty;
            let value = self.eval(node);
            self.store(slot, value)?;
        }
        match &self.slots[slot] {
            Slot::Ready(value) => Ok(value.clone()),
            Slot::Failed(failure) => Err(failure.clone()),
            Slot::Empty | Slot::Lazy(_) => Err(Failure::Static("variable without value")),
        }
    }

    /// Sets a local variable to a value or a failure. Returns a failure only if it ends the evaluation.
    fn store(&mut self, slot: usize, value: Output<'a>) -> Result<(), Failure<'a>> {
        self.slots[slot] = match value {
            Ok(value) => Slot::Ready(value),
            Err(Failure::Limit) => return Err(Failure::Limit),
            Err(failure) => Slot::Failed(failure),
        };
        Ok(())
    }

    fn conditional(&mut self, [condition, yes, no]: &'a [Node; 3]) -> Output<'a> {
        match self.eval(condition)? {
            Value::Bool(true) => self.eval(yes),
            Value::Bool(false) => self.eval(no),
            _ => Err(Failure::NoSuchOverload),
        }
    }

    /// Evaluates `||` up to the first true operand, or `&&` up to the first false one. Until then, failures are
    /// deferred.
    fn logical(&mut self, operands: &'a [Node], decisive: bool) -> Output<'a> {
        let mut first_failure = None;
        for operand in operands {
            let failure = match self.eval(operand) {
                Ok(Value::Bool(value)) if value == decisive => return Ok(Value::Bool(decisive)),
                Ok(Value::Bool(_)) => continue,
                Ok(_) => Failure::NoSuchOverload,
                Err(Failure::Limit) => return Err(Failure::Limit),
                Err(failure) => failure,
            };
            first_failure.get_or_insert(failure);
        }
        match first_failure {
            Some(failure) => Err(failure),
            None => Ok(Value::Bool(!decisive)),
        }
    }

    fn pair(&mut self, [a, b]: &'a [Node; 2]) -> Result<[Value<'a>; 2], Failure<'a>> {
        Ok([self.eval(a)?, self.eval(b)?])
    }

    fn equal(&mut self, negated: bool, operands: &'a [Node; 2]) -> Output<'a> {
        let operands = self.pair(operands)?;
        let rule = if negated { cost::Rule::Comparison } else { cost::Rule::Equality };
        self.work.charge(rule.before(&operands))?;
        let equal = equality::equal(&mut self.work, &operands[0], &operands[1])?;
        Ok(Value::Bool(equal != negated))
    }

    fn order(&mut self, operator: Operator, rule: cost::Rule, operands: &'a [Node; 2]) -> Output<'a> {
        let operands = self.pair(operands)?;
        self.work.charge(rule.before(&operands))?;
        let order = equality::order(&mut self.work, &operands[0], &operands[1])?;
        Ok(Value::Bool(match operator {
            Operator::Less => order == Ordering::Less,
            Operator::LessOrEqual => order != Ordering::Greater,
            Operator::Greater => order == Ordering::Greater,
            Operator::GreaterOrEqual => order != Ordering::Less,
        }))
    }

    fn contains(&mut self, rule: cost::Rule, operands: &'a [Node; 2]) -> Output<'a> {
        let operands = self.pair(operands)?;
        self.work.charge(rule.before(&operands))?;
        equality::contains(&mut self.work, &operands[0], &operands[1]).map(Value::Bool)
    }

    fn in_constants(&mut self, element: &'a Node, constants: &'a [Value<'static>]) -> Output<'a> {
        let element = self.eval(element)?;
        for constant in constants {
            if equality::equal_or_false(&mut self.work, constant, &element)? {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }

    fn not_strictly_false(&mut self, operand: &'a Node) -> Output<'a> {
        self.work.charge(1)?;
        match self.eval(operand) {
            Ok(Value::Bool(value)) => Ok(Value::Bool(value)),
            Err(Failure::Limit) => Err(Failure::Limit),
            _ => Ok(Value::Bool(true)),
        }
    }

    fn or_optional(&mut self, [optional, other]: &'a [Node; 2], unwrap: bool) -> Output<'a> {
        match self.eval(optional)? {
            Value::Optional(None) => self.eval(other),
            Value::Optional(Some(value)) if unwrap => Ok((*value).clone()),
            some @ Value::Optional(_) => Ok(some),
            _ => Err(Failure::NoSuchOverload),
        }
    }

    fn arguments(&mut self, nodes: &'a [Node]) -> Result<Arguments<'a>, Failure<'a>> {
        let mut arguments = Arguments::new();
        for node in nodes {
            arguments.push(self.eval(node)?);
        }
        Ok(arguments)
    }

    fn call(&mut self, call: &'a Call) -> Output<'a> {
        let arguments = self.arguments(&call.arguments)?;
        self.work.charge(call.rule.before(&arguments))?;
        let result = (call.function)(&mut self.work, &arguments)?;
        self.work.charge(call.rule.after(&result))?;
        Ok(result)
    }

    fn regex(&mut self, call: &'a RegexCall) -> Output<'a> {
        let arguments = self.arguments(&call.arguments)?;
        self.work.charge(call.rule.before(&arguments))?;
        match call.function {
            RegexFunction::Matches => regexes::matches(&mut self.work, &arguments[0], &call.regex),
            RegexFunction::Find => regexes::find(&mut self.work, &arguments[0], &call.regex),
            RegexFunction::FindAll => regexes::find_all(&mut self.work, &arguments, &call.regex),
        }
    }

    /// Returns the value of an element or entry; `None` for an optional one without a value.
    fn item(&mut self, item: &'a Item) -> Result<Option<Value<'a>>, Failure<'a>> {
        match self.eval(&item.value)? {
            value if !item.optional => Ok(Some(value)),
            Value::Optional(value) => Ok(value.map(|value| (*value).clone())),
            _ => Err(Failure::Static("cannot initialize optional element from non-optional value")),
        }
    }

    fn list(&mut self, items: &'a [Item]) -> Output<'a> {
        let mut elements = Vec::with_capacity(items.len());
        for item in items {
            elements.extend(self.item(item)?);
        }
        self.charged(cost::LIST, || Value::List(List::new(elements)))
    }

    fn map(&mut self, entries: &'a [(Node, Item)]) -> Output<'a> {
        let mut map = Entries::default();
        for (key, item) in entries {
            let key = self.eval(key)?;
            match self.item(item)? {
                Some(value) => {
                    let type_name = key.type_name();
                    if map.insert(key, value).is_none() {
                        return Err(Failure::text(format!("unsupported key type: {type_name}")));
                    }
                }
                None => map.remove(&key),
            }
        }
        self.charged(cost::MAP, || Value::Map(Map::new(map)))
    }
}
