//! Loops.

use super::failure::{Failure, Output};
use super::program::{Fold, Node, Step};
use super::value::Value;
use super::{Evaluation, Slot};
use crate::functions::{equality, standard};

impl<'a> Evaluation<'a> {
    pub(super) fn fold(&mut self, fold: &'a Fold) -> Output<'a> {
        let range = self.eval(&fold.range)?;
        self.slots[fold.accumulator] = Slot::Ready(fold.initial.clone());
        match range {
            Value::List(list) => {
                for index in 0..list.len() {
                    let Some(element) = list.get(index).cloned() else { break };
                    let (first, second) = match fold.second_variable {
                        Some(_) => (Value::Int(index as i64), element),
                        None => (element, Value::Null),
                    };
                    if !self.iterate(fold, first, second)? {
                        break;
                    }
                }
            }
            Value::Map(_) | Value::Domains(_) | Value::Domain(_) => {
                for (key, value) in equality::entries(&mut self.work, &range)? {
                    if !self.iterate(fold, key, value)? {
                        break;
                    }
                }
            }
            _ => return Err(Failure::text(format!("got '{}', expected iterable type", range.type_name()))),
        }
        self.eval(&fold.result)
    }

    /// Runs one round. Returns whether another one may follow.
    fn iterate(&mut self, fold: &'a Fold, first: Value<'a>, second: Value<'a>) -> Result<bool, Failure<'a>> {
        self.work.spend(1)?;
        self.slots[fold.variable] = Slot::Ready(first);
        if let Some(variable) = fold.second_variable {
            self.slots[variable] = Slot::Ready(second);
        }
        match self.eval(&fold.condition) {
            Ok(Value::Bool(false)) => return Ok(false),
            Err(Failure::Limit) => return Err(Failure::Limit),
            _ => {}
        }
        match &fold.step {
            Step::Next(next) => {
                let value = self.eval(next);
                self.store(fold.accumulator, value)?;
            }
            Step::Add { filter, added, to_map, cost } => {
                if let Some(filter) = filter {
                    match self.eval(filter)? {
                        Value::Bool(true) => {}
                        Value::Bool(false) => return Ok(true),
                        _ => return Err(Failure::NoSuchOverload),
                    }
                }
                self.work.charge(*cost)?;
                self.add(fold.accumulator, added, *to_map)?;
            }
        }
        Ok(true)
    }

    /// Adds to the list or map in a slot. The value is taken out of the slot, so that it is copied only if something
    /// else refers to it.
    fn add(&mut self, accumulator: usize, added: &'a [Node], to_map: bool) -> Result<(), Failure<'a>> {
        let added = self.arguments(added)?;
        let taken = std::mem::replace(&mut self.slots[accumulator], Slot::Empty);
        let value = match taken {
            Slot::Ready(Value::List(mut list)) if !to_map => {
                for element in added {
                    list.push(element);
                }
                Value::List(list)
            }
            Slot::Ready(Value::Map(mut map)) if to_map => {
                standard::insert(&mut self.work, &mut map, &added)?;
                Value::Map(map)
            }
            _ => return Err(Failure::NoSuchOverload),
        };
        self.slots[accumulator] = Slot::Ready(value);
        Ok(())
    }
}
