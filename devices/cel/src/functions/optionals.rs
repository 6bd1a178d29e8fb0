//! Optional values.

use super::{Declaration, list, mismatch};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{List, Value};
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration {
        name: "optional.of",
        call: |_, arguments| Ok(Value::some(arguments[0].clone())),
        overloads: &["optional_of: (V) -> optional(V)"],
    },
    Declaration {
        name: "optional.ofNonZeroValue",
        call: of_non_zero,
        overloads: &["optional_ofNonZeroValue: (V) -> optional(V)"],
    },
    Declaration {
        name: "optional.none",
        call: |_, _| Ok(Value::Optional(None)),
        overloads: &["optional_none: () -> optional(V)"],
    },
    Declaration { name: "value", call: value, overloads: &["optional_value: optional(V).() -> V"] },
    Declaration { name: "hasValue", call: has_value, overloads: &["optional_hasValue: optional(V).() -> bool"] },
    Declaration {
        name: "or",
        call: operator,
        overloads: &["optional_or_optional: optional(V).(optional(V)) -> optional(V)"],
    },
    Declaration { name: "orValue", call: operator, overloads: &["optional_orValue_value: optional(V).(V) -> V"] },
    Declaration { name: "_?._", call: operator, overloads: &["select_optional_field: (dyn, string) -> optional(V)"] },
    Declaration {
        name: "_[?_]",
        call: operator,
        overloads: &[
            "list_optindex_optional_int: (list(V), int) -> optional(V)",
            "optional_list_optindex_optional_int: (optional(list(V)), int) -> optional(V)",
            "map_optindex_optional_value: (map(K, V), K) -> optional(V)",
            "optional_map_optindex_optional_value: (optional(map(K, V)), K) -> optional(V)",
        ],
    },
    Declaration { name: "first", call: first, overloads: &["list_first: list(V).() -> optional(V)"] },
    Declaration { name: "last", call: last, overloads: &["list_last: list(V).() -> optional(V)"] },
    Declaration {
        name: "optional.unwrap",
        call: unwrap,
        overloads: &["optional_unwrap: (list(optional(V))) -> list(V)"],
    },
    Declaration {
        name: "unwrapOpt",
        call: unwrap,
        overloads: &["optional_unwrapOpt: list(optional(V)).() -> list(V)"],
    },
];

/// Placeholder for operators. It is never called, because they are operations of the compiled program.
fn operator<'a>(_: &mut Work, _: &[Value<'a>]) -> Output<'a> {
    mismatch()
}

fn of_non_zero<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(if arguments[0].is_zero() { Value::Optional(None) } else { Value::some(arguments[0].clone()) })
}

fn value<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match &arguments[0] {
        Value::Optional(Some(value)) => Ok((**value).clone()),
        Value::Optional(None) => Err(Failure::Static("optional.none() dereference")),
        _ => mismatch(),
    }
}

fn has_value<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match &arguments[0] {
        Value::Optional(value) => Ok(Value::Bool(value.is_some())),
        _ => mismatch(),
    }
}

fn first<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(list(&arguments[0])?.get(0).map_or(Value::Optional(None), |value| Value::some(value.clone())))
}

fn last<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(list(&arguments[0])?.iter().next_back().map_or(Value::Optional(None), |value| Value::some(value.clone())))
}

fn unwrap<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let list = list(&arguments[0])?;
    work.spend(list.len() as u64)?;
    let mut values = Vec::new();
    for element in list.iter() {
        match element {
            Value::Optional(Some(value)) => values.push((**value).clone()),
            Value::Optional(None) => {}
            _ => return mismatch(),
        }
    }
    Ok(Value::List(List::new(values)))
}
