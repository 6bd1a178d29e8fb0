//! Selectors: compiled expressions, and their results for one device or for a table of devices.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::check::types::Type;
use crate::device::{ABSENT, Device, Devices, Kind};
use crate::error::{CompileError, RuntimeError};
use crate::eval::Evaluation;
use crate::eval::failure::Failure;
use crate::eval::program::{Path, Program};
use crate::eval::value::Value;
use crate::{check, compile, cost, syntax};

/// Maximum length in bytes of an expression that the API accepts.
pub const MAX_LENGTH: usize = 10 * 1024;
/// Limit of the cost of one evaluation, and of the estimated cost that the API accepts.
pub const MAX_COST: u64 = 1_000_000;

/// A number for each path of a selector: the path's column in a table, or the code of a device's value at the path.
type Columns = SmallVec<[u32; 8]>;

/// Expression that selects devices. It is checked and compiled once, and evaluated for any number of devices.
#[derive(Debug)]
pub struct Selector {
    text: Box<str>,
    program: Program,
    estimated_cost: u64,
}

impl Selector {
    /// Checks and compiles an expression.
    ///
    /// # Errors
    /// If it is too long or malformed, or if types do not match. The result has to be `bool`, or an attribute, whose
    /// type is known at run time only.
    pub fn compile(text: &str) -> Result<Selector, CompileError> {
        if text.len() > MAX_LENGTH {
            return Err(CompileError::new(format!(
                "expression has {} bytes; at most {MAX_LENGTH} are allowed",
                text.len()
            )));
        }
        let error = |error| CompileError::at(text, &error);
        let mut ast = syntax::parse(text).map_err(error)?;
        let checked = check::check(&mut ast).map_err(error)?;
        let ty = checked.ty(ast.root);
        if !matches!(ty, Type::Bool | Type::Any) {
            return Err(CompileError::new(format!("must evaluate to bool or the unknown type, not {ty}")));
        }
        let estimated_cost = cost::estimate(&ast, &checked);
        let program = compile::compile(&ast, &checked).map_err(error)?;
        Ok(Selector { text: text.into(), program, estimated_cost })
    }

    /// Returns the expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns an estimate of the greatest cost for any device.
    pub fn estimated_cost(&self) -> u64 {
        self.estimated_cost
    }

    /// Returns whether the API server rejects the expression because of its estimated cost. kube-scheduler does not
    /// reject it.
    pub fn exceeds_estimated_cost(&self) -> bool {
        self.estimated_cost > MAX_COST
    }

    /// Returns whether a device matches.
    ///
    /// # Errors
    /// If the expression has no boolean result for this device, or exceeds its cost limit.
    pub fn matches(&self, device: Device<'_>) -> Result<bool, RuntimeError> {
        self.bind(device.table).matches(device.row as usize)
    }

    /// Resolves the names of attributes and capacities to columns of a table.
    pub fn bind<'a>(&'a self, devices: &'a Devices) -> BoundSelector<'a> {
        let columns = self.program.paths.iter().map(|path| column(devices, path)).collect();
        BoundSelector { selector: self, devices, columns }
    }

    /// Returns the results for all devices of a table.
    pub fn evaluate(&self, devices: &Devices) -> Verdicts {
        self.bind(devices).evaluate()
    }
}

/// Returns the column of a path, or [`ABSENT`].
fn column(devices: &Devices, path: &Path) -> u32 {
    let Some(domain) = devices.domain(&path.domain) else { return ABSENT };
    let index = match path.kind {
        Kind::Attributes => {
            devices.attributes.iter().position(|column| column.domain == domain && column.name == path.name)
        }
        Kind::Capacities => {
            devices.capacities.iter().position(|column| column.domain == domain && column.name == path.name)
        }
    };
    index.map_or(ABSENT, |index| index as u32)
}

/// Selector for the devices of one table.
#[derive(Debug)]
pub struct BoundSelector<'a> {
    selector: &'a Selector,
    devices: &'a Devices,
    columns: Columns,
}

