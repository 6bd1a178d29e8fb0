//! `device.attributes` and `device.capacity` as maps.

use super::{Column, Device};

/// One of the two maps of a device.
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
    pub(crate) device: Device<'a>,
    pub(crate) kind: Kind,
    /// `None` if no device of the table has this domain.
    pub(crate) domain: Option<u32>,
}

impl<'a> DomainsMap<'a> {
    /// Returns the map of a domain. Kubernetes returns an empty map for keys that do not exist.
    pub(crate) fn domain(self, name: &str) -> DomainMap<'a> {
        DomainMap { device: self.device, kind: self.kind, domain: self.device.table.domain(name) }
    }

    pub(crate) fn domain_map(self, domain: u32) -> DomainMap<'a> {
        DomainMap { device: self.device, kind: self.kind, domain: Some(domain) }
    }

    /// Returns the domains that the device has.
    pub(crate) fn domains(self) -> impl Iterator<Item = u32> {
        let domains = 0..self.device.table.domains.len() as u32;
        domains.filter(move |domain| self.domain_map(*domain).len() > 0)
    }

    pub(crate) fn len(self) -> usize {
        self.domains().count()
    }

    pub(crate) fn contains(self, name: &str) -> bool {
        self.domain(name).len() > 0
    }
}

impl DomainMap<'_> {
    pub(crate) fn len(self) -> usize {
        let Some(domain) = self.domain else { return 0 };
        let (table, row) = (self.device.table, self.device.row);
        match self.kind {
            Kind::Attributes => present(&table.attributes, domain, row).count(),
            Kind::Capacities => present(&table.capacities, domain, row).count(),
        }
    }
}

/// Returns the names and values that a device has in a domain.
pub(crate) fn present<T: PartialEq>(columns: &[Column<T>], domain: u32, row: u32) -> impl Iterator<Item = (&str, &T)> {
    columns
        .iter()
        .filter(move |column| column.domain == domain)
        .filter_map(move |column| Some((&*column.name, column.get(row)?)))
}
