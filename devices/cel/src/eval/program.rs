//! Compiled expressions: trees of operations, in which all names are resolved.

use regex::Regex;

use super::value::Value;
use crate::cost::Rule;
use crate::device::Kind;
use crate::functions::Implementation;

/// Compiled expression.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) root: Node,
    /// Number of local variables. Each loop and each `cel.bind` has its own.
    pub(crate) slots: usize,
    pub(crate) paths: Vec<Path>,
    pub(crate) reads: Reads,
}

/// Parts of a device that a program reads, apart from its paths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reads {
    pub(crate) driver: bool,
    pub(crate) allow_multiple_allocations: bool,
    /// Whether it reads whole maps, whose entries are found when the program runs.
    pub(crate) maps: bool,
}

impl Reads {
    /// Adds the parts that a node and its operands read. `domains`: slots of `cel.bind` variables whose value is a
    /// domain.
    pub(crate) fn add(&mut self, node: &Node, domains: &mut Vec<usize>) {
        match node {
            Node::Driver { .. } => self.driver = true,
            Node::AllowMultipleAllocations { .. } => self.allow_multiple_allocations = true,
            Node::Device { .. } | Node::Domains { .. } | Node::Domain { .. } => self.maps = true,
            Node::Local { slot, .. } => self.maps |= domains.contains(slot),
            Node::Bind(bind) if matches!(bind.value, Node::Domain { .. }) => {
                // Accesses to attributes and capacities through the variable are paths of the program.
                domains.push(bind.slot);
                self.add(&bind.result, domains);
            }
            _ => node.operands(&mut |operand| self.add(operand, domains)),
        }
    }
}

impl Node {
    fn operands<'n>(&'n self, visit: &mut impl FnMut(&'n Node)) {
        match self {
            Node::Constant(_)
            | Node::Evaluated { .. }
            | Node::Local { .. }
            | Node::Device { .. }
            | Node::Driver { .. }
            | Node::AllowMultipleAllocations { .. }
            | Node::Domains { .. }
            | Node::Domain { .. }
            | Node::Member(_)
            | Node::HasMember(_)
            | Node::OptionalMember(_) => {}
            Node::MemberOr { other: operand, .. }
            | Node::InConstants { element: operand, .. }
            | Node::NotStrictlyFalse(operand) => visit(operand),
            Node::Chain(chain) => {
                visit(&chain.base);
                chain.qualifiers.iter().for_each(|qualifier| visit(&qualifier.key));
            }
            Node::Conditional(operands) => operands.iter().for_each(visit),
            Node::And(operands) | Node::Or(operands) => operands.iter().for_each(visit),
            Node::Equal { operands, .. } | Node::Order { operands, .. } | Node::In { operands, .. } => {
                operands.iter().for_each(visit);
            }
            Node::OrOptional(operands) | Node::OrValue(operands) => operands.iter().for_each(visit),
            Node::Call(call) => call.arguments.iter().for_each(visit),
            Node::Regex(call) => call.arguments.iter().for_each(visit),
            Node::List(items) => items.iter().for_each(|item| visit(&item.value)),
            Node::Map(entries) => {
                for (key, item) in entries {
                    visit(key);
                    visit(&item.value);
                }
            }
            Node::Fold(fold) => {
                visit(&fold.range);
                visit(&fold.condition);
                match &fold.step {
                    Step::Next(next) => visit(next),
                    Step::Add { filter, added, .. } => filter.iter().chain(added).for_each(&mut *visit),
                }
                visit(&fold.result);
            }
            Node::Bind(bind) => {
                visit(&bind.value);
                visit(&bind.result);
            }
        }
    }
}

/// Attribute or capacity that an expression accesses by a constant name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) kind: Kind,
    pub(crate) domain: Box<str>,
    pub(crate) name: Box<str>,
}

