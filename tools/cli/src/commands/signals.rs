//! Signals that stop the program or dump its state.

use std::process;

use schedc_core::profile::ProfileInfo;
use schedc_kubernetes::inspect::Inspector;
use schedc_kubernetes::transport::Http;
use tokio::select;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::yield_now;

use crate::commands::failure::Failure;

/// Number of lines of a dump that are written at once; pods are processed between two such groups.
const LINES_AT_ONCE: usize = 256;

/// Returns a channel whose value becomes true at the first SIGTERM or SIGINT. The second one ends the program at once, with
/// exit code 1.
pub(crate) fn stop() -> Result<watch::Receiver<bool>, Failure> {
    let failed = |error| Failure::new(format!("cannot listen to signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let (sender, stop) = watch::channel(false);
    tokio::spawn(async move {
        for is_first in [true, false] {
            select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            match is_first {
                true => drop(sender.send_replace(true)),
                false => process::exit(1),
            }
        }
    });
    Ok(stop)
}

/// Logs the scheduler's cache and its differences from the API server at each SIGUSR2, as kube-scheduler does.
pub(crate) fn inspect(inspector: Inspector, profiles: &[ProfileInfo], http: Http) -> Result<(), Failure> {
    let failed = |error| Failure::new(format!("cannot listen to signals: {error}"));
    let mut requests = signal(SignalKind::user_defined2()).map_err(failed)?;
    let schedulers: Vec<_> = profiles.iter().map(|profile| profile.scheduler_name).collect();
    tokio::spawn(async move {
        while requests.recv().await.is_some() {
            for lines in inspector.dump().await.chunks(LINES_AT_ONCE) {
                lines.iter().for_each(|line| tracing::info!("{line}"));
                yield_now().await;
            }
            match inspector.compare(&http, &schedulers).await {
                Ok(mismatch) if mismatch.is_empty() => tracing::info!("Cache comparer found no mismatch"),
                Ok(mismatch) => tracing::warn!("Cache mismatch: {mismatch}"),
                Err(error) => tracing::error!("Cache comparer failed: {error}"),
            }
        }
    });
    Ok(())
}
