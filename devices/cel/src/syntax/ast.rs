//! Syntax tree: nodes in one vector, children by index.

use std::rc::Rc;

/// Index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) usize);

/// Constant that is written in the expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

/// Element of a list literal; `?` before it makes it optional.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) value: NodeId,
    pub(crate) optional: bool,
}

/// Entry of a map literal; `?` before the key makes it optional.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: NodeId,
    pub(crate) value: NodeId,
    pub(crate) optional: bool,
}

/// Loop over a list or map. All comprehension macros expand to it; `cel.bind` is a loop without iterations.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) range: NodeId,
    /// List element or map key; with a second variable, list index or map key.
    pub(crate) variable: Rc<str>,
    /// List element or map value.
    pub(crate) second_variable: Option<Rc<str>>,
    pub(crate) accumulator: Rc<str>,
    pub(crate) initial: NodeId,
    pub(crate) condition: NodeId,
    pub(crate) step: NodeId,
    pub(crate) result: NodeId,
}

/// Kind of a node, with its children.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Literal(Literal),
    Ident(Rc<str>),
    Select { operand: NodeId, field: Rc<str>, test_only: bool },
    Call { function: Rc<str>, target: Option<NodeId>, arguments: Vec<NodeId> },
    List(Vec<Element>),
    Map(Vec<Entry>),
    Fold(Box<Fold>),
}

/// Node: its kind, the byte offset where it is written, and its height above its deepest leaf.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) expr: Expr,
    pub(crate) offset: usize,
    pub(crate) height: usize,
}

/// Parsed expression.
#[derive(Clone, Debug)]
pub(crate) struct Ast {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeId,
}

impl Ast {
    pub(crate) fn expr(&self, id: NodeId) -> &Expr {
        &self.nodes[id.0].expr
    }

    pub(crate) fn offset(&self, id: NodeId) -> usize {
        self.nodes[id.0].offset
    }
}

impl Expr {
    /// Calls `visit` for each child in evaluation order.
    pub(crate) fn children(&self, mut visit: impl FnMut(NodeId)) {
        match self {
            Expr::Literal(_) | Expr::Ident(_) => {}
            Expr::Select { operand, .. } => visit(*operand),
            Expr::Call { target, arguments, .. } => {
                target.iter().copied().for_each(&mut visit);
                arguments.iter().copied().for_each(visit);
            }
            Expr::List(elements) => elements.iter().for_each(|element| visit(element.value)),
            Expr::Map(entries) => {
                for entry in entries {
                    visit(entry.key);
                    visit(entry.value);
                }
            }
            Expr::Fold(fold) => {
                for child in [fold.range, fold.initial, fold.condition, fold.step, fold.result] {
                    visit(child);
                }
            }
        }
    }
}
