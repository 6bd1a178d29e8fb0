//! `device.attributes` and `device.capacity` as maps.

use super::{Column, Device};
use crate::eval::value::{DataRef, Value};

/// Which of the two maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Attributes,
    Capacities,
}

/// Map from domains to maps. Each domain that the device does not have is an empty map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DomainsMap<'a> {
    pub(crate) device: Device<'a>,
    pub(crate) kind: Kind,
}

/// Map from names in one domain to values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DomainMap<'a> {
    device: Device<'a>,
    kind: Kind,
    /// `None` if no device of the table has this domain.
    domain: Option<u32>,
}

impl<'a> DomainsMap<'a> {
    /// Returns the map of a domain. Kubernetes returns an empty map for keys that do not exist.
    pub(crate) fn domain(self, name: &str) -> DomainMap<'a> {
        DomainMap { device: self.device, kind: self.kind, domain: self.device.table.domain(name) }
    }

    fn domain_map(self, domain: u32) -> DomainMap<'a> {
        DomainMap { device: self.device, kind: self.kind, domain: Some(domain) }
    }

    /// Returns the domains that the device has.
    fn domains(self) -> impl Iterator<Item = u32> {
        let domains = 0..self.device.table.domains.len() as u32;
        domains.filter(move |domain| self.domain_map(*domain).len() > 0)
    }

    pub(crate) fn len(self) -> usize {
        self.domains().count()
    }

    pub(crate) fn contains(self, name: &str) -> bool {
        self.domain(name).len() > 0
    }

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

    pub(crate) fn len(self) -> usize {
        let Some(domain) = self.domain else { return 0 };
        let (table, row) = (self.device.table, self.device.row);
        match self.kind {
            Kind::Attributes => present(&table.attributes, domain, row).count(),
            Kind::Capacities => present(&table.capacities, domain, row).count(),
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

fn present<T: PartialEq>(columns: &[Column<T>], domain: u32, row: u32) -> impl Iterator<Item = (&str, &T)> {
    columns
        .iter()
        .filter(move |column| column.domain == domain)
        .filter_map(move |column| Some((&*column.name, column.get(row)?)))
}
