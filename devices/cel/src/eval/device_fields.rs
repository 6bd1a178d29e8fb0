//! The fields of `device`, and the entries of its maps, as values.

use super::value::{DataRef, Value};
use crate::device::{Column, Device, DomainMap, DomainsMap, Kind, present};

impl<'a> Device<'a> {
    /// Returns a field of `device`.
    pub(crate) fn field(self, name: &str) -> Option<Value<'a>> {
        Some(match name {
            "driver" => Value::String(DataRef::Borrowed(self.driver())),
            "allowMultipleAllocations" => Value::Bool(self.allow_multiple_allocations()),
            "attributes" => Value::Domains(DomainsMap { device: self, kind: Kind::Attributes }),
            "capacity" => Value::Domains(DomainsMap { device: self, kind: Kind::Capacities }),
            _ => return None,
        })
    }
}

impl<'a> DomainsMap<'a> {
    /// Returns keys and values.
    pub(crate) fn entries(self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        self.domains().map(move |domain| {
            let name = self.device.table.domain_name(domain);
            (Value::String(DataRef::Borrowed(name)), Value::Domain(self.domain_map(domain)))
        })
    }
}

impl<'a> DomainMap<'a> {
    pub(crate) fn get(self, name: &str) -> Option<Value<'a>> {
        let domain = self.domain?;
        let table = self.device.table;
        match self.kind {
            Kind::Attributes => named(&table.attributes, domain, name)?.get(self.device.row).map(Value::attribute),
            Kind::Capacities => named(&table.capacities, domain, name)?
                .get(self.device.row)
                .map(|quantity| Value::Quantity(DataRef::Borrowed(quantity))),
        }
    }

    /// Returns keys and values.
    pub(crate) fn entries(self) -> Vec<(Value<'a>, Value<'a>)> {
        let Some(domain) = self.domain else { return Vec::new() };
        let (table, row) = (self.device.table, self.device.row);
        let key = |name: &'a str| Value::String(DataRef::Borrowed(name));
        match self.kind {
            Kind::Attributes => present(&table.attributes, domain, row)
                .map(|(name, attribute)| (key(name), Value::attribute(attribute)))
                .collect(),
            Kind::Capacities => present(&table.capacities, domain, row)
                .map(|(name, quantity)| (key(name), Value::Quantity(DataRef::Borrowed(quantity))))
                .collect(),
        }
    }
}

fn named<'a, T>(columns: &'a [Column<T>], domain: u32, name: &str) -> Option<&'a Column<T>> {
    columns.iter().find(|column| column.domain == domain && *column.name == *name)
}
