//! Operations whose operands are constant. They are computed once, at compile time.

use crate::cost::Rule;
use crate::eval::program::{Call, Item, Node};
use crate::eval::value::Value;
use crate::eval::work::Work;

/// Maximum work of a call that is computed in advance; a more expensive call is computed when the program runs.
const LIMIT: u64 = 1_000;

/// Returns the value of an element or entry, if it is constant and not optional.
pub(super) fn constant_item(item: &Item) -> Option<Value<'static>> {
    match &item.value {
        Node::Constant(value) if !item.optional => Some(value.clone()),
        _ => None,
    }
}

/// Returns whether a function is a conversion, which `cel-go` evaluates when it compiles. With a constant argument,
/// it has no cost, and its failure is a compile error.
fn is_conversion(function: &str) -> bool {
    matches!(
        function,
        "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp" | "type" | "uint"
    )
}

/// Replaces a call by its result if all arguments are constant and the work is small. All functions are pure. Returns the
/// reason if a conversion fails.
pub(super) fn fold_call(function: &str, call: Call) -> Result<Node, String> {
    let mut arguments = Vec::new();
    let mut cost: u64 = 0;
    for argument in &call.arguments {
        match argument {
            Node::Constant(value) => arguments.push(value.clone()),
            Node::Evaluated { value, cost: argument } => {
                arguments.push(value.clone());
                cost = cost.saturating_add(*argument);
            }
            _ => return Ok(Node::Call(Box::new(call))),
        }
    }
    if arguments.is_empty() && function != "optional.none" {
        // Calls without arguments return formats, which are constants of this crate: there is nothing to compute.
        return Ok(Node::Call(Box::new(call)));
    }
    let is_conversion =
        is_conversion(function) && call.arguments.iter().all(|argument| matches!(argument, Node::Constant(_)));
    let before = call.rule.before(&arguments);
    if before > LIMIT {
        return Ok(Node::Call(Box::new(call)));
    }
    let result = (call.function)(&mut Work::new(LIMIT), &arguments);
    match result {
        Ok(value) if is_conversion => Ok(Node::Constant(value)),
        Ok(value) => {
            let cost = cost.saturating_add(before).saturating_add(call.rule.after(&value));
            Ok(Node::Evaluated { value, cost })
        }
        Err(failure) if is_conversion => Err(failure.to_string()),
        Err(_) => Ok(Node::Call(Box::new(call))),
    }
}

/// Compiles a test for membership. In a list of primitive constants, the test has no cost.
pub(super) fn membership(rule: Rule, [element, container]: [Node; 2]) -> Node {
    if rule == Rule::Membership
        && let Node::Constant(Value::List(list)) = &container
        && list.iter().all(is_primitive)
    {
        return match list.len() {
            0 => Node::Constant(Value::Bool(false)),
            _ => Node::InConstants { element: Box::new(element), constants: list.iter().cloned().collect() },
        };
    }
    Node::In { rule, operands: Box::new([element, container]) }
}

fn is_primitive(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(_) | Value::Double(_) | Value::Int(_) | Value::String(_) | Value::Uint(_))
}
