//! Fields and indexes.

use std::sync::Arc;

use super::Evaluation;
use super::failure::{Failure, Output};
use super::program::Chain;
use super::value::Value;
use crate::functions::equality;

impl<'a> Evaluation<'a> {
    pub(super) fn chain(&mut self, chain: &'a Chain) -> Output<'a> {
        let mut value = self.eval(&chain.base)?;
        self.work.charge(chain.cost)?;
        let mut optional = false;
        if let Value::Optional(contained) = &value {
            match contained {
                Some(contained) => value = (**contained).clone(),
                None if chain.test_only => return Ok(Value::Bool(false)),
                None => return Ok(Value::Optional(None)),
            }
            optional = true;
        }
        let last = chain.qualifiers.len() - 1;
        for (i, qualifier) in chain.qualifiers.iter().enumerate() {
            optional |= qualifier.optional;
            let key = self.eval(&qualifier.key)?;
            self.work.charge(1)?;
            if chain.test_only && i == last {
                return Ok(Value::Bool(qualify(&value, &key)?.is_some()));
            }
            value = match qualify(&value, &key)? {
                Some(value) => value,
                None if optional && chain.test_only => return Ok(Value::Bool(false)),
                None if optional => return Ok(Value::Optional(None)),
                None if matches!(value, Value::List(_)) => return Err(Failure::IndexOutOfBounds(key)),
                None => return Err(Failure::NoSuchKey(key)),
            };
        }
        Ok(if optional { Value::Optional(Some(Arc::new(value))) } else { value })
    }
}

/// Returns an entry of a map or an element of a list. `None` if it does not exist, also for values without entries.
fn qualify<'a>(value: &Value<'a>, key: &Value<'a>) -> Result<Option<Value<'a>>, Failure<'a>> {
    let Value::List(list) = value else { return Ok(equality::find(value, key)) };
    let index = match key {
        Value::Int(index) => usize::try_from(*index).ok(),
        Value::Uint(index) => usize::try_from(*index).ok(),
        Value::Double(index) if index.fract() == 0.0 => (*index >= 0.0).then_some(*index as usize),
        _ => return Err(Failure::text(format!("unsupported index type '{}' in list", key.type_name()))),
    };
    Ok(index.and_then(|index| list.get(index).cloned()))
}
