//! CEL's standard functions on strings and containers.

use super::equality::equal_or_false;
use super::{Declaration, mismatch, text};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::Value;
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration {
        name: "size",
        call: size,
        overloads: &[
            "size_bytes: (bytes) -> int",
            "bytes_size: bytes.() -> int",
            "size_list: (list(A)) -> int",
            "list_size: list(A).() -> int",
            "size_map: (map(A, B)) -> int",
            "map_size: map(A, B).() -> int",
            "size_string: (string) -> int",
            "string_size: string.() -> int",
        ],
    },
    Declaration { name: "contains", call: contains, overloads: &["contains_string: string.(string) -> bool"] },
    Declaration { name: "endsWith", call: ends_with, overloads: &["ends_with_string: string.(string) -> bool"] },
    Declaration { name: "startsWith", call: starts_with, overloads: &["starts_with_string: string.(string) -> bool"] },
    // Meant for attributes with several values. Kubernetes declares it for all values, even if such attributes are
    // disabled.
    Declaration { name: "includes", call: includes, overloads: &["dra_includes_dyn_dyn: dyn.(dyn) -> bool"] },
    Declaration {
        name: "cel.@mapInsert",
        call: map_insert,
        overloads: &[
            "@mapInsert_map_key_value: (map(K, V), K, V) -> map(K, V)",
            "@mapInsert_map_map: (map(K, V), map(K, V)) -> map(K, V)",
        ],
    },
];

fn size<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match &arguments[0] {
        Value::String(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Domains(_)
        | Value::Domain(_)
        | Value::Ip(_)
        | Value::Cidr(_) => Ok(Value::Int(arguments[0].size() as i64)),
        _ => mismatch(),
    }
}

fn contains<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (whole, part) = (text(&arguments[0])?, text(&arguments[1])?);
    work.spend_bytes(whole.len() + part.len())?;
    Ok(Value::Bool(whole.contains(&**part)))
}

fn ends_with<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(Value::Bool(text(&arguments[0])?.ends_with(&**text(&arguments[1])?)))
}

fn starts_with<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(Value::Bool(text(&arguments[0])?.starts_with(&**text(&arguments[1])?)))
}

/// Maximum number of elements that `includes` searches. If none of these elements is equal and the list is longer, the
/// function fails.
const MAX_INCLUDES: usize = 48;

fn includes<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (target, searched) = (&arguments[0], &arguments[1]);
    let Value::List(list) = target else { return equal_or_false(work, target, searched).map(Value::Bool) };
    for (i, element) in list.iter().enumerate() {
        if i >= MAX_INCLUDES {
            let message = "'includes' function cannot be applied to lists longer than 48 values";
            return Err(Failure::Static(message));
        }
        if equal_or_false(work, element, searched)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

/// Adds an entry, or all entries of another map, to a map.
fn map_insert<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let Value::Map(map) = &arguments[0] else { return mismatch() };
    let mut map = map.clone();
    work.spend(map.entries().len() as u64)?;
    insert(work, &mut map, &arguments[1..])?;
    Ok(Value::Map(map))
}

/// Adds a key and its value, or all entries of a map. Keys must be new.
pub(crate) fn insert<'a>(
    work: &mut Work,
    map: &mut crate::eval::value::Map<'a>,
    added: &[Value<'a>],
) -> Result<(), Failure<'a>> {
    let entries = match added {
        [key, value] => vec![(key.clone(), value.clone())],
        [other] => super::equality::entries(work, other)?,
        _ => return Err(Failure::NoSuchOverload),
    };
    let target = map.make_mut();
    for (key, value) in entries {
        match target.insert(key.clone(), value) {
            Some(true) => {}
            Some(false) => {
                return Err(Failure::text(format!("insert failed: key {} already exists", shown(&key))));
            }
            None => return Err(Failure::text(format!("unsupported key type: {}", key.type_name()))),
        }
    }
    Ok(())
}

fn shown(key: &Value<'_>) -> String {
    match key {
        Value::String(text) => text.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        other => other.type_name().to_owned(),
    }
}
