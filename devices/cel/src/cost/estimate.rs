//! Estimate of an expression's greatest cost for any device. The API server limits this estimate.

mod calls;
mod shape;

use std::rc::Rc;

use shape::Shape;

use super::size::{EntrySizes, Range};
use super::{LIST, MAP};
use crate::check::types::{Constructor, DEVICE, Type};
use crate::check::{Checked, DEVICE_VARIABLE};
use crate::syntax::ast::{Ast, Expr, Fold, Literal, NodeId};
use crate::syntax::macros::ACCUMULATOR;

/// Estimates the greatest cost of an expression.
pub(crate) fn estimate(ast: &Ast, checked: &Checked) -> u64 {
    let nodes = ast.nodes.len();
    let mut estimator = Estimator {
        ast,
        checked,
        sizes: vec![None; nodes],
        entries: vec![None; nodes],
        shapes: vec![None; nodes],
        locals: Vec::new(),
    };
    estimator.cost(ast.root).max
}

struct Estimator<'e> {
    ast: &'e Ast,
    checked: &'e Checked,
    /// Size of each syntax node, if known.
    sizes: Vec<Option<Range>>,
    /// Sizes of the entries of each syntax node, if known.
    entries: Vec<Option<EntrySizes>>,
    /// Part of the device that each syntax node stands for, if any.
    shapes: Vec<Option<Shape>>,
    /// Variables of loops and of `cel.bind`, innermost last.
    locals: Vec<(Rc<str>, Local)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Local {
    shape: Option<Shape>,
    size: Option<Range>,
    entries: Option<EntrySizes>,
}

