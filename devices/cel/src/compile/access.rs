//! Variables, fields, indexes and conditional expressions (`?:`).
//!
//! In `cel-go` these are "attributes": a variable with fields and indexes costs one unit for the variable and one for
//! each field or index. The unit for the variable does not count where an attribute is an index or a branch of `?:`.

use super::{Compiler, Outcome};
use crate::check::DEVICE_VARIABLE;
use crate::device::Kind;
use crate::eval::program::{Access, Chain, Node, Path, Qualifier};
use crate::eval::value::Value;
use crate::syntax::SyntaxError;
use crate::syntax::ast::{Expr, NodeId};

/// Form of an access to a field or an index.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    /// With `?`: the result is optional.
    Optional,
    /// Argument of `has`.
    Presence,
}

impl Compiler<'_> {
    /// Compiles a variable, field, index or conditional expression. `counted` is whether its variable has a cost.
    pub(super) fn access(&mut self, id: NodeId, counted: bool) -> Outcome {
        let cost = u64::from(counted);
        match self.ast.expr(id) {
            Expr::Ident(name) => self.variable(id, name, cost),
            Expr::Select { operand, field, test_only } => {
                let key = Node::Constant(Value::string(&**field));
                let form = if *test_only { Form::Presence } else { Form::Plain };
                self.qualified(*operand, key, form, counted)
            }
            Expr::Call { function, target: None, arguments } => match (&**function, &arguments[..]) {
                ("_?_:_", [condition, yes, no]) => {
                    let condition = self.node(*condition)?;
                    Ok(Node::Conditional(Box::new([condition, self.uncounted(*yes)?, self.uncounted(*no)?])))
                }
                ("_[_]" | "_[?_]" | "_?._", [operand, key]) => {
                    let form = if **function == *"_[_]" { Form::Plain } else { Form::Optional };
                    let key = self.uncounted(*key)?;
                    self.qualified(*operand, key, form, counted)
                }
                _ => self.node(id),
            },
            _ => self.node(id),
        }
    }

    /// Compiles an index, or a branch of a conditional expression. Its variable has no cost.
    fn uncounted(&mut self, id: NodeId) -> Outcome {
        if self.is_access(id) { self.access(id, false) } else { self.node(id) }
    }

    fn is_access(&self, id: NodeId) -> bool {
        match self.ast.expr(id) {
            Expr::Ident(_) => true,
            Expr::Select { .. } => true,
            Expr::Call { function, target: None, .. } => {
                matches!(&**function, "_?_:_" | "_[_]" | "_[?_]" | "_?._")
            }
            _ => false,
        }
    }

    fn is_conditional(&self, id: NodeId) -> bool {
        matches!(self.ast.expr(id), Expr::Call { function, target: None, .. } if **function == *"_?_:_")
    }

    fn variable(&mut self, id: NodeId, name: &str, cost: u64) -> Outcome {
        if let Some(slot) = self.local(name) {
            return Ok(Node::Local { slot, cost });
        }
        if name.strip_prefix('.').unwrap_or(name) == DEVICE_VARIABLE {
            return Ok(Node::Device { cost });
        }
        match self.type_value(name) {
            Some(value) => Ok(Node::Constant(value)),
            None => Err(SyntaxError::new(self.ast.offset(id), format!("undeclared reference to '{name}'"))),
        }
    }

    /// Compiles an access to a field or an index of an operand.
    fn qualified(&mut self, operand: NodeId, key: Node, form: Form, counted: bool) -> Outcome {
        let test_only = form == Form::Presence;
        let is_access = self.is_access(operand);
        let base = if is_access { self.access(operand, counted)? } else { self.node(operand)? };
        // A presence test has no cost for its variable.
        let discount = u64::from(test_only && counted && is_access && !self.is_conditional(operand));
        let base = match self.device_field(base, &key, form, discount) {
            Ok(node) => return Ok(node),
            Err(base) => base,
        };
        let (base, mut qualifiers, mut cost) = match base {
            Node::Chain(chain) if is_access && !chain.test_only => {
                let chain = *chain;
                (chain.base, chain.qualifiers.into_vec(), chain.cost)
            }
            base if is_access => (base, Vec::new(), 0),
            base => (base, Vec::new(), u64::from(counted && !test_only)),
        };
        let mut base = base;
        discounted(&mut base, &mut cost, discount);
        qualifiers.push(Qualifier { key, optional: form == Form::Optional });
        Ok(Node::Chain(Box::new(Chain { base, cost, qualifiers: qualifiers.into(), test_only })))
    }

    /// Compiles an access by a constant name: a field of the device, a domain, or an attribute or capacity of a domain.
    /// Returns `base` as the error for any other access.
    fn device_field(&mut self, base: Node, key: &Node, form: Form, discount: u64) -> Result<Node, Node> {
        let Node::Constant(Value::String(name)) = key else { return Err(base) };
        match base {
            Node::Device { cost } if form == Form::Plain => {
                let cost = cost + 1;
                Ok(match &**name {
                    "driver" => Node::Driver { cost },
                    "allowMultipleAllocations" => Node::AllowMultipleAllocations { cost },
                    "attributes" => Node::Domains { kind: Kind::Attributes, cost },
                    "capacity" => Node::Domains { kind: Kind::Capacities, cost },
                    _ => return Err(Node::Device { cost: cost - 1 }),
                })
            }
            Node::Domains { kind, cost } if form == Form::Plain => {
                Ok(Node::Domain { kind, name: (&**name).into(), cost: cost + 1 })
            }
            Node::Domain { kind, name: domain, cost } => {
                let path = self.path(Path { kind, domain, name: (&**name).into() });
                let cost = (cost + 1).saturating_sub(discount);
                Ok(member(Access { path, cost, variable: None }, form))
            }
            Node::Local { slot, cost } => {
                let Some((_, kind, domain)) = self.domains.iter().find(|(variable, ..)| *variable == slot) else {
                    return Err(Node::Local { slot, cost });
                };
                let path = Path { kind: *kind, domain: domain.clone(), name: (&**name).into() };
                let path = self.path(path);
                let cost = (cost + 1).saturating_sub(discount);
                Ok(member(Access { path, cost, variable: Some(slot) }, form))
            }
            base => Err(base),
        }
    }

    fn path(&mut self, path: Path) -> usize {
        match self.paths.iter().position(|known| *known == path) {
            Some(index) => index,
            None => {
                self.paths.push(path);
                self.paths.len() - 1
            }
        }
    }
}

fn member(access: Access, form: Form) -> Node {
    match form {
        Form::Presence => Node::HasMember(access),
        Form::Optional => Node::OptionalMember(access),
        Form::Plain => Node::Member(access),
    }
}

/// Subtracts the cost of the variable from that of the base, or from that of the chain if the base has no field `cost`.
fn discounted(base: &mut Node, chain: &mut u64, discount: u64) {
    match base {
        Node::Local { cost, .. }
        | Node::Device { cost }
        | Node::Driver { cost }
        | Node::AllowMultipleAllocations { cost }
        | Node::Domains { cost, .. }
        | Node::Domain { cost, .. }
        | Node::Member(Access { cost, .. })
        | Node::HasMember(Access { cost, .. })
        | Node::OptionalMember(Access { cost, .. }) => *cost = cost.saturating_sub(discount),
        _ => *chain = chain.saturating_sub(discount),
    }
}
