//! Functions of lists, and of sets, which are lists too.

use std::cmp::Ordering;

use super::equality::{contains, equal_or_false, order};
use super::{Declaration, arithmetic, int, list, mismatch, strings};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{List, Value};
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration {
        name: "isSorted",
        call: is_sorted,
        overloads: &[
            "list_is_sorted: list(int).() -> bool",
            "list_is_sorted: list(uint).() -> bool",
            "list_is_sorted: list(double).() -> bool",
            "list_is_sorted: list(bool).() -> bool",
            "list_is_sorted: list(duration).() -> bool",
            "list_is_sorted: list(timestamp).() -> bool",
            "list_is_sorted: list(string).() -> bool",
            "list_is_sorted: list(bytes).() -> bool",
        ],
    },
    Declaration {
        name: "sum",
        call: sum,
        overloads: &[
            "list_int_sum: list(int).() -> int",
            "list_uint_sum: list(uint).() -> uint",
            "list_double_sum: list(double).() -> double",
            "list_duration_sum: list(duration).() -> duration",
        ],
    },
    Declaration {
        name: "max",
        call: |work, arguments| extreme(work, arguments, "max", Ordering::Less),
        overloads: EXTREME,
    },
    Declaration {
        name: "min",
        call: |work, arguments| extreme(work, arguments, "min", Ordering::Greater),
        overloads: EXTREME,
    },
    Declaration { name: "indexOf", call: index_of, overloads: &["list_a_index_of_int: list(A).(A) -> int"] },
    Declaration {
        name: "lastIndexOf",
        call: last_index_of,
        overloads: &["list_a_last_index_of_int: list(A).(A) -> int"],
    },
    Declaration { name: "slice", call: slice, overloads: &["list_slice: list(T).(int, int) -> list(T)"] },
    Declaration {
        name: "flatten",
        call: flatten,
        overloads: &["list_flatten: list(list(T)).() -> list(T)", "list_flatten_int: list(dyn).(int) -> list(dyn)"],
    },
    Declaration {
        name: "sort",
        call: |work, arguments| sort(work, list(&arguments[0])?, list(&arguments[0])?),
        overloads: &[
            "list_sort: list(int).() -> list(int)",
            "list_sort: list(uint).() -> list(uint)",
            "list_sort: list(double).() -> list(double)",
            "list_sort: list(bool).() -> list(bool)",
            "list_sort: list(duration).() -> list(duration)",
            "list_sort: list(timestamp).() -> list(timestamp)",
            "list_sort_text: list(string).() -> list(string)",
            "list_sort_text: list(bytes).() -> list(bytes)",
        ],
    },
    Declaration {
        name: "@sortByAssociatedKeys",
        call: |work, arguments| sort(work, list(&arguments[0])?, list(&arguments[1])?),
        overloads: &[
            "list_sort_by: list(T).(list(int)) -> list(T)",
            "list_sort_by: list(T).(list(uint)) -> list(T)",
            "list_sort_by: list(T).(list(double)) -> list(T)",
            "list_sort_by: list(T).(list(bool)) -> list(T)",
            "list_sort_by: list(T).(list(duration)) -> list(T)",
            "list_sort_by: list(T).(list(timestamp)) -> list(T)",
            "list_sort_by_text: list(T).(list(string)) -> list(T)",
            "list_sort_by_text: list(T).(list(bytes)) -> list(T)",
        ],
    },
    Declaration { name: "lists.range", call: range, overloads: &["lists_range: (int) -> list(int)"] },
    Declaration { name: "reverse", call: reverse, overloads: &["list_reverse: list(T).() -> list(T)"] },
    Declaration { name: "distinct", call: distinct, overloads: &["list_distinct: list(T).() -> list(T)"] },
    Declaration {
        name: "sets.contains",
        call: |work, arguments| contains_all(work, list(&arguments[0])?, list(&arguments[1])?).map(Value::Bool),
        overloads: &["list_sets_contains_list: (list(T), list(T)) -> bool"],
    },
    Declaration {
        name: "sets.equivalent",
        call: sets_equivalent,
        overloads: &["list_sets_equivalent_list: (list(T), list(T)) -> bool"],
    },
    Declaration {
        name: "sets.intersects",
        call: sets_intersects,
        overloads: &["list_sets_intersects_list: (list(T), list(T)) -> bool"],
    },
];

const EXTREME: &[&str] = &[
    "list_extreme: list(int).() -> int",
    "list_extreme: list(uint).() -> uint",
    "list_extreme: list(double).() -> double",
    "list_extreme: list(bool).() -> bool",
    "list_extreme: list(duration).() -> duration",
    "list_extreme: list(timestamp).() -> timestamp",
    "list_extreme: list(string).() -> string",
    "list_extreme: list(bytes).() -> bytes",
];

fn is_sorted<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let list = list(&arguments[0])?;
    for (a, b) in list.iter().zip(list.iter().skip(1)) {
        if order(work, a, b)? == Ordering::Greater {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let list = list(&arguments[0])?;
    // The sum of an empty list is the int 0, which is equal to the zeros of all number types.
    let mut sum = list.get(0).cloned().unwrap_or(Value::Int(0));
    for element in list.iter().skip(1) {
        work.spend(1)?;
        sum = arithmetic::add(work, &sum, element)?;
    }
    Ok(sum)
}

/// Returns the sum of durations; 0 for an empty list.
pub(crate) fn sum_of_durations<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    if list(&arguments[0])?.len() == 0 { Ok(Value::Duration(0)) } else { sum(work, arguments) }
}

