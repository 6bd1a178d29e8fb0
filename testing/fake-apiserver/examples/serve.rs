//! Serves until the process ends: `cargo run -p schedc-fake-apiserver --example serve [--tls]`. Prints a kubeconfig.

use schedc_fake_apiserver::Server;

fn main() {
    let server = if std::env::args().any(|arg| arg == "--tls") { Server::start_tls() } else { Server::start() };
    println!("{}", server.kubeconfig());
    loop {
        std::thread::park();
    }
}
