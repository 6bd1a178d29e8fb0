//! Expressions in double braces: numbers, `.Index`, `.Count`, functions, pipelines.

use std::fmt;

use super::TemplateContext;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Index,
    Count,
    Constant(Number),
    Call(Function, Vec<Expression>),
}

/// A number. Its variant determines its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(i64),
    Real(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Whole(number) => number.fmt(f),
            Number::Real(number) => number.fmt(f),
        }
    }
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Real(number) => number,
        }
    }
}

/// A function of scheduler_perf's templates. It computes with real numbers; functions with `Int` in their
/// names truncate the result. `Mod` truncates its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Function {
    operator: Operator,
    is_whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

const FUNCTIONS: [(&str, Operator, bool); 9] = [
    ("AddFloat", Operator::Add, false),
    ("AddInt", Operator::Add, true),
    ("DivideFloat", Operator::Divide, false),
    ("DivideInt", Operator::Divide, true),
    ("Mod", Operator::Modulo, true),
    ("MultiplyFloat", Operator::Multiply, false),
    ("MultiplyInt", Operator::Multiply, true),
    ("SubtractFloat", Operator::Subtract, false),
    ("SubtractInt", Operator::Subtract, true),
];

impl Expression {
    /// Parses the text between the braces.
    pub(super) fn parse(text: &str) -> Result<Expression, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, text };
        let expression = parser.pipeline()?;
        match parser.tokens {
            [] => Ok(expression),
            [token, ..] => Err(parser.unexpected(token)),
        }
    }

    pub(super) fn depends_on_index(&self) -> bool {
        match self {
            Expression::Index => true,
            Expression::Count | Expression::Constant(_) => false,
            Expression::Call(_, arguments) => arguments.iter().any(Expression::depends_on_index),
        }
    }

    pub(super) fn value(&self, context: TemplateContext) -> Result<Number, String> {
        let whole = |number: usize| Number::Whole(i64::try_from(number).unwrap_or(i64::MAX));
        Ok(match self {
            Expression::Index => whole(context.index),
            Expression::Count => whole(context.count),
            Expression::Constant(number) => *number,
            Expression::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.value(context).map(Number::real));
                function.call(&arguments.collect::<Result<Vec<_>, _>>()?)?
            }
        })
    }
}

impl Function {
    fn call(self, arguments: &[f64]) -> Result<Number, String> {
        let number = match (self.operator, arguments) {
            (Operator::Add, numbers) => numbers.iter().sum(),
            (Operator::Multiply, numbers) => numbers.iter().product(),
            (Operator::Subtract, [a, b]) => a - b,
            (Operator::Divide | Operator::Modulo, [_, 0.0]) => return Err("division by zero in a template".to_owned()),
            (Operator::Divide, [a, b]) => a / b,
            (Operator::Modulo, [a, b]) => return modulo(*a as i64, *b as i64),
            (Operator::Subtract | Operator::Divide | Operator::Modulo, _) => {
                return Err("a template calls a function of two numbers with another number of arguments".to_owned());
            }
        };
        Ok(if self.is_whole { Number::Whole(number as i64) } else { Number::Real(number) })
    }
}

fn modulo(a: i64, b: i64) -> Result<Number, String> {
    a.checked_rem(b).map(Number::Whole).ok_or_else(|| "division by zero in a template".to_owned())
}

/// Splits at spaces, parentheses and bars.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_open = false;
    for character in text.chars() {
        match character {
            '(' | ')' | '|' => {
                tokens.push(character.to_string());
                is_open = false;
            }
            '"' | '`' | '\'' => {
                return Err(format!("`{{{{{text}}}}}`: text is not supported; use numbers, .Index and .Count"));
            }
            _ if character.is_whitespace() => is_open = false,
            _ if is_open => {
                if let Some(token) = tokens.last_mut() {
                    token.push(character);
                }
            }
            _ => {
                tokens.push(character.to_string());
                is_open = true;
            }
        }
    }
    Ok(tokens)
}

struct Parser<'a> {
    tokens: &'a [String],
    text: &'a str,
}

impl Parser<'_> {
    /// Parses commands separated by bars. The result of each is the last argument of the next.
    fn pipeline(&mut self) -> Result<Expression, String> {
        let mut expression = self.command(None)?;
        while self.take("|") {
            expression = self.command(Some(expression))?;
        }
        Ok(expression)
    }

    /// Parses a function with its arguments, or a value. `last` is the result of the command before a bar.
    fn command(&mut self, last: Option<Expression>) -> Result<Expression, String> {
        let function = self.tokens.first().and_then(|name| FUNCTIONS.iter().find(|(known, ..)| known == name));
        let Some(&(_, operator, is_whole)) = function else {
            let value = self.operand()?;
            return if last.is_none() {
                Ok(value)
            } else {
                Err(format!("`{{{{{}}}}}`: a function must follow `|`", self.text))
            };
        };
        self.tokens = &self.tokens[1..];
        let mut arguments = Vec::new();
        while self.tokens.first().is_some_and(|token| token != ")" && token != "|") {
            arguments.push(self.operand()?);
        }
        arguments.extend(last);
        Ok(Expression::Call(Function { operator, is_whole }, arguments))
    }

    fn operand(&mut self) -> Result<Expression, String> {
        if self.take("(") {
            let inner = self.pipeline()?;
            return if self.take(")") { Ok(inner) } else { Err(format!("`{{{{{}}}}}`: `(` without `)`", self.text)) };
        }
        let Some((token, rest)) = self.tokens.split_first() else {
            return Err(format!("`{{{{{}}}}}`: a value is missing", self.text));
        };
        let expression = match token.as_str() {
            ".Index" => Expression::Index,
            ".Count" => Expression::Count,
            number => match (number.parse(), number.parse()) {
                (Ok(whole), _) => Expression::Constant(Number::Whole(whole)),
                (_, Ok(real)) if f64::is_finite(real) => Expression::Constant(Number::Real(real)),
                _ => return Err(self.unexpected(token)),
            },
        };
        self.tokens = rest;
        Ok(expression)
    }

    fn take(&mut self, wanted: &str) -> bool {
        match self.tokens.split_first() {
            Some((token, rest)) if token == wanted => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn unexpected(&self, token: &str) -> String {
        let functions: Vec<_> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
        format!(
            "`{{{{{}}}}}`: `{token}` is unknown; use .Index, .Count, numbers and {}",
            self.text,
            functions.join(", ")
        )
    }
}
