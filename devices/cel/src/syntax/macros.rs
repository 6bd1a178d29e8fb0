//! Macros: calls that the parser replaces.

use std::rc::Rc;

use super::SyntaxError;
use super::ast::{Element, Expr, Fold, Literal, NodeId};
use super::nodes::Nodes;

/// Variable of a loop's result. No expression can name it.
pub(crate) const ACCUMULATOR: &str = "@result";
/// Loop variable of `cel.bind`, a loop without iterations.
const UNUSED: &str = "#unused";
/// Variable for the list that `sortBy` sorts.
const SORT_INPUT: &str = "@__sortBy_input__";

type Expanded = Result<Option<NodeId>, SyntaxError>;

/// Expands a call of a macro. Returns `None` for other calls.
pub(super) fn expand(
    nodes: &mut Nodes,
    offset: usize,
    function: &str,
    target: Option<NodeId>,
    arguments: &[NodeId],
) -> Expanded {
    let mut expansion = Expansion { nodes, offset };
    let Some(target) = target else {
        return match (function, arguments) {
            ("has", [field]) => expansion.has(*field).map(Some),
            _ => Ok(None),
        };
    };
    let node = match (function, arguments) {
        ("all" | "exists" | "exists_one" | "existsOne", [variable, predicate]) => {
            let iteration = expansion.iteration(target, &[*variable])?;
            expansion.quantifier(function, iteration, *predicate)
        }
        ("all" | "exists" | "exists_one" | "existsOne", [first, second, predicate]) => {
            let iteration = expansion.iteration(target, &[*first, *second])?;
            expansion.quantifier(function, iteration, *predicate)
        }
        ("map", [variable, value]) => expansion.list(target, &[*variable], None, Some(*value)),
        ("map", [variable, filter, value]) => expansion.list(target, &[*variable], Some(*filter), Some(*value)),
        ("filter", [variable, filter]) => expansion.list(target, &[*variable], Some(*filter), None),
        ("transformList", [first, second, value]) => expansion.list(target, &[*first, *second], None, Some(*value)),
        ("transformList", [first, second, filter, value]) => {
            expansion.list(target, &[*first, *second], Some(*filter), Some(*value))
        }
        ("transformMap" | "transformMapEntry", [first, second, rest @ ..]) if matches!(rest.len(), 1 | 2) => {
            let (value, filter) = (rest[rest.len() - 1], (rest.len() == 2).then(|| rest[0]));
            expansion.map(target, &[*first, *second], filter, value, function == "transformMapEntry")
        }
        ("optMap" | "optFlatMap", [variable, value]) => expansion.optional(function, target, *variable, *value),
        ("sortBy", [variable, key]) => expansion.sort_by(target, *variable, *key),
        ("bind", [variable, value, result]) if expansion.ident(target).as_deref() == Some("cel") => {
            match expansion.ident(*variable) {
                Some(variable) => expansion.bind(variable, *value, *result),
                None => Err(expansion.error(*variable, "cel.bind() variable names must be simple identifiers")),
            }
        }
        _ => return Ok(None),
    };
    node.map(Some)
}

struct Expansion<'n> {
    nodes: &'n mut Nodes,
    offset: usize,
}

type Variables = (Rc<str>, Option<Rc<str>>);

/// The elements over which a macro iterates, and the variables for each of them.
struct Iteration {
    range: NodeId,
    variables: Variables,
}

