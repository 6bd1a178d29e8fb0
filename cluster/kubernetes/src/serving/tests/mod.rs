//! Tests of the server over real HTTPS, within one process.

mod callers;
mod certificates;
mod clients;
mod connections;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::*;
use crate::transport::Http;

use clients::{Authority, Client, Folder};

/// Endpoints that return their names.
#[derive(Debug)]
struct Names;

impl Endpoints for Names {
    fn metrics(&self) -> BoxFuture<'_, String> {
        Box::pin(async { "# metrics\n".to_owned() })
    }
    fn resources(&self) -> BoxFuture<'_, String> {
        Box::pin(async { "# resources\n".to_owned() })
    }
    fn slis(&self) -> BoxFuture<'_, String> {
        Box::pin(async { "# slis\n".to_owned() })
    }
}

/// Settings of a server; by default, it listens on the loopback address with a generated certificate.
struct ServerSettings {
    serving: flags::Serving,
    authentication: flags::Authentication,
    authorization: flags::Authorization,
    server: Option<Http>,
    limits: Limits,
    refresh: Duration,
}

impl Default for ServerSettings {
    fn default() -> Self {
        ServerSettings {
            serving: flags::Serving { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 0, ..Default::default() },
            authentication: flags::Authentication::default(),
            authorization: flags::Authorization::default(),
            server: None,
            limits: Limits::default(),
            refresh: REFRESH_INTERVAL,
        }
    }
}

struct Running {
    address: SocketAddr,
    health: Health,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl ServerSettings {
    async fn bind(&self) -> Result<(Server<Http>, Health), String> {
        let health = Health::new(None);
        let parts = ServerParts {
            serving: &self.serving,
            authentication: &self.authentication,
            authorization: &self.authorization,
            authentication_client: self.server.clone(),
            authorization_client: self.server.clone(),
            health: health.clone(),
            pages: Pages::new("{}".to_owned(), "[]".to_owned(), BTreeMap::new(), SystemTime::now()),
            endpoints: Arc::new(Names),
        };
        Server::with_limits(parts, self.limits, self.refresh).await.map(|server| (server, health))
    }

    async fn run(&self) -> Running {
        let (server, health) = self.bind().await.unwrap();
        let (stop, stopped) = watch::channel(false);
        let address = server.address();
        Running { address, health, stop, task: tokio::spawn(server.run(stopped)) }
    }
}

/// Waits until a condition holds, but at most for about five seconds.
async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..500 {
        if is_so().await {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("the condition never held");
}
