//! Listening socket.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::flags;

/// Maximum number of connections that wait for acceptance.
const BACKLOG: i32 = 128;

/// Opens the listening socket.
pub(super) fn listen(serving: &flags::Serving) -> Result<TcpListener, String> {
    let address = SocketAddr::new(serving.address, serving.port);
    bind(address, serving.share_port).map_err(|error| {
        let cure = match error.kind() {
            ErrorKind::AddrInUse => "; is another scheduler running? Choose another port with --secure-port",
            ErrorKind::PermissionDenied => "; choose a port above 1023 with --secure-port",
            ErrorKind::AddrNotAvailable => "; is --bind-address an address of this host?",
            _ => "",
        };
        format!("cannot listen on {address}: {error}{cure}")
    })
}

/// Binds a socket. As in Go, an unspecified address covers both address families.
fn bind(address: SocketAddr, share_port: bool) -> io::Result<TcpListener> {
    if address.ip().is_unspecified() {
        let all = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), address.port());
        match open(all, share_port) {
            // The host has no IPv6.
            Err(error) if address.is_ipv4() && error.kind() != ErrorKind::AddrInUse => {}
            result => return result,
        }
    }
    open(address, share_port)
}

fn open(address: SocketAddr, share_port: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    // Go sets SO_REUSEADDR on all listening sockets, regardless of --permit-address-sharing: a port can then be reused
    // at once.
    socket.set_reuse_address(true)?;
    if share_port {
        socket.set_reuse_port(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}