impl Estimator<'_> {
    fn ty(&self, id: NodeId) -> &Type {
        self.checked.ty(id)
    }

    fn local(&self, name: &str) -> Option<Local> {
        self.locals.iter().rev().find(|(variable, _)| **variable == *name).map(|(_, local)| *local)
    }

    fn local_of(&self, id: NodeId) -> Option<Local> {
        match self.ast.expr(id) {
            Expr::Ident(name) => self.local(name),
            _ => None,
        }
    }

    fn shape(&self, id: NodeId) -> Option<Shape> {
        match self.local_of(id) {
            Some(local) => local.shape,
            None => self.shapes[id.0],
        }
    }

    fn entry_sizes(&self, id: NodeId) -> Option<EntrySizes> {
        self.entries[id.0].or_else(|| self.local_of(id).and_then(|local| local.entries))
    }

    /// Returns the size of a node, if it is known.
    fn size(&self, id: NodeId) -> Option<Range> {
        if let Some(size) = self.sizes[id.0] {
            return Some(size);
        }
        match self.ast.expr(id) {
            Expr::Literal(literal) => return Some(Range::exactly(literal_size(literal))),
            Expr::List(elements) => return Some(Range::exactly(elements.len() as u64)),
            Expr::Map(entries) => return Some(Range::exactly(entries.len() as u64)),
            _ => {}
        }
        if let Some(shape) = self.shape(id) {
            return Some(Range::up_to(shape.max_size()));
        }
        if is_scalar(self.ty(id)) {
            return Some(Range::ONE);
        }
        self.local_of(id).and_then(|local| local.size)
    }

    fn size_or_unknown(&self, id: NodeId) -> Range {
        self.size(id).unwrap_or(Range::UNKNOWN)
    }

    fn set_size(&mut self, id: NodeId, size: Option<Range>) {
        if size.is_some() {
            self.sizes[id.0] = size;
        }
    }

    fn set_entries(&mut self, id: NodeId, entries: Option<EntrySizes>) {
        if entries.is_some() {
            self.entries[id.0] = entries;
        }
    }

    fn cost(&mut self, id: NodeId) -> Range {
        match self.ast.expr(id) {
            Expr::Literal(_) => Range::ZERO,
            Expr::Ident(name) => {
                self.shapes[id.0] = match self.local(name) {
                    Some(local) => local.shape,
                    None => (name.trim_start_matches('.') == DEVICE_VARIABLE).then_some(Shape::Device),
                };
                Range::ONE
            }
            Expr::Select { operand, test_only: true, .. } => self.cost(*operand),
            Expr::Select { operand, field, .. } => {
                let cost = self.cost(*operand);
                self.shapes[id.0] = self.shape(*operand).and_then(|shape| shape.field(field));
                let ty = self.ty(*operand);
                let is_counted = *ty == DEVICE || ty.parameters(Constructor::Map).is_some();
                cost.plus(if is_counted { Range::ONE } else { Range::ZERO })
            }
            Expr::Call { function, target, arguments } => self.call(id, function, *target, arguments),
            Expr::List(elements) => {
                let mut cost = Range::exactly(LIST);
                let mut size = empty_or_any(elements.is_empty());
                for element in elements {
                    cost = cost.plus(self.cost(element.value));
                    size = size.union(self.size_or_unknown(element.value));
                }
                self.set_entries(id, Some(EntrySizes { is_list: true, key: Range::ONE, value: size }));
                cost
            }
            Expr::Map(entries) => {
                let mut cost = Range::exactly(MAP);
                let (mut keys, mut values) = (empty_or_any(entries.is_empty()), empty_or_any(entries.is_empty()));
                for entry in entries {
                    cost = cost.plus(self.cost(entry.key)).plus(self.cost(entry.value));
                    keys = keys.union(self.size_or_unknown(entry.key));
                    values = values.union(self.size_or_unknown(entry.value));
                }
                self.set_entries(id, Some(EntrySizes { is_list: false, key: keys, value: values }));
                cost
            }
            Expr::Fold(fold) if *fold.accumulator != *ACCUMULATOR => self.bind(id, fold),
            Expr::Fold(fold) => self.fold(id, fold),
        }
    }

    fn push_value(&mut self, name: &Rc<str>, value: NodeId) {
        let local = Local { shape: self.shape(value), size: self.size(value), entries: self.entry_sizes(value) };
        self.locals.push((name.clone(), local));
    }

    fn bind(&mut self, id: NodeId, fold: &Fold) -> Range {
        let cost = self.cost(fold.range).plus(self.cost(fold.initial));
        self.push_value(&fold.accumulator, fold.initial);
        let cost = cost.plus(self.cost(fold.result));
        let (size, entries) = (self.size(fold.result), self.entry_sizes(fold.result));
        self.locals.pop();
        self.set_size(id, size);
        self.set_entries(id, entries);
        cost
    }

    fn fold(&mut self, id: NodeId, fold: &Fold) -> Range {
        let cost = self.cost(fold.range).plus(self.cost(fold.initial));
        let outer = self.locals.len();
        self.push_value(&fold.accumulator, fold.initial);
        let inner = self.locals.len();
        let entries = self.entry_sizes(fold.range);
        let is_list = match entries {
            Some(entries) => entries.is_list,
            None => self.ty(fold.range).parameters(Constructor::List).is_some(),
        };
        let shape = self.shape(fold.range);
        let key = Local {
            shape: shape.filter(|_| !is_list).and_then(Shape::key),
            size: entries.map(|entries| entries.key),
            entries: None,
        };
        let value =
            Local { shape: shape.and_then(Shape::element), size: entries.map(|entries| entries.value), entries: None };
        match &fold.second_variable {
            Some(second) => {
                self.locals.push((fold.variable.clone(), key));
                self.locals.push((second.clone(), value));
            }
            None => self.locals.push((fold.variable.clone(), if is_list { value } else { key })),
        }
        let round = self.cost(fold.condition).plus(self.cost(fold.step));
        self.locals.truncate(inner);
        let cost = cost.plus(self.cost(fold.result));
        self.locals.truncate(outer);
        let rounds = self.size_or_unknown(fold.range);
        match self.ast.expr(fold.initial) {
            Expr::Literal(_) => {
                let size = self.size(fold.initial);
                self.set_size(id, size);
            }
            Expr::List(_) | Expr::Map(_) => {
                self.set_size(id, Some(rounds));
                let entries = self.entry_sizes(fold.step);
                self.set_entries(id, entries);
            }
            _ => {}
        }
        cost.plus(rounds.times(round))
    }
}

/// Returns the initial range of a union: zero for an empty list, otherwise a range that any union replaces.
fn empty_or_any(is_empty: bool) -> Range {
    Range { min: if is_empty { 0 } else { u64::MAX }, max: 0 }
}

fn literal_size(literal: &Literal) -> u64 {
    match literal {
        Literal::String(text) => text.chars().count() as u64,
        Literal::Bytes(bytes) => bytes.len() as u64,
        _ => 1,
    }
}

fn is_scalar(ty: &Type) -> bool {
    match ty.optional_value() {
        Some(value) => is_scalar(value),
        None => {
            matches!(ty, Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint)
        }
    }
}
