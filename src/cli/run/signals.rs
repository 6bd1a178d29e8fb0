//! When somebody wants this program to end.

use std::process;

use tokio::select;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::cli::failure::Failure;

/// Says so at the first SIGTERM or SIGINT. The second one ends the program at once.
pub(super) fn stop() -> Result<watch::Receiver<bool>, Failure> {
    let failed = |error| Failure::new(format!("cannot listen to signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let (tell, stop) = watch::channel(false);
    tokio::spawn(async move {
        for is_first in [true, false] {
            select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            match is_first {
                true => drop(tell.send_replace(true)),
                false => process::exit(1),
            }
        }
    });
    Ok(stop)
}
