//! Functions of IP addresses and networks.

use std::net::IpAddr;

use super::{Declaration, mismatch, text};
use crate::data::network::{Cidr, Ip, mask};
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
        call: |_, arguments| has_property(arguments, |address| address.is_unspecified()),
        overloads: &["ip_is_unspecified: ip.() -> bool"],
    },
    Declaration {
        name: "isLoopback",
        call: |_, arguments| has_property(arguments, |address| address.is_loopback()),
        overloads: &["ip_is_loopback: ip.() -> bool"],
    },
    Declaration {
        name: "isLinkLocalMulticast",
        call: |_, arguments| has_property(arguments, is_link_local_multicast),
        overloads: &["ip_is_link_local_multicast: ip.() -> bool"],
    },
    Declaration {
        name: "isLinkLocalUnicast",
        call: |_, arguments| has_property(arguments, is_link_local_unicast),
        overloads: &["ip_is_link_local_unicast: ip.() -> bool"],
    },
    Declaration {
        name: "isGlobalUnicast",
        call: |_, arguments| has_property(arguments, is_global_unicast),
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

fn has_property<'a>(arguments: &[Value<'a>], has: fn(IpAddr) -> bool) -> Output<'a> {
    match arguments[0] {
        Value::Ip(Ip(address)) => Ok(Value::Bool(has(address))),
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
