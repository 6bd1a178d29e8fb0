//! Substitutions of type variables, and assignability of types.

use std::sync::Arc;

use super::types::Type;

/// Maximum number of visited types, after which the check gives up. Types can share parts, so the number of visits
/// can be exponential in the length of the expression.
const MAX_STEPS: usize = 5_000_000;
/// Maximum number of types of which a type consists.
const MAX_WEIGHT: usize = 200;

/// Substitutions of type variables, which can be undone.
#[derive(Default)]
pub(crate) struct Unifier {
    substitutions: Vec<Option<Type>>,
    /// Changed variables with their former substitutions, newest last.
    trail: Vec<(usize, Option<Type>)>,
    steps: usize,
    too_large: bool,
}

impl Unifier {
    /// Creates type variables. Returns the first of them.
    pub(crate) fn variables(&mut self, count: usize) -> usize {
        let first = self.substitutions.len();
        self.substitutions.resize(first + count, None);
        first
    }

    pub(crate) fn variable(&mut self) -> Type {
        Type::Variable(self.variables(1))
    }

    /// Returns whether the check gave up.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.too_large || self.steps > MAX_STEPS
    }

    /// Counts a visited type. Returns whether the check continues.
    fn step(&mut self) -> bool {
        self.steps += 1;
        !self.is_exhausted()
    }

    fn substitution(&self, variable: usize) -> Option<&Type> {
        self.substitutions[variable].as_ref()
    }

    fn bind(&mut self, variable: usize, to: Type) {
        let former = self.substitutions[variable].replace(to);
        self.trail.push((variable, former));
    }

    /// Returns whether each of `from` can be assigned to its counterpart. If so, the required substitutions stay.
    pub(crate) fn assignable(&mut self, from: &[Type], to: &[Type]) -> bool {
        let mark = self.trail.len();
        let assignable = self.all_assignable(from, to);
        if !assignable {
            while self.trail.len() > mark {
                if let Some((variable, former)) = self.trail.pop() {
                    self.substitutions[variable] = former;
                }
            }
        }
        assignable
    }

    fn all_assignable(&mut self, from: &[Type], to: &[Type]) -> bool {
        from.len() == to.len() && from.iter().zip(to).all(|(from, to)| self.is_assignable(from, to))
    }

    fn is_assignable(&mut self, from: &Type, to: &Type) -> bool {
        if !self.step() {
            return false;
        }
        if let Type::Variable(variable) = *to {
            match self.substitute_variable(from, variable) {
                (true, _) => return true,
                (false, true) => return false,
                (false, false) => {}
            }
        }
        if let Type::Variable(variable) = *from {
            return self.substitute_variable(to, variable).0;
        }
        match (from, to) {
            _ if from.is_dyn_or_error() || to.is_dyn_or_error() => true,
            (Type::Null, other) | (other, Type::Null) => {
                *other == Type::Null
                    || matches!(other, Type::Opaque(_) | Type::Object(_) | Type::Duration | Type::Timestamp)
                    || other.optional_value().is_some()
            }
            (Type::Meta(_), Type::Meta(_)) => true,
            (Type::Compound(from), Type::Compound(to)) => {
                from.constructor == to.constructor && self.all_assignable(&from.parameters, &to.parameters)
            }
            _ => from == to,
        }
    }

    /// Returns whether a variable can stand for a type, and whether the variable already stood for a type before.
    fn substitute_variable(&mut self, candidate: &Type, variable: usize) -> (bool, bool) {
        if *candidate == Type::Variable(variable) {
            return (true, true);
        }
        let Some(current) = self.substitution(variable).cloned() else {
            let valid = !self.occurs(variable, candidate);
            if valid {
                self.bind(variable, candidate.clone());
            }
            return (valid, false);
        };
        if *candidate == current {
            return (true, true);
        }
        if !self.is_assignable(candidate, &current) {
            return (false, true);
        }
        let general = most_general(candidate, &current);
        if !self.occurs(variable, &general) {
            self.bind(variable, general);
        }
        (true, true)
    }

    /// Returns whether a variable is part of a type.
    fn occurs(&mut self, variable: usize, within: &Type) -> bool {
        if !self.step() {
            return true;
        }
        match within {
            Type::Variable(other) if *other == variable => true,
            Type::Variable(other) => match self.substitution(*other).cloned() {
                Some(substitution) => self.occurs(variable, &substitution),
                None => false,
            },
            Type::Meta(Some(inner)) => self.occurs(variable, inner),
            Type::Compound(compound) => compound.parameters.iter().any(|parameter| self.occurs(variable, parameter)),
            _ => false,
        }
    }

    /// Applies all substitutions to a type. Variables without a substitution stay, or become `dyn` if `to_dyn` is set.
    pub(crate) fn resolve(&mut self, ty: &Type, to_dyn: bool) -> Type {
        if !self.step() {
            return Type::Error;
        }
        let resolved = match ty {
            Type::Variable(variable) => match self.substitution(*variable).cloned() {
                Some(substitution) => self.resolve(&substitution, to_dyn),
                None if to_dyn => Type::Dyn,
                None => ty.clone(),
            },
            Type::Meta(Some(inner)) => Type::Meta(Some(Arc::new(self.resolve(inner, to_dyn)))),
            Type::Compound(compound) => {
                let parameters = compound.parameters.iter().map(|parameter| self.resolve(parameter, to_dyn)).collect();
                Type::compound(compound.constructor, parameters)
            }
            other => other.clone(),
        };
        if resolved.weight() > MAX_WEIGHT {
            self.too_large = true;
            return Type::Error;
        }
        resolved
    }
}

/// Returns a type of a signature, with its variables numbered from `first`.
pub(crate) fn instantiate(ty: &Type, first: usize) -> Type {
    match ty {
        Type::Variable(variable) => Type::Variable(first + variable),
        Type::Meta(Some(inner)) => Type::Meta(Some(Arc::new(instantiate(inner, first)))),
        Type::Compound(compound) => Type::compound(
            compound.constructor,
            compound.parameters.iter().map(|parameter| instantiate(parameter, first)).collect(),
        ),
        other => other.clone(),
    }
}

/// Returns the more general one of two types that unify.
pub(crate) fn most_general(a: &Type, b: &Type) -> Type {
    if is_equal_or_less_specific(a, b) { a.clone() } else { b.clone() }
}

fn is_equal_or_less_specific(a: &Type, b: &Type) -> bool {
    let is_open = |ty: &Type| ty.is_dyn() || matches!(ty, Type::Variable(_));
    match (a, b) {
        _ if is_open(a) => true,
        _ if is_open(b) => false,
        (Type::Meta(_), Type::Meta(_)) => true,
        (Type::Compound(a), Type::Compound(b)) => {
            a.constructor == b.constructor
                && a.parameters.iter().zip(&b.parameters).all(|(a, b)| is_equal_or_less_specific(a, b))
        }
        _ => a == b,
    }
}
