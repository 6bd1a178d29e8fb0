//! IP addresses and networks.

use std::fmt;
use std::net::IpAddr;

/// IP address. IPv4-mapped IPv6 addresses are not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ip(pub(crate) IpAddr);

/// Network, given by an address in it and the length of the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    pub(crate) address: IpAddr,
    pub(crate) prefix: u8,
}

impl fmt::Display for Ip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl Ip {
    pub(crate) fn parse(text: &str) -> Result<Ip, String> {
        let address: IpAddr =
            text.parse().map_err(|_| format!("IP Address {text:?} parse error during conversion from string"))?;
        check_mapped(address, text)?;
        Ok(Ip(address))
    }

    /// Returns the number of bytes of the address.
    pub(crate) fn size(self) -> usize {
        usize::from(bits(self.0)) / 8
    }
}

impl Cidr {
    pub(crate) fn parse(text: &str) -> Result<Cidr, String> {
        let error = || format!("network address parse error during conversion from string: {text:?}");
        let (address, prefix) = text.rsplit_once('/').ok_or_else(error)?;
        let address: IpAddr = address.parse().map_err(|_| error())?;
        let is_number = prefix.bytes().all(|byte| byte.is_ascii_digit());
        let is_canonical = is_number && (prefix.len() == 1 || !prefix.starts_with('0'));
        let prefix: u8 = prefix.parse().ok().filter(|_| is_canonical).ok_or_else(error)?;
        if prefix > bits(address) {
            return Err(error());
        }
        check_mapped(address, text)?;
        Ok(Cidr { address, prefix })
    }

    /// Returns the number of bytes of the prefix.
    pub(crate) fn size(self) -> usize {
        usize::from(self.prefix.div_ceil(8))
    }

    pub(crate) fn contains(self, address: IpAddr) -> bool {
        bits(self.address) == bits(address) && mask(self.address, self.prefix) == mask(address, self.prefix)
    }
}

fn check_mapped(address: IpAddr, text: &str) -> Result<(), String> {
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"))
        }
        _ => Ok(()),
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Returns the address with all bits after the prefix cleared.
pub(crate) fn mask(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}