fn extreme<'a>(work: &mut Work, arguments: &[Value<'a>], name: &str, replaced: Ordering) -> Output<'a> {
    let list = list(&arguments[0])?;
    let mut elements = list.iter();
    let Some(mut best) = elements.next() else {
        return Err(Failure::text(format!("{name} called on empty list")));
    };
    for element in elements {
        if order(work, best, element)? == replaced {
            best = element;
        }
    }
    Ok(best.clone())
}

/// Returns the position of an element in a list, or of a part in a string. It also implements the string function with
/// this name, because only the implementation of the first library that declares a name is called.
fn index_of<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let Value::List(list) = &arguments[0] else { return strings::index_of(work, arguments) };
    for (i, element) in list.iter().enumerate() {
        if equal_or_false(work, element, &arguments[1])? {
            return Ok(Value::Int(i as i64));
        }
    }
    Ok(Value::Int(-1))
}

/// Returns the last position. For strings, see [`index_of`].
fn last_index_of<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let Value::List(list) = &arguments[0] else { return strings::last_index_of(work, arguments) };
    for (from_end, element) in list.iter().rev().enumerate() {
        if equal_or_false(work, element, &arguments[1])? {
            return Ok(Value::Int((list.len() - 1 - from_end) as i64));
        }
    }
    Ok(Value::Int(-1))
}

fn slice<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (list, from, to) = (list(&arguments[0])?, int(&arguments[1])?, int(&arguments[2])?);
    let error = |reason: &str| Err(Failure::text(format!("cannot slice({from}, {to}), {reason}")));
    if from < 0 || to < 0 {
        return error("negative indexes not supported");
    }
    if from > to {
        return error("start index must be less than or equal to end index");
    }
    if to > list.len() as i64 {
        return error(&format!("list is length {}", list.len()));
    }
    work.spend((to - from) as u64)?;
    Ok(Value::List(List::new((from..to).filter_map(|i| list.get(i as usize)).cloned().collect())))
}

fn flatten<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let depth = arguments.get(1).map_or(Ok(1), int)?;
    if depth < 0 {
        return Err(Failure::Static("level must be non-negative"));
    }
    let mut flat = Vec::new();
    flatten_into(work, list(&arguments[0])?, depth, &mut flat)?;
    Ok(Value::List(List::new(flat)))
}

/// The recursion is bounded, because lists nest at most as deep as the expression that creates them.
fn flatten_into<'a>(
    work: &mut Work,
    list: &List<'a>,
    depth: i64,
    flat: &mut Vec<Value<'a>>,
) -> Result<(), Failure<'a>> {
    for element in list.iter() {
        work.spend(1)?;
        match element {
            Value::List(inner) if depth > 0 => flatten_into(work, inner, depth - 1, flat)?,
            other => flat.push(other.clone()),
        }
    }
    Ok(())
}

/// Returns the elements in the order of their keys.
fn sort<'a>(work: &mut Work, list: &List<'a>, keys: &List<'a>) -> Output<'a> {
    if list.len() != keys.len() {
        return mismatch();
    }
    let Some(first) = keys.get(0) else { return Ok(Value::List(list.clone())) };
    if keys.iter().any(|key| key.type_name() != first.type_name()) {
        return Err(Failure::Static("list elements must have the same type"));
    }
    if order(work, first, first).is_err() {
        return Err(Failure::Static("list elements must be comparable"));
    }
    // All work is counted before the sort, so that comparisons do not fail.
    let length = |key: &Value<'_>| match key {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    let bytes: u64 = keys.iter().map(|key| length(key) as u64 / 16).sum();
    work.spend((list.len() as u64 + bytes) * u64::from(usize::BITS - list.len().leading_zeros()))?;
    let mut unlimited = Work::new(u64::MAX);
    let mut indexes: Vec<usize> = (0..list.len()).collect();
    indexes.sort_by(|a, b| match (keys.get(*a), keys.get(*b)) {
        // NaN comes last: sorting requires an order of all values.
        (Some(Value::Double(a)), Some(Value::Double(b))) => {
            a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        (Some(a), Some(b)) => order(&mut unlimited, a, b).unwrap_or(Ordering::Equal),
        _ => Ordering::Equal,
    });
    Ok(Value::List(List::new(indexes.into_iter().filter_map(|i| list.get(i)).cloned().collect())))
}

fn range<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let end = int(&arguments[0])?.max(0);
    work.spend(end as u64)?;
    Ok(Value::List(List::new((0..end).map(Value::Int).collect())))
}

fn reverse<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let list = list(&arguments[0])?;
    work.spend(list.len() as u64)?;
    Ok(Value::List(List::new(list.iter().rev().cloned().collect())))
}

fn distinct<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let mut distinct: Vec<Value<'a>> = Vec::new();
    'elements: for element in list(&arguments[0])?.iter() {
        for known in &distinct {
            if equal_or_false(work, element, known)? {
                continue 'elements;
            }
        }
        distinct.push(element.clone());
    }
    Ok(Value::List(List::new(distinct)))
}

fn contains_all<'a>(work: &mut Work, list: &List<'a>, searched: &List<'a>) -> Result<bool, Failure<'a>> {
    let list = Value::List(list.clone());
    for element in searched.iter() {
        if !contains(work, element, &list)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sets_equivalent<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (a, b) = (list(&arguments[0])?, list(&arguments[1])?);
    Ok(Value::Bool(contains_all(work, a, b)? && contains_all(work, b, a)?))
}

fn sets_intersects<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    for element in list(&arguments[0])?.iter() {
        if contains(work, element, &arguments[1])? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
