//! Waits until the devices of allocated claims are ready (binding conditions).

use std::sync::Arc;
use std::time::{Duration, Instant};

use schedc_core::claim_metrics::{WaitLabels, WaitResult};
use schedc_core::client::{ApiReason, Client, ObjectRef, ObjectUpdates};
use schedc_core::handle::Handle;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{AllocationResult, DeviceRequestAllocationResult, Pod};
use serde_json::Value;

use super::json::text;
use super::{BindingPlan, PlannedClaim};

/// Delay after an error of the watch for a claim. kube-scheduler checks binding conditions at this interval.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The profile of pods without a scheduler name.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Labels for metrics of a wait for binding conditions.
#[derive(Debug)]
pub(super) struct WaitMetricsLabels {
    profile: Arc<str>,
    /// The driver of each device, and whether the device has binding conditions.
    devices: Vec<(Arc<str>, bool)>,
}

impl WaitMetricsLabels {
    pub(super) fn of(pod: &Pod, claims: &[PlannedClaim], interner: &Interner) -> Option<WaitMetricsLabels> {
        let allocations = || claims.iter().filter_map(PlannedClaim::allocation);
        if !allocations().any(|allocation| has_conditions(allocation)) {
            return None;
        }
        let name = pod.spec.scheduler_name;
        let profile = if name == Symbol::EMPTY { DEFAULT_SCHEDULER.into() } else { interner.share(name) };
        let results = allocations().flat_map(|allocation| allocation.results.iter());
        let device = |result: &DeviceRequestAllocationResult| {
            (interner.share(result.driver), !result.binding_conditions.is_empty())
        };
        Some(WaitMetricsLabels { profile, devices: results.map(device).collect() })
    }
}

/// Error of a wait for binding conditions.
enum WaitError {
    /// A device reports a failure.
    DeviceFailed(String),
    Timeout,
    Other(String),
}

impl WaitError {
    fn into_message(self) -> String {
        match self {
            WaitError::DeviceFailed(message) | WaitError::Other(message) => message,
            WaitError::Timeout => "device binding timeout: context deadline exceeded".to_owned(),
        }
    }
}

impl BindingPlan {
    /// Waits until the devices of claims are ready, and measures the wait.
    ///
    /// # Errors
    /// A device fails, a claim cannot be read or no longer exists, or the timeout passes.
    pub(super) async fn wait(
        &self,
        client: &impl Client,
        handle: &Handle,
        claims: Vec<ObjectRef>,
        timeout: i64,
    ) -> Result<(), String> {
        let start = (Instant::now(), handle.now());
        let result = wait_until_ready(client, claims, timeout).await;
        let waited = match handle.has_real_time() {
            true => i64::try_from(start.0.elapsed().as_nanos()).unwrap_or(i64::MAX),
            false => handle.now() - start.1,
        };
        self.record_wait(handle, waited, result.as_ref().err());
        result.map_err(WaitError::into_message)
    }

    /// Adds a wait for binding conditions to the metrics.
    fn record_wait(&self, handle: &Handle, waited: i64, error: Option<&WaitError>) {
        let Some(WaitMetricsLabels { profile, devices }) = &self.waits else { return };
        let result = match error {
            None => WaitResult::Success,
            Some(WaitError::DeviceFailed(_)) => WaitResult::Failure,
            Some(WaitError::Timeout) => WaitResult::Timeout,
            Some(WaitError::Other(_)) => WaitResult::Error,
        };
        let mut metrics = handle.claim_metrics();
        for (driver, has_conditions) in devices {
            let labels = WaitLabels { profile: profile.clone(), driver: driver.clone(), result };
            metrics.add_wait(&labels, *has_conditions, waited);
        }
    }
}

pub(super) fn has_conditions(allocation: &AllocationResult) -> bool {
    allocation.results.iter().any(|result| !result.binding_conditions.is_empty())
}

/// Waits until the binding conditions of all devices are true.
async fn wait_until_ready(client: &impl Client, claims: Vec<ObjectRef>, timeout: i64) -> Result<(), WaitError> {
    let time = Duration::from_nanos(timeout.try_into().unwrap_or_default());
    let mut updates = client.watch_objects(claims.clone(), time);
    let mut latest: Vec<Option<Value>> = vec![None; claims.len()];
    loop {
        let mut is_ready = true;
        for (claim, known) in claims.iter().zip(&mut latest) {
            if known.is_none() {
                *known = Some(client.get(claim).await.map_err(|error| WaitError::Other(error.to_string()))?);
            }
            is_ready &= known.as_ref().map_or(Ok(false), is_claim_ready).map_err(WaitError::DeviceFailed)?;
        }
        if is_ready {
            return Ok(());
        }
        match updates.next().await {
            Some((at, Ok(object))) => latest[at] = Some(object),
            Some((_, Err(error))) if error.reason == ApiReason::NotFound => {
                return Err(WaitError::Other(error.to_string()));
            }
            Some((_, Err(_))) => client.sleep(CHECK_INTERVAL).await,
            None => return Err(WaitError::Timeout),
        }
    }
}

/// Returns whether all binding conditions of a claim are true.
///
/// # Errors
/// A device reports a failure.
fn is_claim_ready(claim: &Value) -> Result<bool, String> {
    let results = claim["status"]["allocation"]["devices"]["results"].as_array();
    for result in results.into_iter().flatten() {
        let names = |field: &str| result[field].as_array().cloned().unwrap_or_default();
        let required = names("bindingConditions");
        if required.is_empty() {
            continue;
        }
        let mut devices = claim["status"]["devices"].as_array().into_iter().flatten();
        let is_same_device =
            |status: &&Value| ["driver", "pool", "device"].iter().all(|field| status[*field] == result[*field]);
        let Some(status) = devices.find(is_same_device) else { return Ok(false) };
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let condition = |name: &Value| conditions.iter().find(|condition| condition["type"] == *name);
        for name in names("bindingFailureConditions") {
            if let Some(failed) = condition(&name).filter(|condition| condition["status"] == "True") {
                return Err(format!(
                    "device binding failed: claim={}, reason={}, message={:?}",
                    text(&claim["metadata"]["name"]),
                    text(&failed["reason"]),
                    text(&failed["message"])
                ));
            }
        }
        if !required.iter().all(|name| condition(name).is_some_and(|condition| condition["status"] == "True")) {
            return Ok(false);
        }
    }
    Ok(true)
}