impl Expansion<'_> {
    fn node(&mut self, expr: Expr) -> Result<NodeId, SyntaxError> {
        self.nodes.add(self.offset, expr)
    }

    fn call(&mut self, function: &str, arguments: Vec<NodeId>) -> Result<NodeId, SyntaxError> {
        self.nodes.add_call(self.offset, function, arguments)
    }

    fn member(&mut self, function: &str, target: NodeId, arguments: Vec<NodeId>) -> Result<NodeId, SyntaxError> {
        self.node(Expr::Call { function: function.into(), target: Some(target), arguments })
    }

    fn literal(&mut self, literal: Literal) -> Result<NodeId, SyntaxError> {
        self.node(Expr::Literal(literal))
    }

    fn variable(&mut self, name: &str) -> Result<NodeId, SyntaxError> {
        self.node(Expr::Ident(name.into()))
    }

    fn error(&self, id: NodeId, message: &str) -> SyntaxError {
        SyntaxError::new(self.nodes.offset(id), message)
    }

    fn ident(&self, id: NodeId) -> Option<Rc<str>> {
        match self.nodes.expr(id) {
            Expr::Ident(name) if !name.starts_with('.') => Some(name.clone()),
            _ => None,
        }
    }

    fn iteration(&self, range: NodeId, variables: &[NodeId]) -> Result<Iteration, SyntaxError> {
        let mut names = Vec::new();
        for id in variables {
            let name = self.ident(*id).ok_or_else(|| self.error(*id, "argument must be a simple name"))?;
            if &*name == "__result__" {
                return Err(self.error(*id, "iteration variable overwrites accumulator variable"));
            }
            if names.contains(&name) {
                return Err(self.error(*id, &format!("duplicate variable name: {name}")));
            }
            names.push(name);
        }
        let second = (names.len() == 2).then(|| names.swap_remove(1));
        Ok(Iteration { range, variables: (names.swap_remove(0), second) })
    }

    fn has(&mut self, field: NodeId) -> Result<NodeId, SyntaxError> {
        match self.nodes.expr(field) {
            Expr::Select { operand, field, test_only: false } => {
                let (operand, field) = (*operand, field.clone());
                self.node(Expr::Select { operand, field, test_only: true })
            }
            _ => Err(self.error(field, "invalid argument to has() macro")),
        }
    }

    fn fold(
        &mut self,
        iteration: Iteration,
        initial: NodeId,
        condition: NodeId,
        step: NodeId,
        result: NodeId,
    ) -> Result<NodeId, SyntaxError> {
        let Iteration { range, variables: (variable, second_variable) } = iteration;
        let accumulator = ACCUMULATOR.into();
        self.node(Expr::Fold(Box::new(Fold {
            range,
            variable,
            second_variable,
            accumulator,
            initial,
            condition,
            step,
            result,
        })))
    }

    fn quantifier(&mut self, function: &str, iteration: Iteration, predicate: NodeId) -> Result<NodeId, SyntaxError> {
        let accumulator = self.variable(ACCUMULATOR)?;
        let tested = self.variable(ACCUMULATOR)?;
        let result = self.variable(ACCUMULATOR)?;
        match function {
            "all" => {
                let initial = self.literal(Literal::Bool(true))?;
                let condition = self.call("@not_strictly_false", vec![tested])?;
                let step = self.call("_&&_", vec![accumulator, predicate])?;
                self.fold(iteration, initial, condition, step, result)
            }
            "exists" => {
                let initial = self.literal(Literal::Bool(false))?;
                let negated = self.call("!_", vec![tested])?;
                let condition = self.call("@not_strictly_false", vec![negated])?;
                let step = self.call("_||_", vec![accumulator, predicate])?;
                self.fold(iteration, initial, condition, step, result)
            }
            _ => {
                let initial = self.literal(Literal::Int(0))?;
                let condition = self.literal(Literal::Bool(true))?;
                let one = self.literal(Literal::Int(1))?;
                let sum = self.call("_+_", vec![accumulator, one])?;
                let step = self.call("_?_:_", vec![predicate, sum, tested])?;
                let expected = self.literal(Literal::Int(1))?;
                let result = self.call("_==_", vec![result, expected])?;
                self.fold(iteration, initial, condition, step, result)
            }
        }
    }

    /// Expands a macro to a loop whose result is a list of the elements that pass `filter`, or of `value` for each of them.
    fn list(
        &mut self,
        range: NodeId,
        variables: &[NodeId],
        filter: Option<NodeId>,
        value: Option<NodeId>,
    ) -> Result<NodeId, SyntaxError> {
        let iteration = self.iteration(range, variables)?;
        let value = match value {
            Some(value) => value,
            None => self.variable(&iteration.variables.0)?,
        };
        let list = self.node(Expr::List(vec![Element { value, optional: false }]))?;
        let accumulator = self.variable(ACCUMULATOR)?;
        let step = self.call("_+_", vec![accumulator, list])?;
        let initial = self.node(Expr::List(Vec::new()))?;
        self.collect(iteration, filter, initial, step)
    }

    /// Expands a macro to a loop whose result is a map. If `is_entry` is set, `value` is itself a map, whose entries are
    /// added; otherwise, the first variable is the key of `value`.
    fn map(
        &mut self,
        range: NodeId,
        variables: &[NodeId],
        filter: Option<NodeId>,
        value: NodeId,
        is_entry: bool,
    ) -> Result<NodeId, SyntaxError> {
        let iteration = self.iteration(range, variables)?;
        let accumulator = self.variable(ACCUMULATOR)?;
        let step = if is_entry {
            self.call("cel.@mapInsert", vec![accumulator, value])?
        } else {
            let key = self.variable(&iteration.variables.0)?;
            self.call("cel.@mapInsert", vec![accumulator, key, value])?
        };
        let initial = self.node(Expr::Map(Vec::new()))?;
        self.collect(iteration, filter, initial, step)
    }

    /// Expands a macro to a loop that starts with `initial` and omits the step for elements that fail `filter`.
    fn collect(
        &mut self,
        iteration: Iteration,
        filter: Option<NodeId>,
        initial: NodeId,
        mut step: NodeId,
    ) -> Result<NodeId, SyntaxError> {
        if let Some(filter) = filter {
            let unchanged = self.variable(ACCUMULATOR)?;
            step = self.call("_?_:_", vec![filter, step, unchanged])?;
        }
        let condition = self.literal(Literal::Bool(true))?;
        let result = self.variable(ACCUMULATOR)?;
        self.fold(iteration, initial, condition, step, result)
    }

    fn bind(&mut self, variable: Rc<str>, value: NodeId, result: NodeId) -> Result<NodeId, SyntaxError> {
        let range = self.node(Expr::List(Vec::new()))?;
        let condition = self.literal(Literal::Bool(false))?;
        let step = self.variable(&variable)?;
        self.node(Expr::Fold(Box::new(Fold {
            range,
            variable: UNUSED.into(),
            second_variable: None,
            accumulator: variable,
            initial: value,
            condition,
            step,
            result,
        })))
    }

    fn optional(
        &mut self,
        function: &str,
        target: NodeId,
        variable: NodeId,
        value: NodeId,
    ) -> Result<NodeId, SyntaxError> {
        let Some(name) = self.ident(variable) else {
            return Err(self.error(variable, &format!("{function}() variable name must be a simple identifier")));
        };
        let copied = self.nodes.copy(target)?;
        let tested = self.member("hasValue", target, Vec::new())?;
        let contained = self.member("value", copied, Vec::new())?;
        let mut mapped = self.bind(name, contained, value)?;
        if function == "optMap" {
            mapped = self.call("optional.of", vec![mapped])?;
        }
        let none = self.call("optional.none", Vec::new())?;
        self.call("_?_:_", vec![tested, mapped, none])
    }

    fn sort_by(&mut self, target: NodeId, variable: NodeId, key: NodeId) -> Result<NodeId, SyntaxError> {
        let input = self.variable(SORT_INPUT)?;
        let keys = self.list(input, &[variable], None, Some(key))?;
        let input = self.variable(SORT_INPUT)?;
        let sorted = self.member("@sortByAssociatedKeys", input, vec![keys])?;
        self.bind(SORT_INPUT.into(), target, sorted)
    }
}
