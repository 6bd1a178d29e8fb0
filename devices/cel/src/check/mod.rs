//! Type checker. It follows `cel-go`: where `cel-go` accepts a type that is known only at run time, it is accepted
//! here.

pub(crate) mod signature;
pub(crate) mod types;
mod unify;
mod validate;

use std::rc::Rc;

use signature::Overload;
use smallvec::SmallVec;
use types::{Constructor, DEVICE, Type};
use unify::{Unifier, instantiate, most_general};

use crate::functions::{self, Function};
use crate::syntax::SyntaxError;
use crate::syntax::ast::{Ast, Element, Entry, Expr, Fold, Literal, NodeId};

/// Name of the variable with the device.
pub(crate) const DEVICE_VARIABLE: &str = "device";

/// Function and signatures that a call can refer to.
#[derive(Clone, Debug)]
pub(crate) struct Resolution {
    pub(crate) function: &'static Function,
    pub(crate) overloads: SmallVec<[&'static Overload; 2]>,
}

impl Resolution {
    /// Returns the identifier of the signature, if only one is possible.
    pub(crate) fn overload(&self) -> Option<&'static str> {
        match self.overloads[..] {
            [overload] => Some(overload.id),
            _ => None,
        }
    }
}

/// Types of all nodes, and the functions of all calls.
#[derive(Debug)]
pub(crate) struct Checked {
    types: Vec<Type>,
    calls: Vec<Option<Resolution>>,
}

impl Checked {
    pub(crate) fn ty(&self, id: NodeId) -> &Type {
        &self.types[id.0]
    }

    pub(crate) fn call(&self, id: NodeId) -> Option<&Resolution> {
        self.calls[id.0].as_ref()
    }
}

/// Checks an expression. Qualified names of types and functions, such as `net.IP`, become single identifiers in the
/// tree.
pub(crate) fn check(ast: &mut Ast) -> Result<Checked, SyntaxError> {
    let nodes = ast.nodes.len();
    let mut checker = Checker {
        ast,
        unifier: Unifier::default(),
        types: vec![Type::Error; nodes],
        calls: vec![None; nodes],
        scopes: Vec::new(),
    };
    checker.check(checker.ast.root)?;
    let Checker { mut unifier, types, calls, .. } = checker;
    let types = types.iter().map(|ty| unifier.resolve(ty, true)).collect();
    if unifier.is_exhausted() {
        return Err(too_complex(0));
    }
    let checked = Checked { types, calls };
    validate::validate(ast, &checked)?;
    Ok(checked)
}

struct Checker<'e> {
    ast: &'e mut Ast,
    unifier: Unifier,
    types: Vec<Type>,
    calls: Vec<Option<Resolution>>,
    /// Variables of loops and of `cel.bind`, innermost last.
    scopes: Vec<(Rc<str>, Type)>,
}

type Outcome<T = ()> = Result<T, SyntaxError>;