/// Operation. `cost` is its cost without that of its operands.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(Value<'static>),
    /// Call with constant arguments, which is evaluated once, at compile time. Its cost counts in each evaluation.
    Evaluated {
        value: Value<'static>,
        cost: u64,
    },
    Local {
        slot: usize,
        cost: u64,
    },
    Device {
        cost: u64,
    },
    /// `device.driver`.
    Driver {
        cost: u64,
    },
    AllowMultipleAllocations {
        cost: u64,
    },
    Domains {
        kind: Kind,
        cost: u64,
    },
    /// Attributes or capacities of a domain with a constant name.
    Domain {
        kind: Kind,
        name: Box<str>,
        cost: u64,
    },
    Member(Access),
    /// `has()` of a path.
    HasMember(Access),
    /// A path's value as an optional.
    OptionalMember(Access),
    /// A path's value, or the other operand.
    MemberOr {
        access: Access,
        other: Box<Node>,
    },
    Chain(Box<Chain>),
    Conditional(Box<[Node; 3]>),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    Equal {
        negated: bool,
        operands: Box<[Node; 2]>,
    },
    Order {
        operator: Operator,
        rule: Rule,
        operands: Box<[Node; 2]>,
    },
    In {
        rule: Rule,
        operands: Box<[Node; 2]>,
    },
    /// Membership in a list of constants, which has no cost.
    InConstants {
        element: Box<Node>,
        constants: Box<[Value<'static>]>,
    },
    NotStrictlyFalse(Box<Node>),
    /// First one of two optionals that has a value.
    OrOptional(Box<[Node; 2]>),
    /// Value of an optional, or the other operand.
    OrValue(Box<[Node; 2]>),
    Call(Box<Call>),
    Regex(Box<RegexCall>),
    List(Box<[Item]>),
    Map(Box<[(Node, Item)]>),
    Fold(Box<Fold>),
    Bind(Box<Bind>),
}

/// Access to a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) path: usize,
    pub(crate) cost: u64,
    /// Slot of the `cel.bind` variable through which the domain is accessed. Its first use also has the domain's cost.
    pub(crate) variable: Option<usize>,
}

/// Fields and indexes of an operand.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) base: Node,
    pub(crate) cost: u64,
    pub(crate) qualifiers: Box<[Qualifier]>,
    /// Whether the last field is not read, but tested by `has()`.
    pub(crate) test_only: bool,
}

/// Field or index.
#[derive(Debug)]
pub(crate) struct Qualifier {
    pub(crate) key: Node,
    pub(crate) optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Call of a function.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: Implementation,
    pub(crate) rule: Rule,
    pub(crate) arguments: Box<[Node]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegexFunction {
    Matches,
    Find,
    FindAll,
}

/// Call with a constant regular expression.
#[derive(Debug)]
pub(crate) struct RegexCall {
    pub(crate) function: RegexFunction,
    pub(crate) regex: Regex,
    pub(crate) rule: Rule,
    pub(crate) arguments: Box<[Node]>,
}

/// Element of a list, or value of a map's entry.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) value: Node,
    pub(crate) optional: bool,
}

/// Loop.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) range: Node,
    pub(crate) variable: usize,
    pub(crate) second_variable: Option<usize>,
    pub(crate) accumulator: usize,
    pub(crate) initial: Value<'static>,
    pub(crate) condition: Node,
    pub(crate) step: Step,
    pub(crate) result: Node,
}

/// Step of a loop for each element.
#[derive(Debug)]
pub(crate) enum Step {
    /// Computes the next value of the accumulator.
    Next(Node),
    /// Adds to the list or map in the accumulator, in place.
    Add { filter: Option<Node>, added: Box<[Node]>, to_map: bool, cost: u64 },
}

/// `cel.bind`. The value is computed when it is first read.
#[derive(Debug)]
pub(crate) struct Bind {
    pub(crate) slot: usize,
    pub(crate) value: Node,
    pub(crate) result: Node,
}
