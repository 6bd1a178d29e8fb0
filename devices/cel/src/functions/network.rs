//! IP addresses and networks.

use std::fmt;
use std::net::IpAddr;

use super::{Declaration, mismatch, text};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::Value;
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration { name: "ip", call: ip, overloads: &["string_to_ip: (string) -> ip", "cidr_ip: cidr.() -> ip"] },
    Declaration { name: "isIP", call: is_ip, overloads: &["is_ip: (string) -> bool"] },
    Declaration { name: "ip.isCanonical", call: is_canonical, overloads: &["ip_is_canonical: (string) -> bool"] },
    Declaration { name: "family", call: family, overloads: &["ip_family: ip.() -> int"] },
    Declaration {
        name: "isUnspecified",
        call: |_, arguments| property(arguments, |address| address.is_unspecified()),
        overloads: &["ip_is_unspecified: ip.() -> bool"],
    },
    Declaration {
        name: "isLoopback",
        call: |_, arguments| property(arguments, |address| address.is_loopback()),
        overloads: &["ip_is_loopback: ip.() -> bool"],
    },
    Declaration {
        name: "isLinkLocalMulticast",
        call: |_, arguments| property(arguments, is_link_local_multicast),
        overloads: &["ip_is_link_local_multicast: ip.() -> bool"],
    },
    Declaration {
        name: "isLinkLocalUnicast",
        call: |_, arguments| property(arguments, is_link_local_unicast),
        overloads: &["ip_is_link_local_unicast: ip.() -> bool"],
    },
    Declaration {
        name: "isGlobalUnicast",
        call: |_, arguments| property(arguments, is_global_unicast),
        overloads: &["ip_is_global_unicast: ip.() -> bool"],
    },
    Declaration { name: "cidr", call: cidr, overloads: &["string_to_cidr: (string) -> cidr"] },
    Declaration { name: "isCIDR", call: is_cidr, overloads: &["is_cidr: (string) -> bool"] },
    Declaration {
        name: "containsIP",
        call: contains_ip,
        overloads: &["cidr_contains_ip_string: cidr.(string) -> bool", "cidr_contains_ip_ip: cidr.(ip) -> bool"],
    },
    Declaration {
        name: "containsCIDR",
        call: contains_cidr,
        overloads: &["cidr_contains_cidr_string: cidr.(string) -> bool", "cidr_contains_cidr: cidr.(cidr) -> bool"],
    },
    Declaration { name: "prefixLength", call: prefix_length, overloads: &["cidr_prefix_length: cidr.() -> int"] },
    Declaration { name: "masked", call: masked, overloads: &["cidr_masked: cidr.() -> cidr"] },
];

/// IP address. IPv6 addresses that stand for IPv4 addresses are not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ip(IpAddr);

/// Network, with an address in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    address: IpAddr,
    prefix: u8,
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
    fn parse(text: &str) -> Result<Ip, String> {
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
    fn parse(text: &str) -> Result<Cidr, String> {
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

    fn contains(self, address: IpAddr) -> bool {
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
fn mask(address: IpAddr, prefix: u8) -> IpAddr {
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

fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.is_multicast() && address.segments()[0] & 0xf == 2,
    }
}

fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !(is_broadcast
        || address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local_unicast(address))
}

fn property<'a>(arguments: &[Value<'a>], of: fn(IpAddr) -> bool) -> Output<'a> {
    match arguments[0] {
        Value::Ip(Ip(address)) => Ok(Value::Bool(of(address))),
        _ => mismatch(),
    }
}

fn ip<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match &arguments[0] {
        Value::String(text) => Ip::parse(text).map(Value::Ip).map_err(Failure::text),
        Value::Cidr(cidr) => Ok(Value::Ip(Ip(cidr.address))),
        _ => mismatch(),
    }
}

fn is_ip<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(Value::Bool(Ip::parse(text(&arguments[0])?).is_ok()))
}

fn is_canonical<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let text = text(&arguments[0])?;
    let ip = Ip::parse(text).map_err(Failure::text)?;
    Ok(Value::Bool(ip.to_string() == **text))
}

fn family<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match arguments[0] {
        Value::Ip(Ip(address)) => Ok(Value::Int(if address.is_ipv4() { 4 } else { 6 })),
        _ => mismatch(),
    }
}

fn cidr<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Cidr::parse(text(&arguments[0])?).map(Value::Cidr).map_err(Failure::text)
}

fn is_cidr<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(Value::Bool(Cidr::parse(text(&arguments[0])?).is_ok()))
}

fn contains_ip<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let Value::Cidr(network) = arguments[0] else { return mismatch() };
    let Ip(address) = match &arguments[1] {
        Value::Ip(ip) => *ip,
        other => Ip::parse(text(other)?).map_err(Failure::text)?,
    };
    Ok(Value::Bool(network.contains(address)))
}

fn contains_cidr<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let Value::Cidr(network) = arguments[0] else { return mismatch() };
    let other = match &arguments[1] {
        Value::Cidr(cidr) => *cidr,
        other => Cidr::parse(text(other)?).map_err(Failure::text)?,
    };
    Ok(Value::Bool(network.prefix <= other.prefix && network.contains(other.address)))
}

fn prefix_length<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match arguments[0] {
        Value::Cidr(cidr) => Ok(Value::Int(cidr.prefix.into())),
        _ => mismatch(),
    }
}

fn masked<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match arguments[0] {
        Value::Cidr(Cidr { address, prefix }) => Ok(Value::Cidr(Cidr { address: mask(address, prefix), prefix })),
        _ => mismatch(),
    }
}
