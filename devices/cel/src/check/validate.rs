//! Checks that need the types: literal durations, timestamps, regular expressions and formats are valid, and all
//! elements of a list or map have one type, except in arguments of `format`.

use super::Checked;
use super::types::Type;
use crate::data::time;
use crate::functions::{formatting, regexes};
use crate::syntax::SyntaxError;
use crate::syntax::ast::{Ast, Expr, Literal, NodeId};

/// Maximum number of regular expressions in one selector. Each takes time to compile.
const MAX_REGEXES: usize = 100;

pub(super) fn validate(ast: &Ast, checked: &Checked) -> Result<(), SyntaxError> {
    let mut validator = Validator { ast, checked, regexes: Vec::new() };
    validator.visit(ast.root, false)
}

struct Validator<'e> {
    ast: &'e Ast,
    checked: &'e Checked,
    regexes: Vec<&'e str>,
}

impl<'e> Validator<'e> {
    /// Checks a node. `in_format`: the node is within arguments of `format`, where elements may have different types.
    fn visit(&mut self, id: NodeId, in_format: bool) -> Result<(), SyntaxError> {
        let expr = self.ast.expr(id);
        let mut in_format = in_format;
        match expr {
            Expr::Call { function, target, arguments } => {
                self.call(id, function, *target, arguments)?;
                in_format |= **function == *"format";
            }
            Expr::List(elements) if !in_format => {
                self.check_same_types(elements.iter().map(|element| (element.value, element.optional)))?;
            }
            Expr::Map(entries) if !in_format => {
                self.check_same_types(entries.iter().map(|entry| (entry.key, false)))?;
                self.check_same_types(entries.iter().map(|entry| (entry.value, entry.optional)))?;
            }
            _ => {}
        }
        let mut children = Vec::new();
        expr.children(|child| children.push(child));
        children.into_iter().try_for_each(|child| self.visit(child, in_format))
    }

    fn check_same_types(&self, elements: impl Iterator<Item = (NodeId, bool)>) -> Result<(), SyntaxError> {
        let mut expected: Option<&Type> = None;
        for (id, optional) in elements {
            let ty = self.checked.ty(id);
            let ty = if optional { ty.optional_value().unwrap_or(ty) } else { ty };
            match expected {
                Some(expected) if expected != ty => {
                    let message = format!("expected type '{expected}' but found '{ty}'");
                    return Err(SyntaxError::new(self.ast.offset(id), message));
                }
                _ => expected = Some(ty),
            }
        }
        Ok(())
    }

    fn text(&self, id: Option<&NodeId>) -> Option<&'e str> {
        match self.ast.expr(*id?) {
            Expr::Literal(Literal::String(text)) => Some(text),
            _ => None,
        }
    }

    fn call(
        &mut self,
        id: NodeId,
        function: &str,
        target: Option<NodeId>,
        arguments: &[NodeId],
    ) -> Result<(), SyntaxError> {
        let invalid = |id: Option<&NodeId>, message: String| {
            Err(SyntaxError::new(id.map_or(0, |id| self.ast.offset(*id)), message))
        };
        let first = self.text(arguments.first());
        match (function, first) {
            ("duration", Some(text)) if time::parse_duration(text).is_none() => {
                invalid(arguments.first(), "invalid duration argument".to_owned())
            }
            ("timestamp", Some(text)) if time::parse_timestamp(text).flatten().is_none() => {
                invalid(arguments.first(), "invalid timestamp argument".to_owned())
            }
            ("matches" | "find" | "findAll", _) => {
                let pattern = if target.is_some() { arguments.first() } else { arguments.get(1) };
                let Some(text) = self.text(pattern) else { return Ok(()) };
                if !self.regexes.contains(&text) {
                    self.regexes.push(text);
                }
                if self.regexes.len() > MAX_REGEXES {
                    return invalid(pattern, format!("more than {MAX_REGEXES} regular expressions"));
                }
                match regexes::compile(text) {
                    Ok(_) => Ok(()),
                    Err(reason) => invalid(pattern, format!("invalid {function} argument: {reason}")),
                }
            }
            ("format", _) => match (self.text(target.as_ref()), arguments.first().map(|list| self.ast.expr(*list))) {
                (Some(format), Some(Expr::List(elements))) => {
                    let types: Vec<&Type> = elements.iter().map(|element| self.checked.ty(element.value)).collect();
                    formatting::check(format, &types).or_else(|message| invalid(Some(&id), message))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
