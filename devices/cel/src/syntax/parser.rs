//! Recursive-descent parser with bounded nesting and a bounded number of nodes.

use std::rc::Rc;

use super::ast::{Ast, Element, Entry, Expr, Literal, NodeId};
use super::lexer::{Kind, Token, tokens};
use super::nodes::Nodes;
use super::{SyntaxError, literal, macros};

/// Maximum nesting of expressions, as in `cel-go`.
const MAX_NESTING: usize = 250;
/// Words that are not names of variables or functions.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "null",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Parses an expression and expands its macros.
pub(crate) fn parse(text: &str) -> Result<Ast, SyntaxError> {
    let mut parser = Parser { tokens: tokens(text)?, position: 0, nesting: 0, nodes: Nodes::default() };
    let root = parser.expression()?;
    if parser.peek().kind != Kind::End {
        return Err(parser.unexpected("end of input"));
    }
    Ok(parser.nodes.finish(root))
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    position: usize,
    nesting: usize,
    nodes: Nodes,
}

impl<'t> Parser<'t> {
    fn node(&mut self, offset: usize, expr: Expr) -> Result<NodeId, SyntaxError> {
        self.nodes.add(offset, expr)
    }

    fn call(&mut self, offset: usize, function: &str, arguments: Vec<NodeId>) -> Result<NodeId, SyntaxError> {
        self.nodes.add_call(offset, function, arguments)
    }

    fn peek(&self) -> Token<'t> {
        self.tokens[self.position]
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        // The parser never goes past the last token, the end of the input.
        self.position = (self.position + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, symbol: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Symbol && token.text == symbol
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let accepted = self.is(symbol);
        if accepted {
            self.next();
        }
        accepted
    }

