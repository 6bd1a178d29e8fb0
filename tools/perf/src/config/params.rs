//! The parameters of a workload.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::duration::Duration;
use crate::Error;

/// Parameters, and the names of those that were used.
pub(super) struct Params<'a> {
    params: &'a Map<String, Value>,
    used: BTreeSet<String>,
}

impl<'a> Params<'a> {
    pub(super) fn new(params: &'a Map<String, Value>) -> Self {
        Params { params, used: BTreeSet::new() }
    }

    /// Returns the parameter that an operation references as `$name`.
    fn get(&mut self, field: &str, name: &str) -> Result<(&'a str, &'a Value), Error> {
        let Some(key) = name.strip_prefix('$') else {
            return Err(Error::new(format!("{field}: `{name}` must begin with a $")));
        };
        self.used.insert(key.to_owned());
        match self.params.get_key_value(key) {
            Some((key, value)) => Ok((key, value)),
            None => Err(Error::new(format!("{field}: no parameter `{key}`; add it to the params of the workload"))),
        }
    }

    /// Returns `count`, or the parameter that an operation names in `countParam` instead.
    pub(super) fn count(&mut self, count: usize, param: Option<&str>) -> Result<usize, Error> {
        self.number("countParam", count, param)
    }

    /// Returns `number`, or the parameter that an operation names in `field` instead.
    pub(super) fn number(&mut self, field: &str, number: usize, param: Option<&str>) -> Result<usize, Error> {
        let Some(param) = param else { return Ok(number) };
        let (key, value) = self.get(field, param)?;
        let number = value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0);
        number.map(|number| number as usize).ok_or_else(|| wrong(key, value, "a whole number, 0 or more"))
    }

    pub(super) fn duration(&mut self, param: &str) -> Result<Duration, Error> {
        let (key, value) = self.get("durationParam", param)?;
        let text = value.as_str().ok_or_else(|| wrong(key, value, "a duration such as 10s"))?;
        Duration::try_from(text.to_owned()).map_err(|error| Error::new(error).at(format_args!("parameter `{key}`")))
    }

    pub(super) fn boolean(&mut self, field: &str, param: &str) -> Result<bool, Error> {
        let (key, value) = self.get(field, param)?;
        value.as_bool().ok_or_else(|| wrong(key, value, "true or false"))
    }

    /// Returns the unused parameters.
    pub(super) fn unused(&self) -> Vec<&'a str> {
        self.params.keys().map(String::as_str).filter(|key| !self.used.contains(*key)).collect()
    }
}

fn wrong(key: &str, value: &Value, expected: &str) -> Error {
    Error::new(format!("parameter `{key}` is {value}, but must be {expected}"))
}
