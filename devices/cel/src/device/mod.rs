//! Devices as a table with a column for each attribute and capacity.
//!
//! A column stores each distinct value once and a code for each device. A selector resolves the names in its text to
//! columns once for a table, and devices with equal codes share one evaluation.

mod maps;

use std::collections::HashMap;

use schedc_core::quantity::Quantity;

pub(crate) use maps::{DomainMap, DomainsMap, Kind, present};

use crate::version::Version;

/// Code of a device without a value.
pub(crate) const ABSENT: u32 = u32::MAX;

/// Number of recent values with which a new one is compared.
const MAX_COMPARED_VALUES: usize = 64;

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// Boolean.
    Bool(bool),
    /// Integer.
    Int(i64),
    /// String.
    String(Box<str>),
    /// Semantic version.
    Version(Version),
}

/// Devices, in the order in which they are added.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    drivers: Vec<Box<str>>,
    driver_of: Vec<u32>,
    allow_multiple_allocations: Vec<bool>,
    pub(crate) domains: Vec<Box<str>>,
    pub(crate) attributes: Vec<Column<Attribute>>,
    pub(crate) capacities: Vec<Column<Quantity>>,
    /// Devices whose attributes cannot be represented, with the reason.
    invalid: HashMap<u32, Box<str>>,
}

/// Values of the attribute or capacity with one name.
#[derive(Clone, Debug)]
pub(crate) struct Column<T> {
    pub(crate) domain: u32,
    pub(crate) name: Box<str>,
    /// Index into `values`, or [`ABSENT`], for each device. Devices at the end may be missing.
    codes: Vec<u32>,
    values: Vec<T>,
}

impl<T: PartialEq> Column<T> {
    /// Returns the code of a device's value.
    pub(crate) fn code(&self, device: u32) -> u32 {
        self.codes.get(device as usize).copied().unwrap_or(ABSENT)
    }

    /// Returns a device's value.
    pub(crate) fn get(&self, device: u32) -> Option<&T> {
        self.values.get(self.code(device) as usize)
    }

    fn set(&mut self, device: u32, value: T) {
        // Only recent values are compared: neighbours are often equal, and two codes for a value are correct, but
        // slower.
        let recent = self.values.len().saturating_sub(MAX_COMPARED_VALUES);
        let code = match self.values[recent..].iter().position(|known| *known == value).map(|code| recent + code) {
            Some(code) => code,
            None => {
                self.values.push(value);
                self.values.len() - 1
            }
        };
        self.codes.resize(device as usize, ABSENT);
        self.codes.push(code as u32);
    }
}

/// Device in a table.
#[derive(Clone, Copy, Debug)]
pub struct Device<'a> {
    pub(crate) table: &'a Devices,
    pub(crate) row: u32,
}

impl Devices {
    /// Creates a table without devices.
    pub fn new() -> Devices {
        Devices::default()
    }

    /// Returns the number of devices.
    pub fn len(&self) -> usize {
        self.driver_of.len()
    }

    /// Returns whether there are no devices.
    pub fn is_empty(&self) -> bool {
        self.driver_of.is_empty()
    }

    /// Adds a device without attributes and capacities. The caller sets them on the result.
    pub fn add(&mut self, driver: &str, allow_multiple_allocations: bool) -> NewDevice<'_> {
        let driver = index_of(&mut self.drivers, driver);
        self.driver_of.push(driver);
        self.allow_multiple_allocations.push(allow_multiple_allocations);
        let row = self.driver_of.len() as u32 - 1;
        NewDevice { table: self, row }
    }

    /// Returns a device by its index.
    pub fn get(&self, index: usize) -> Option<Device<'_>> {
        (index < self.len()).then_some(Device { table: self, row: index as u32 })
    }

    pub(crate) fn domain(&self, name: &str) -> Option<u32> {
        self.domains.iter().position(|domain| **domain == *name).map(|index| index as u32)
    }

    pub(crate) fn domain_name(&self, domain: u32) -> &str {
        &self.domains[domain as usize]
    }
}

impl<'a> Device<'a> {
    pub(crate) fn driver(self) -> &'a str {
        &self.table.drivers[self.driver_code() as usize]
    }

    pub(crate) fn driver_code(self) -> u32 {
        self.table.driver_of[self.row as usize]
    }

    pub(crate) fn allow_multiple_allocations(self) -> bool {
        self.table.allow_multiple_allocations[self.row as usize]
    }

    /// Returns the reason why the device cannot be evaluated at all.
    pub(crate) fn invalid(self) -> Option<&'a str> {
        self.table.invalid.get(&self.row).map(|reason| &**reason)
    }
}

/// Device that is being added to a table.
#[derive(Debug)]
pub struct NewDevice<'t> {
    table: &'t mut Devices,
    row: u32,
}

impl NewDevice<'_> {
    /// Sets an attribute. A name without domain belongs to the driver's domain.
    pub fn attribute(mut self, name: &str, value: Attribute) -> Self {
        let (domain, name) = self.split(name);
        let column = column(&mut self.table.attributes, domain, name);
        column.set(self.row, value);
        self
    }

    /// Sets a version attribute. A device with a malformed version fails each evaluation, as in Kubernetes.
    pub fn version(self, name: &str, value: &str) -> Self {
        match Version::parse(value) {
            Ok(version) => self.attribute(name, Attribute::Version(version)),
            Err(error) => self.invalid(format!("attribute {name}: parse semantic version: {error}")),
        }
    }

    /// Sets an attribute without a supported value: the device fails each evaluation.
    pub fn unsupported(self, name: &str) -> Self {
        self.invalid(format!("attribute {name}: unsupported attribute value"))
    }

    /// Sets a capacity. A name without domain belongs to the driver's domain.
    pub fn capacity(mut self, name: &str, value: Quantity) -> Self {
        let (domain, name) = self.split(name);
        column(&mut self.table.capacities, domain, name).set(self.row, value);
        self
    }

    fn invalid(self, reason: String) -> Self {
        self.table.invalid.entry(self.row).or_insert(reason.into());
        self
    }

    /// Splits a qualified name into domain and name.
    fn split<'n>(&mut self, name: &'n str) -> (u32, &'n str) {
        match name.split_once('/') {
            Some((domain, name)) => (index_of(&mut self.table.domains, domain), name),
            None => {
                let driver = self.table.drivers[self.table.driver_of[self.row as usize] as usize].clone();
                (index_of(&mut self.table.domains, &driver), name)
            }
        }
    }
}

/// Returns the index of a name. Adds the name if it is new.
fn index_of(names: &mut Vec<Box<str>>, name: &str) -> u32 {
    let index = names.iter().position(|known| **known == *name).unwrap_or_else(|| {
        names.push(name.into());
        names.len() - 1
    });
    index as u32
}

fn column<'c, T>(columns: &'c mut Vec<Column<T>>, domain: u32, name: &str) -> &'c mut Column<T> {
    let index = columns.iter().position(|column| column.domain == domain && *column.name == *name);
    let index = index.unwrap_or_else(|| {
        columns.push(Column { domain, name: name.into(), codes: Vec::new(), values: Vec::new() });
        columns.len() - 1
    });
    &mut columns[index]
}