impl Checker<'_> {
    fn error<T>(&self, id: NodeId, message: impl Into<String>) -> Outcome<T> {
        // After the check was abandoned because of its limits, types are unreliable.
        if self.unifier.is_exhausted() {
            return Err(too_complex(self.ast.offset(id)));
        }
        Err(SyntaxError::new(self.ast.offset(id), message))
    }

    fn ty(&self, id: NodeId) -> Type {
        self.types[id.0].clone()
    }

    fn set(&mut self, id: NodeId, ty: Type) {
        self.types[id.0] = ty;
    }

    fn resolved(&mut self, id: NodeId) -> Type {
        let ty = self.ty(id);
        self.unifier.resolve(&ty, false)
    }

    fn check(&mut self, id: NodeId) -> Outcome {
        match self.ast.expr(id).clone() {
            Expr::Literal(literal) => {
                self.set(id, literal_type(&literal));
                Ok(())
            }
            Expr::Ident(name) => self.ident(id, &name),
            Expr::Select { operand, field, test_only } => self.select(id, operand, &field, test_only),
            Expr::Call { function, target, arguments } => self.call(id, &function, target, &arguments),
            Expr::List(elements) => self.list(id, &elements),
            Expr::Map(entries) => self.map(id, &entries),
            Expr::Fold(fold) => self.fold(id, &fold),
        }
    }

    fn local(&self, name: &str) -> Option<&Type> {
        self.scopes.iter().rev().find(|(variable, _)| **variable == *name).map(|(_, ty)| ty)
    }

    fn ident(&mut self, id: NodeId, name: &str) -> Outcome {
        let global = name.strip_prefix('.').unwrap_or(name);
        let ty = if let Some(ty) = self.local(name) {
            ty.clone()
        } else if global == DEVICE_VARIABLE {
            DEVICE
        } else if let Some(ty) = Type::named(global) {
            Type::Meta(Some(ty.into()))
        } else {
            return self.error(id, format!("undeclared reference to '{name}' (in container '')"));
        };
        self.set(id, ty);
        Ok(())
    }

    /// Returns the name, if the expression is a dotted name.
    fn qualified(&self, id: NodeId) -> Option<String> {
        match self.ast.expr(id) {
            Expr::Ident(name) => Some(name.strip_prefix('.').unwrap_or(name).to_owned()),
            Expr::Select { operand, field, test_only: false } => {
                self.qualified(*operand).map(|prefix| format!("{prefix}.{field}"))
            }
            _ => None,
        }
    }

    fn select(&mut self, id: NodeId, operand: NodeId, field: &str, test_only: bool) -> Outcome {
        if !test_only
            && let Some(name) = self.qualified(id)
            && let Some(ty) = Type::named(&name)
            && self.local(name.split('.').next().unwrap_or_default()).is_none()
        {
            self.ast.nodes[id.0].expr = Expr::Ident(name.into());
            self.set(id, Type::Meta(Some(ty.into())));
            return Ok(());
        }
        let ty = self.field(id, operand, field, false)?;
        let ty = if test_only { Type::Bool } else { self.unifier.resolve(&ty, false) };
        self.set(id, ty);
        Ok(())
    }

    /// Returns the type of a field of an operand.
    fn field(&mut self, id: NodeId, operand: NodeId, field: &str, optional: bool) -> Outcome<Type> {
        self.check(operand)?;
        let operand = self.resolved(operand);
        let (target, is_optional) = match operand.optional_value() {
            Some(value) => (value.clone(), true),
            None => (operand, optional),
        };
        let ty = match &target {
            Type::Object(_) => match target.field(field) {
                Some(ty) => ty,
                None => return self.error(id, format!("undefined field '{field}'")),
            },
            Type::Variable(_) => {
                self.unifier.assignable(&[Type::Dyn], std::slice::from_ref(&target));
                Type::Dyn
            }
            Type::Dyn | Type::Any | Type::Error => Type::Dyn,
            _ => match target.parameters(Constructor::Map) {
                Some(parameters) => parameters[1].clone(),
                None => return self.error(id, format!("type '{target}' does not support field selection")),
            },
        };
        Ok(if is_optional { Type::optional(ty) } else { ty })
    }

    fn call(&mut self, id: NodeId, name: &str, target: Option<NodeId>, arguments: &[NodeId]) -> Outcome {
        if name == "_?._" {
            return self.optional_select(id, arguments);
        }
        for argument in arguments {
            self.check(*argument)?;
        }
        let Some(target) = target else {
            let name = match name.strip_prefix('.') {
                Some(name) => {
                    let arguments = arguments.to_vec();
                    self.ast.nodes[id.0].expr = Expr::Call { function: name.into(), target: None, arguments };
                    name
                }
                None => name,
            };
            return match functions::function(name) {
                Some(function) => self.resolve(id, function, None, arguments),
                None => self.error(id, format!("undeclared reference to '{name}' (in container '')")),
            };
        };
        if let Some(prefix) = self.qualified(target)
            && let Some(function) = functions::function(&format!("{prefix}.{name}"))
        {
            let arguments = arguments.to_vec();
            self.ast.nodes[id.0].expr =
                Expr::Call { function: function.name.into(), target: None, arguments: arguments.clone() };
            return self.resolve(id, function, None, &arguments);
        }
        self.check(target)?;
        match functions::function(name) {
            Some(function) => self.resolve(id, function, Some(target), arguments),
            None => self.error(id, format!("undeclared reference to '{name}' (in container '')")),
        }
    }

    fn optional_select(&mut self, id: NodeId, arguments: &[NodeId]) -> Outcome {
        let [operand, field] = arguments else { return self.error(id, "unsupported optional field selection") };
        let Expr::Literal(Literal::String(name)) = self.ast.expr(*field).clone() else {
            return self.error(*field, "unsupported optional field selection");
        };
        self.set(*field, Type::String);
        let ty = self.field(id, *operand, &name, true)?;
        let ty = self.unifier.resolve(&ty, false);
        self.set(id, ty);
        if let Some(function) = functions::function("_?._") {
            self.calls[id.0] = Some(Resolution { function, overloads: function.overloads.iter().collect() });
        }
        Ok(())
    }

    /// Finds the signatures of a function that match a call.
    fn resolve(
        &mut self,
        id: NodeId,
        function: &'static Function,
        target: Option<NodeId>,
        arguments: &[NodeId],
    ) -> Outcome {
        let types: Vec<Type> = target.iter().chain(arguments).map(|argument| self.ty(*argument)).collect();
        if matches!(function.name, "_&&_" | "_||_") {
            for (argument, ty) in arguments.iter().zip(&types) {
                if !self.unifier.assignable(std::slice::from_ref(ty), &[Type::Bool]) {
                    let ty = self.unifier.resolve(ty, true);
                    return self.error(*argument, format!("expected type 'bool' but found '{ty}'"));
                }
            }
            self.calls[id.0] = Some(Resolution { function, overloads: function.overloads.iter().collect() });
            self.set(id, Type::Bool);
            return Ok(());
        }
        let mut result: Option<Type> = None;
        let mut overloads = SmallVec::new();
        for overload in &function.overloads {
            if overload.is_member != target.is_some() || overload.parameters.len() != types.len() {
                continue;
            }
            let first = self.unifier.variables(overload.variables);
            let parameters: Vec<Type> =
                overload.parameters.iter().map(|parameter| instantiate(parameter, first)).collect();
            if !self.unifier.assignable(&types, &parameters) {
                continue;
            }
            overloads.push(overload);
            let ty = self.unifier.resolve(&instantiate(&overload.result, first), false);
            result = Some(match result {
                None => ty,
                Some(known) if known.is_dyn() || known == ty => known,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            let types: Vec<Type> = types.iter().map(|ty| self.unifier.resolve(ty, true)).collect();
            return self.error(id, no_overload(function.name, target.is_some(), &types));
        };
        self.calls[id.0] = Some(Resolution { function, overloads });
        self.set(id, result);
        Ok(())
    }

    /// Returns the common type of an element and the elements before it.
    fn join(&mut self, id: NodeId, previous: Option<Type>, current: Type) -> Outcome<Type> {
        let Some(previous) = previous else { return Ok(current) };
        if self.unifier.assignable(std::slice::from_ref(&previous), std::slice::from_ref(&current)) {
            return Ok(most_general(&previous, &current));
        }
        let (previous, current) = (self.unifier.resolve(&previous, true), self.unifier.resolve(&current, true));
        self.error(id, format!("expected type '{previous}' but found '{current}'"))
    }

    /// Returns the type of an element. For an optional element, this is the type of its value.
    fn element(&mut self, id: NodeId, optional: bool) -> Outcome<Type> {
        let ty = self.ty(id);
        match ty.optional_value() {
            Some(value) if optional => Ok(value.clone()),
            _ if optional && !ty.is_dyn() => {
                self.error(id, format!("expected type 'optional_type({ty})' but found '{ty}'"))
            }
            _ => Ok(ty),
        }
    }

    fn list(&mut self, id: NodeId, elements: &[Element]) -> Outcome {
        let mut common = None;
        for element in elements {
            self.check(element.value)?;
            let ty = self.element(element.value, element.optional)?;
            common = Some(self.join(element.value, common, ty)?);
        }
        let common = common.unwrap_or_else(|| self.unifier.variable());
        self.set(id, Type::list(common));
        Ok(())
    }

    fn map(&mut self, id: NodeId, entries: &[Entry]) -> Outcome {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.check(entry.key)?;
            let key = self.ty(entry.key);
            keys = Some(self.join(entry.key, keys, key)?);
            self.check(entry.value)?;
            let value = self.element(entry.value, entry.optional)?;
            values = Some(self.join(entry.value, values, value)?);
        }
        let keys = keys.unwrap_or_else(|| self.unifier.variable());
        let values = values.unwrap_or_else(|| self.unifier.variable());
        self.set(id, Type::map(keys, values));
        Ok(())
    }

    fn fold(&mut self, id: NodeId, fold: &Fold) -> Outcome {
        self.check(fold.range)?;
        self.check(fold.initial)?;
        let range = self.resolved(fold.range);
        let has_second = fold.second_variable.is_some();
        let (first, second) = match &range {
            // `Type::Any` is not accepted: the value of an attribute cannot be a range.
            Type::Dyn | Type::Error | Type::Variable(_) => {
                self.unifier.assignable(&[Type::Dyn], std::slice::from_ref(&range));
                (Type::Dyn, Type::Dyn)
            }
            _ => match (range.parameters(Constructor::List), range.parameters(Constructor::Map)) {
                (Some(element), _) if has_second => (Type::Int, element[0].clone()),
                (Some(element), _) => (element[0].clone(), Type::Dyn),
                (_, Some(entry)) => (entry[0].clone(), entry[1].clone()),
                _ => {
                    return self.error(
                        fold.range,
                        format!("expression of type '{range}' cannot be range of a comprehension (must be list, map, or dynamic)"),
                    );
                }
            },
        };
        let accumulator = self.ty(fold.initial);
        let outer = self.scopes.len();
        self.scopes.push((fold.accumulator.clone(), accumulator.clone()));
        let inner = self.scopes.len();
        self.scopes.push((fold.variable.clone(), first));
        if let Some(variable) = &fold.second_variable {
            self.scopes.push((variable.clone(), second));
        }
        self.check(fold.condition)?;
        self.assert(fold.condition, &Type::Bool)?;
        self.check(fold.step)?;
        self.assert(fold.step, &accumulator)?;
        self.scopes.truncate(inner);
        self.check(fold.result)?;
        self.scopes.truncate(outer);
        let result = self.resolved(fold.result);
        self.set(id, result);
        Ok(())
    }

    fn assert(&mut self, id: NodeId, expected: &Type) -> Outcome {
        let ty = self.ty(id);
        if self.unifier.assignable(std::slice::from_ref(expected), std::slice::from_ref(&ty)) {
            return Ok(());
        }
        let (expected, ty) = (self.unifier.resolve(expected, true), self.unifier.resolve(&ty, true));
        self.error(id, format!("expected type '{expected}' but found '{ty}'"))
    }
}

fn too_complex(offset: usize) -> SyntaxError {
    SyntaxError::new(offset, "expression is too complex to be type-checked")
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

fn no_overload(function: &str, is_member: bool, types: &[Type]) -> String {
    let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
    match types {
        [target, arguments @ ..] if is_member => {
            format!("found no matching overload for '{function}' applied to '{target}.({})'", list(arguments))
        }
        _ => format!("found no matching overload for '{function}' applied to '({})'", list(types)),
    }
}