impl BoundSelector<'_> {
    /// Returns whether the device at a position matches.
    ///
    /// # Errors
    /// If there is no such device, if the expression has no boolean result for it, or if it exceeds its cost limit.
    pub fn matches(&self, index: usize) -> Result<bool, RuntimeError> {
        self.evaluated(index).map(|(result, _)| result)
    }

    /// Returns whether the device at a position matches, and the cost of the evaluation.
    ///
    /// # Errors
    /// As [`BoundSelector::matches`].
    pub fn evaluated(&self, index: usize) -> Result<(bool, u64), RuntimeError> {
        let Some(device) = self.devices.get(index) else {
            return Err(RuntimeError::new(format!("there is no device {index}"), false));
        };
        if let Some(reason) = device.invalid() {
            return Err(RuntimeError::new(reason, false));
        }
        let mut evaluation = Evaluation::new(&self.selector.program, device, &self.columns, MAX_COST);
        match evaluation.run() {
            Ok(Value::Bool(result)) => Ok((result, evaluation.cost())),
            Ok(other) => {
                let message = format!("CEL result of type {} could not be converted to bool", other.type_name());
                Err(RuntimeError::new(message, false))
            }
            Err(failure) => Err(RuntimeError::new(failure.to_string(), matches!(failure, Failure::Limit))),
        }
    }

    /// Returns the results for all devices. Unless the expression reads whole maps, devices that are equal in
    /// everything that it reads are evaluated once.
    pub fn evaluate(&self) -> Verdicts {
        let count = self.devices.len();
        let mut verdicts = Verdicts { matches: vec![0; count.div_ceil(64)], failures: vec![0; count.div_ceil(64)] };
        let is_shared = !self.selector.program.reads.maps;
        let mut known: HashMap<Columns, Option<bool>> = HashMap::new();
        let mut last: Option<(Columns, Option<bool>)> = None;
        for index in 0..count {
            let Some(device) = self.devices.get(index) else { break };
            if !is_shared || device.invalid().is_some() {
                verdicts.set(index, self.matches(index).ok());
                continue;
            }
            let key = self.codes(device);
            let verdict = match &last {
                Some((codes, verdict)) if *codes == key => *verdict,
                _ => *known.entry(key.clone()).or_insert_with(|| self.matches(index).ok()),
            };
            verdicts.set(index, verdict);
            last = Some((key, verdict));
        }
        verdicts
    }

    /// Returns the codes of everything that the expression reads of a device, except for whole maps.
    fn codes(&self, device: Device<'_>) -> Columns {
        let reads = self.selector.program.reads;
        let mut codes = Columns::new();
        if reads.driver {
            codes.push(device.driver_code());
        }
        if reads.allow_multiple_allocations {
            codes.push(device.allow_multiple_allocations().into());
        }
        for (path, column) in self.selector.program.paths.iter().zip(&self.columns) {
            let column = *column as usize;
            codes.push(match path.kind {
                Kind::Attributes => {
                    self.devices.attributes.get(column).map_or(ABSENT, |column| column.code(device.row))
                }
                Kind::Capacities => {
                    self.devices.capacities.get(column).map_or(ABSENT, |column| column.code(device.row))
                }
            });
        }
        codes
    }
}

/// Results for the devices of a table, as bit masks: device `i` is bit `i % 64` of word `i / 64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    matches: Vec<u64>,
    failures: Vec<u64>,
}

impl Verdicts {
    fn set(&mut self, index: usize, verdict: Option<bool>) {
        let bit = 1 << (index % 64);
        match verdict {
            Some(true) => self.matches[index / 64] |= bit,
            Some(false) => {}
            None => self.failures[index / 64] |= bit,
        }
    }

    /// Returns the devices that match.
    pub fn matches(&self) -> &[u64] {
        &self.matches
    }

    /// Returns the devices for which the evaluation fails; [`Selector::matches`] returns the reason.
    pub fn failures(&self) -> &[u64] {
        &self.failures
    }
}