    fn expect(&mut self, symbol: &str) -> Result<(), SyntaxError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.unexpected(&format!("'{symbol}'"))) }
    }

    fn unexpected(&self, expected: &str) -> SyntaxError {
        let token = self.peek();
        let found = if token.kind == Kind::End { "<EOF>" } else { token.text };
        SyntaxError::new(token.offset, format!("Syntax error: mismatched input '{found}' expecting {expected}"))
    }

    fn expression(&mut self) -> Result<NodeId, SyntaxError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            let offset = self.peek().offset;
            return Err(SyntaxError::new(offset, format!("expression recursion limit exceeded: {MAX_NESTING}")));
        }
        let condition = self.logical("||")?;
        let offset = self.peek().offset;
        let expression = if self.accept("?") {
            let yes = self.logical("||")?;
            self.expect(":")?;
            let no = self.expression()?;
            self.call(offset, "_?_:_", vec![condition, yes, no])?
        } else {
            condition
        };
        self.nesting -= 1;
        Ok(expression)
    }

    /// Parses operands of `||` or `&&`. Several operands are one call with all of them.
    fn logical(&mut self, operator: &str) -> Result<NodeId, SyntaxError> {
        let operand = |parser: &mut Self| if operator == "||" { parser.logical("&&") } else { parser.relation() };
        let first = operand(self)?;
        let offset = self.peek().offset;
        let mut operands = vec![first];
        while self.accept(operator) {
            operands.push(operand(self)?);
        }
        if operands.len() == 1 { Ok(first) } else { self.call(offset, &format!("_{operator}_"), operands) }
    }

    fn relation(&mut self) -> Result<NodeId, SyntaxError> {
        let mut left = self.sum()?;
        loop {
            let Token { text, kind, offset } = self.peek();
            let function = match (kind, text) {
                (Kind::Symbol, "==" | "!=" | "<" | "<=" | ">" | ">=") => format!("_{text}_"),
                (Kind::Identifier, "in") => "@in".to_owned(),
                _ => return Ok(left),
            };
            self.next();
            let right = self.sum()?;
            left = self.call(offset, &function, vec![left, right])?;
        }
    }

    fn sum(&mut self) -> Result<NodeId, SyntaxError> {
        self.binary(&["+", "-"], |parser| parser.binary(&["*", "/", "%"], Self::unary))
    }

    fn binary(
        &mut self,
        operators: &[&str],
        operand: impl Fn(&mut Self) -> Result<NodeId, SyntaxError>,
    ) -> Result<NodeId, SyntaxError> {
        let mut left = operand(self)?;
        loop {
            let Token { text, offset, .. } = self.peek();
            if !operators.iter().any(|operator| self.accept(operator)) {
                return Ok(left);
            }
            let right = operand(self)?;
            left = self.call(offset, &format!("_{text}_"), vec![left, right])?;
        }
    }

    fn unary(&mut self) -> Result<NodeId, SyntaxError> {
        let Token { text, offset, .. } = self.peek();
        if !self.is("!") && !self.is("-") {
            return self.member();
        }
        let mut count = 0;
        while self.accept(text) {
            count += 1;
        }
        let number = self.peek();
        if text == "-" && count == 1 && matches!(number.kind, Kind::Int | Kind::Double) {
            self.next();
            let value = self.literal(number, literal::number(number.kind, number.text, true))?;
            return self.postfix(value);
        }
        let operand = self.member()?;
        if count % 2 == 0 { Ok(operand) } else { self.call(offset, &format!("{text}_"), vec![operand]) }
    }

    fn member(&mut self) -> Result<NodeId, SyntaxError> {
        let primary = self.primary()?;
        self.postfix(primary)
    }

    /// Parses fields, calls and indexes after an operand.
    fn postfix(&mut self, mut operand: NodeId) -> Result<NodeId, SyntaxError> {
        loop {
            let offset = self.peek().offset;
            if self.accept(".") {
                let optional = self.accept("?");
                let name = self.next();
                let field = match name.kind {
                    Kind::Identifier if !matches!(name.text, "in" | "true" | "false" | "null") => name.text,
                    Kind::EscapedIdentifier => name.text.trim_matches('`'),
                    _ => {
                        return Err(SyntaxError::new(
                            name.offset,
                            format!("Syntax error: mismatched input '{}' expecting a field name", name.text),
                        ));
                    }
                };
                operand = if optional {
                    let field = self.node(name.offset, Expr::Literal(Literal::String(field.to_owned())))?;
                    self.call(offset, "_?._", vec![operand, field])?
                } else if name.kind == Kind::Identifier && self.is("(") {
                    let offset = self.peek().offset;
                    let arguments = self.arguments()?;
                    self.invoke(offset, name.text, Some(operand), arguments)?
                } else {
                    self.node(offset, Expr::Select { operand, field: field.into(), test_only: false })?
                };
            } else if self.accept("[") {
                let function = if self.accept("?") { "_[?_]" } else { "_[_]" };
                let index = self.expression()?;
                self.expect("]")?;
                operand = self.call(offset, function, vec![operand, index])?;
            } else if self.is("{") {
                return Err(SyntaxError::new(offset, "messages cannot be created in device selectors"));
            } else {
                return Ok(operand);
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<NodeId>, SyntaxError> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        if self.accept(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            if !self.accept(",") {
                self.expect(")")?;
                return Ok(arguments);
            }
        }
    }

    /// Expands a macro, or adds the call of a function.
    fn invoke(
        &mut self,
        offset: usize,
        function: &str,
        target: Option<NodeId>,
        arguments: Vec<NodeId>,
    ) -> Result<NodeId, SyntaxError> {
        match macros::expand(&mut self.nodes, offset, function, target, &arguments)? {
            Some(expanded) => Ok(expanded),
            None => self.node(offset, Expr::Call { function: function.into(), target, arguments }),
        }
    }

    fn primary(&mut self) -> Result<NodeId, SyntaxError> {
        let token = self.peek();
        match token.kind {
            Kind::Int | Kind::Uint | Kind::Double => {
                self.next();
                self.literal(token, literal::number(token.kind, token.text, false))
            }
            Kind::String => {
                self.next();
                self.literal(token, literal::string(token.text).map(Literal::String))
            }
            Kind::Bytes => {
                self.next();
                self.literal(token, literal::bytes(token.text).map(Literal::Bytes))
            }
            Kind::Identifier => self.name(""),
            Kind::Symbol if self.accept("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Symbol if self.accept("[") => self.list(token.offset),
            Kind::Symbol if self.accept("{") => self.map(token.offset),
            Kind::Symbol if self.accept(".") => self.name("."),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn literal(&mut self, token: Token<'t>, value: Result<Literal, &'static str>) -> Result<NodeId, SyntaxError> {
        let value = value.map_err(|message| SyntaxError::new(token.offset, message))?;
        self.node(token.offset, Expr::Literal(value))
    }

    /// Parses a constant, a variable or the call of a global function. `dot`: the dot before it, or empty.
    fn name(&mut self, dot: &str) -> Result<NodeId, SyntaxError> {
        let token = self.next();
        let constant = match token.text {
            "true" => Some(Literal::Bool(true)),
            "false" => Some(Literal::Bool(false)),
            "null" => Some(Literal::Null),
            _ => None,
        };
        match constant {
            Some(value) if dot.is_empty() => self.node(token.offset, Expr::Literal(value)),
            _ if token.kind != Kind::Identifier || RESERVED.contains(&token.text) => {
                Err(SyntaxError::new(token.offset, format!("reserved identifier: {}", token.text)))
            }
            _ => {
                let name: Rc<str> = format!("{dot}{}", token.text).into();
                if self.is("(") {
                    let offset = self.peek().offset;
                    let arguments = self.arguments()?;
                    self.invoke(offset, &name, None, arguments)
                } else {
                    self.node(token.offset, Expr::Ident(name))
                }
            }
        }
    }

    fn list(&mut self, offset: usize) -> Result<NodeId, SyntaxError> {
        let mut elements = Vec::new();
        while !self.is("]") && !self.is(",") {
            let optional = self.accept("?");
            elements.push(Element { value: self.expression()?, optional });
            if self.is("]") {
                break;
            }
            self.expect(",")?;
            if self.is("]") {
                self.next();
                return self.node(offset, Expr::List(elements));
            }
        }
        if elements.is_empty() {
            self.accept(",");
        }
        self.expect("]")?;
        self.node(offset, Expr::List(elements))
    }

    fn map(&mut self, offset: usize) -> Result<NodeId, SyntaxError> {
        let mut entries = Vec::new();
        loop {
            if entries.is_empty() {
                self.accept(",");
            }
            if self.accept("}") {
                return self.node(offset, Expr::Map(entries));
            }
            let optional = self.accept("?");
            let key = self.expression()?;
            self.expect(":")?;
            entries.push(Entry { key, value: self.expression()?, optional });
            if !self.is("}") {
                self.expect(",")?;
            }
        }
    }
}
