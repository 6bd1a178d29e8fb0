//! The nodes of a tree that is being parsed, bounded in number and height.

use super::SyntaxError;
use super::ast::{Ast, Expr, Node, NodeId};

/// Maximum height of the tree with all macros expanded. Checks and evaluation recurse at most this deep.
const MAX_HEIGHT: usize = 300;
/// Maximum number of nodes with all macros expanded. Without this limit, the number could grow exponentially, because
/// `optMap` copies its target.
const MAX_NODES: usize = 50_000;

/// Nodes, each after its children.
#[derive(Default)]
pub(super) struct Nodes(Vec<Node>);

impl Nodes {
    /// Adds a node.
    pub(super) fn add(&mut self, offset: usize, expr: Expr) -> Result<NodeId, SyntaxError> {
        let mut height = 0;
        expr.children(|child| height = height.max(self.0[child.0].height + 1));
        if height > MAX_HEIGHT {
            return Err(SyntaxError::new(offset, format!("expression recursion limit exceeded: {MAX_HEIGHT}")));
        }
        if self.0.len() == MAX_NODES {
            return Err(SyntaxError::new(offset, format!("expression has more than {MAX_NODES} operations")));
        }
        self.0.push(Node { expr, offset, height });
        Ok(NodeId(self.0.len() - 1))
    }

    /// Adds a call of a function or operator that is not a macro.
    pub(super) fn add_call(
        &mut self,
        offset: usize,
        function: &str,
        arguments: Vec<NodeId>,
    ) -> Result<NodeId, SyntaxError> {
        self.add(offset, Expr::Call { function: function.into(), target: None, arguments })
    }

    /// Copies a subtree.
    pub(super) fn copy(&mut self, id: NodeId) -> Result<NodeId, SyntaxError> {
        let Node { mut expr, offset, .. } = self.0[id.0].clone();
        match &mut expr {
            Expr::Literal(_) | Expr::Ident(_) => {}
            Expr::Select { operand, .. } => *operand = self.copy(*operand)?,
            Expr::Call { target, arguments, .. } => {
                for child in target.iter_mut().chain(arguments) {
                    *child = self.copy(*child)?;
                }
            }
            Expr::List(elements) => {
                for element in elements {
                    element.value = self.copy(element.value)?;
                }
            }
            Expr::Map(entries) => {
                for entry in entries {
                    entry.key = self.copy(entry.key)?;
                    entry.value = self.copy(entry.value)?;
                }
            }
            Expr::Fold(fold) => {
                let fold = &mut **fold;
                for child in [&mut fold.range, &mut fold.initial, &mut fold.condition, &mut fold.step, &mut fold.result]
                {
                    *child = self.copy(*child)?;
                }
            }
        }
        self.add(offset, expr)
    }

    pub(super) fn expr(&self, id: NodeId) -> &Expr {
        &self.0[id.0].expr
    }

    pub(super) fn offset(&self, id: NodeId) -> usize {
        self.0[id.0].offset
    }

    /// Returns the tree with this root.
    pub(super) fn finish(self, root: NodeId) -> Ast {
        Ast { nodes: self.0, root }
    }
}
