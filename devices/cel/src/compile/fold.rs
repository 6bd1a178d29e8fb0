//! Loops and `cel.bind`.

use super::{Compiler, Outcome};
use crate::cost;
use crate::eval::program::{self, Bind, Node, Step};
use crate::eval::value::Value;
use crate::syntax::ast::{Element, Expr, Fold, NodeId};
use crate::syntax::macros::ACCUMULATOR;

impl Compiler<'_> {
    fn slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    pub(super) fn fold(&mut self, fold: &Fold) -> Outcome {
        let outer = self.scopes.len();
        if *fold.accumulator != *ACCUMULATOR {
            // `cel.bind`: the accumulator is the bound variable.
            let value = self.node(fold.initial)?;
            let slot = self.slot();
            if let Node::Domain { kind, name, .. } = &value {
                self.domains.push((slot, *kind, name.clone()));
            }
            self.scopes.push((fold.accumulator.clone(), slot));
            let result = self.node(fold.result)?;
            self.scopes.truncate(outer);
            return Ok(Node::Bind(Box::new(Bind { slot, value, result })));
        }
        let range = self.node(fold.range)?;
        let initial = match self.node(fold.initial)? {
            Node::Constant(value) => value,
            _ => Value::Null,
        };
        let accumulator = self.slot();
        self.scopes.push((fold.accumulator.clone(), accumulator));
        let inner = self.scopes.len();
        let variable = self.slot();
        self.scopes.push((fold.variable.clone(), variable));
        let second_variable = fold.second_variable.as_ref().map(|_| self.slot());
        if let (Some(name), Some(slot)) = (&fold.second_variable, second_variable) {
            self.scopes.push((name.clone(), slot));
        }
        let condition = self.node(fold.condition)?;
        let step = self.step(fold.step)?;
        self.scopes.truncate(inner);
        let result = self.node(fold.result)?;
        self.scopes.truncate(outer);
        Ok(Node::Fold(Box::new(program::Fold {
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

    fn step(&mut self, id: NodeId) -> Outcome<Step> {
        if let Some((filter, addition)) = self.filtered(id)
            && let Some(step) = self.addition(addition, Some(filter))?
        {
            return Ok(step);
        }
        match self.addition(id, None)? {
            Some(step) => Ok(step),
            None => Ok(Step::Next(self.node(id)?)),
        }
    }

    /// Returns condition and addition of a step that changes the accumulator only if the condition holds.
    fn filtered(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        let Expr::Call { function, arguments, .. } = self.ast.expr(id) else { return None };
        match (&**function, &arguments[..]) {
            ("_?_:_", [filter, addition, unchanged]) if self.is_accumulator(*unchanged) => Some((*filter, *addition)),
            _ => None,
        }
    }

    fn is_accumulator(&self, id: NodeId) -> bool {
        matches!(self.ast.expr(id), Expr::Ident(name) if **name == *ACCUMULATOR)
    }

    /// Compiles a step that adds to the list or map in the accumulator. `None`: it is another step.
    fn addition(&mut self, id: NodeId, filter: Option<NodeId>) -> Outcome<Option<Step>> {
        let Expr::Call { function, arguments, .. } = self.ast.expr(id) else { return Ok(None) };
        let [accumulator, added @ ..] = &arguments[..] else { return Ok(None) };
        if !self.is_accumulator(*accumulator) {
            return Ok(None);
        }
        let (added, to_map) = match (&**function, added) {
            ("_+_", [list]) => match self.ast.expr(*list) {
                Expr::List(elements) => match &elements[..] {
                    [Element { value, optional: false }] => (vec![*value], false),
                    _ => return Ok(None),
                },
                _ => return Ok(None),
            },
            ("cel.@mapInsert", added) => (added.to_vec(), true),
            _ => return Ok(None),
        };
        let filter = filter.map(|filter| self.node(filter)).transpose()?;
        // The accumulator and the addition cost one each. If the added element is a literal, its list is constant and
        // has no cost.
        let is_constant = matches!(added[..], [value] if matches!(self.ast.expr(value), Expr::Literal(_)));
        let list = if to_map || is_constant { 0 } else { cost::LIST };
        let added = self.nodes(added)?;
        Ok(Some(Step::Add { filter, added, to_map, cost: 2 + list }))
    }
}
