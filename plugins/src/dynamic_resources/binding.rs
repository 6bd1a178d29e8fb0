//! PreBind: writes allocations and reservations, and waits until the devices are ready.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use schedc_core::background::BackgroundClient;
use schedc_core::claim_metrics::{WaitLabels, WaitResult};
use schedc_core::client::{ApiError, ApiReason, Client, ObjectRef, ObjectUpdates};
use schedc_core::extension_points::Placement;
use schedc_core::handle::Handle;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    AllocationResult, DeviceRequestAllocationResult, EXTENDED_RESOURCE_CLAIM_ANNOTATION, Pod, RESOURCE_CLAIM_FINALIZER,
    ResourceClaim, Uid,
};
use schedc_core::pending_allocations::WrittenAllocation;
use serde_json::{Value, json};

use super::evaluation::{ExtendedClaim, NodeAllocation};
use super::extended::RequestMapping;
use super::pod_claims::{ClaimState, PodClaims};
use super::post_filter::object;

/// Maximum number of attempts to write an object after conflicts.
const MAX_ATTEMPTS: u32 = 5;
/// Interval of kube-scheduler's checks for binding conditions.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The profile of pods without scheduler name.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// The writes of PreBind. It contains strings, because it runs outside of the scheduler and has no interner.
#[derive(Debug)]
pub(super) struct BindingPlan {
    claims: Vec<PlannedClaim>,
    /// Scheduler name and devices for metrics, if PreBind waits for binding conditions.
    waits: Option<Waits>,
    /// What was written, for Unreserve.
    written: Mutex<Vec<WrittenClaim>>,
}

/// Labels for metrics of a wait for binding conditions.
#[derive(Debug)]
struct Waits {
    profile: Arc<str>,
    /// The driver of each device, and whether the device has binding conditions.
    devices: Vec<(Arc<str>, bool)>,
}

/// A claim of the pod.
#[derive(Debug)]
struct PlannedClaim {
    /// Its name in the pod.
    pod_claim: Option<Arc<str>>,
    target: ClaimTarget,
    /// The new allocation.
    new: Option<NewAllocation>,
    /// The existing allocation.
    existing: Option<Arc<AllocationResult>>,
    is_reserved: bool,
}

/// A new allocation.
#[derive(Debug)]
pub(super) struct NewAllocation {
    /// The uid in the pending allocations.
    pub(super) uid: Uid,
    /// Namespace and name of the claim; `None` if it is created.
    pub(super) claim: Option<(Symbol, Symbol)>,
    pub(super) allocation: Arc<AllocationResult>,
    written: Value,
}

/// The object of a claim.
#[derive(Debug)]
enum ClaimTarget {
    Existing {
        object: ObjectRef,
        uid: Uid,
    },
    /// The claim for extended resources, which is created.
    New {
        manifest: Value,
        mappings: Value,
        extended: ExtendedClaim,
    },
}

/// A claim that PreBind wrote.
#[derive(Debug)]
struct WrittenClaim {
    object: ObjectRef,
    uid: Uid,
    /// Whether PreBind created it.
    is_new: bool,
}

impl BindingPlan {
    /// Plans the writes for a pod on a node.
    pub(super) fn new(placement: &Placement, claims: PodClaims, node: NodeAllocation, interner: &Interner) -> Self {
        let NodeAllocation { allocations, extended, .. } = node;
        let (mut allocations, mut extended) = (allocations.into_iter(), extended);
        let mut planned = Vec::new();
        for claim in claims.claims {
            let pod_claim = claim.pod_claim.map(|name| interner.share(name));
            let existing = claim.claim.as_ref().and_then(|claim| claim.status.allocation.clone());
            let is_reserved = claim.claim.as_ref().is_some_and(|claim| claim.is_reserved_for(&placement.pod.uid));
            let name = claim.claim.as_ref().map(|claim| (claim.namespace, claim.name));
            let target = match (claim.claim, claim.state) {
                (_, ClaimState::Extended) => match extended.take() {
                    Some(extended) => ClaimTarget::New {
                        manifest: manifest(&placement.pod, &extended, interner),
                        mappings: mappings(&extended.mappings, interner),
                        extended,
                    },
                    // The node has all resources.
                    None => continue,
                },
                (Some(claim), _) => ClaimTarget::existing(&claim, interner),
                (None, _) => continue,
            };
            let new = if existing.is_some() { None } else { allocations.next() };
            let new = new.map(|allocation| NewAllocation {
                uid: match &target {
                    ClaimTarget::Existing { uid, .. } => uid.clone(),
                    ClaimTarget::New { .. } => Uid(format!("extended resources of {}", placement.pod.uid.0).into()),
                },
                claim: name.filter(|_| matches!(target, ClaimTarget::Existing { .. })),
                written: allocation.to_json(interner),
                allocation,
            });
            planned.push(PlannedClaim { pod_claim, target, new, existing, is_reserved });
        }
        let waits = Waits::of(&placement.pod, &planned, interner);
        BindingPlan { claims: planned, waits, written: Mutex::default() }
    }

    /// Returns the new allocations.
    pub(super) fn pending(&self) -> impl Iterator<Item = &NewAllocation> {
        self.claims.iter().filter_map(|claim| claim.new.as_ref())
    }

    /// Returns the allocations for reports.
    pub(super) fn preview(&self, interner: &Interner) -> Value {
        self.claims.iter().map(|claim| claim.preview(interner)).collect()
    }

    /// Writes the claims, and waits until all devices are ready.
    ///
    /// # Errors
    /// The API server refuses a write, a device fails, or the timeout passes.
    pub(super) async fn run(
        &self,
        client: &impl Client,
        placement: &Placement,
        handle: &Handle,
        timeout: i64,
    ) -> Result<(), String> {
        let mut waits_for = Vec::new();
        for claim in &self.claims {
            let object = match &claim.target {
                ClaimTarget::Existing { object, .. } if claim.is_reserved => object.clone(),
                ClaimTarget::Existing { object, uid } => {
                    self.write(client, placement, handle, claim, object, uid, None).await?;
                    object.clone()
                }
                ClaimTarget::New { manifest, mappings, .. } => {
                    let (object, uid, created) = self.create(client, placement, handle, manifest).await?;
                    self.write(client, placement, handle, claim, &object, &uid, Some(created)).await?;
                    report_extended(client, &placement.pod, &object, mappings).await?;
                    object
                }
            };
            if claim.allocation().is_some_and(|allocation| has_conditions(allocation)) {
                waits_for.push(object);
            }
        }
        if waits_for.is_empty() {
            return Ok(());
        }
        let note = format!("waiting for binding conditions for device on node {}", placement.node_name);
        handle.event(placement.pod.uid.clone(), "BindingConditionsPending", note);
        let began = (Instant::now(), handle.now());
        let result = wait_until_ready(client, waits_for, timeout).await;
        let waited = match handle.has_real_time() {
            true => i64::try_from(began.0.elapsed().as_nanos()).unwrap_or(i64::MAX),
            false => handle.now() - began.1,
        };
        self.record_wait(handle, waited, result.as_ref().err());
        result.map_err(WaitError::into_message)
    }

    /// Adds a wait for binding conditions to the metrics.
    fn record_wait(&self, handle: &Handle, waited: i64, error: Option<&WaitError>) {
        let Some(Waits { profile, devices }) = &self.waits else { return };
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

    /// Creates the claim for extended resources.
    async fn create(
        &self,
        client: &impl Client,
        placement: &Placement,
        handle: &Handle,
        manifest: &Value,
    ) -> Result<(ObjectRef, Uid, Value), String> {
        let mut object = ObjectRef {
            api_version: "resource.k8s.io/v1".into(),
            kind: "ResourceClaim".into(),
            namespace: placement.pod.namespace.clone(),
            name: "".into(),
        };
        let created = client.create(&object, manifest).await;
        handle.claim_metrics().add_creation(created.is_ok());
        let created = created.map_err(|error| format!("create claim for extended resources: {error}"))?;
        object.name = text(&created["metadata"]["name"]).into();
        let uid = Uid(text(&created["metadata"]["uid"]).into());
        self.written().push(WrittenClaim { object: object.clone(), uid: uid.clone(), is_new: true });
        Ok((object, uid, created))
    }

    fn written(&self) -> std::sync::MutexGuard<'_, Vec<WrittenClaim>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the allocation and the reservation of a claim (`bindClaim`). After a conflict, the claim is read again.
    #[expect(clippy::too_many_arguments, reason = "the parts of one write")]
    async fn write(
        &self,
        client: &impl Client,
        placement: &Placement,
        handle: &Handle,
        claim: &PlannedClaim,
        object: &ObjectRef,
        uid: &Uid,
        known: Option<Value>,
    ) -> Result<(), String> {
        let name = format!("{}/{}", object.namespace, object.name);
        let mut known = known;
        let mut attempts = MAX_ATTEMPTS;
        loop {
            let now = match known.take() {
                Some(now) => now,
                None => client.get(object).await.map_err(|error| format!("get updated claim {name}: {error}"))?,
            };
            attempts -= 1;
            match self.write_version(client, placement, handle, claim, object, uid, &now).await {
                Ok(()) => return Ok(()),
                Err(WriteError::Failed(reason)) => return Err(reason),
                Err(WriteError::Conflict(reason)) if attempts == 0 => return Err(reason),
                Err(WriteError::Conflict(_)) => {}
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one write")]
    async fn write_version(
        &self,
        client: &impl Client,
        placement: &Placement,
        handle: &Handle,
        claim: &PlannedClaim,
        object: &ObjectRef,
        uid: &Uid,
        now: &Value,
    ) -> Result<(), WriteError> {
        let name = format!("{}/{}", object.namespace, object.name);
        let failed = |reason: String| Err(WriteError::Failed(reason));
        if text(&now["metadata"]["uid"]) != &*uid.0 {
            return failed(format!("claim {name} is another one in the meantime"));
        }
        if !now["metadata"]["deletionTimestamp"].is_null() {
            return failed(format!("claim {name} got deleted in the meantime"));
        }
        let mut version = now["metadata"]["resourceVersion"].clone();
        let is_allocated = !now["status"]["allocation"].is_null();
        let mut status = json!({});
        match &claim.new {
            Some(_) if is_allocated => return failed(format!("claim {name} got allocated elsewhere in the meantime")),
            None if !is_allocated => return failed(format!("claim {name} got deallocated elsewhere in the meantime")),
            Some(new) => {
                let mut finalizers = now["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
                if !finalizers.iter().any(|finalizer| finalizer == RESOURCE_CLAIM_FINALIZER) {
                    finalizers.push(RESOURCE_CLAIM_FINALIZER.into());
                    let patch = json!({ "metadata": { "resourceVersion": version, "finalizers": finalizers } });
                    let what = format!("add finalizer to claim {name}");
                    let updated = client.patch(object, &patch).await.map_err(|error| WriteError::of(&what, &error))?;
                    version = updated["metadata"]["resourceVersion"].clone();
                }
                status["allocation"] = new.written.clone();
            }
            None => {}
        }
        if now["status"]["allocation"]["allocationTimestamp"].is_null() {
            status["allocation"]["allocationTimestamp"] = timestamp(handle.now());
        }
        let mut reserved_for = now["status"]["reservedFor"].as_array().cloned().unwrap_or_default();
        let pod = &placement.pod;
        reserved_for.push(json!({ "resource": "pods", "name": *pod.name, "uid": *pod.uid.0 }));
        status["reservedFor"] = reserved_for.into();
        let patch = json!({ "metadata": { "resourceVersion": version }, "status": status });
        let what = match claim.new {
            Some(_) => format!("add allocation and reservation to claim {name}"),
            None => format!("add reservation to claim {name}"),
        };
        let updated = client.patch_status(object, &patch).await.map_err(|error| WriteError::of(&what, &error))?;
        if let Some(new) = &claim.new {
            let version = text(&updated["metadata"]["resourceVersion"]).into();
            handle.pending_allocations().mark_written(&new.uid, WrittenAllocation { uid: uid.clone(), version });
        }
        let mut written = self.written();
        if !written.iter().any(|known| known.uid == *uid) {
            written.push(WrittenClaim { object: object.clone(), uid: uid.clone(), is_new: false });
        }
        Ok(())
    }

    /// Undoes what PreBind wrote: removes reservations, and deletes the claim for extended resources.
    pub(super) fn undo(&self, handle: &Handle, pod: &Uid) {
        let written = std::mem::take(&mut *self.written());
        let reserved_before =
            self.claims.iter().filter(|claim| claim.is_reserved).filter_map(|claim| match &claim.target {
                ClaimTarget::Existing { object, uid } => Some((object.clone(), uid.clone(), false)),
                ClaimTarget::New { .. } => None,
            });
        let written = written.into_iter().map(|claim| (claim.object, claim.uid, claim.is_new));
        for (object, uid, is_new) in written.chain(reserved_before) {
            let pod = pod.clone();
            handle.spawn(|client| async move {
                // As in kube-scheduler, a failure is not retried before the next attempt.
                let _ = match is_new {
                    true => delete(&client, &object, &uid).await,
                    false => remove_reservation(&client, &object, &uid, &pod).await,
                };
            });
        }
    }
}

impl Waits {
    fn of(pod: &Pod, claims: &[PlannedClaim], interner: &Interner) -> Option<Waits> {
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
        Some(Waits { profile, devices: results.map(device).collect() })
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

enum WriteError {
    Conflict(String),
    Failed(String),
}

impl WriteError {
    fn of(what: &str, error: &ApiError) -> Self {
        let reason = format!("{what}: {error}");
        if error.reason == ApiReason::Conflict { WriteError::Conflict(reason) } else { WriteError::Failed(reason) }
    }
}

impl ClaimTarget {
    fn existing(claim: &ResourceClaim, interner: &Interner) -> Self {
        ClaimTarget::Existing { object: object(claim, interner), uid: claim.uid.clone() }
    }
}

impl PlannedClaim {
    fn allocation(&self) -> Option<&Arc<AllocationResult>> {
        self.new.as_ref().map(|new| &new.allocation).or(self.existing.as_ref())
    }

    fn preview(&self, interner: &Interner) -> Value {
        let mut entry = json!({ "new": self.new.is_some() });
        match &self.target {
            ClaimTarget::Existing { object, .. } => {
                entry["claim"] = format!("{}/{}", object.namespace, object.name).into();
                if let Some(name) = &self.pod_claim {
                    entry["podClaim"] = (**name).into();
                }
            }
            ClaimTarget::New { extended, mappings, .. } => {
                entry["extended"] = true.into();
                if !extended.spec.requests.is_empty() {
                    entry["requests"] = extended.spec.to_json(interner)["devices"]["requests"].take();
                    entry["mappings"] = mappings.clone();
                }
            }
        }
        if let Some(allocation) = self.allocation() {
            let mut written = allocation.to_json(interner);
            let results = written["devices"]["results"].as_array_mut().into_iter().flatten();
            // Ids of shares have no meaning.
            results.filter(|result| result["shareID"].is_string()).for_each(|result| result["shareID"] = "*".into());
            for (field, value) in [
                ("results", written["devices"]["results"].take()),
                ("config", written["devices"]["config"].take()),
                ("nodeSelector", written["nodeSelector"].take()),
            ] {
                if !value.is_null() {
                    entry[field] = value;
                }
            }
        }
        if !self.is_reserved {
            entry["reserves"] = true.into();
        }
        entry
    }
}

/// Returns a time as `allocationTimestamp`.
fn timestamp(now: i64) -> Value {
    let allocation = AllocationResult { timestamp: Some(now), ..AllocationResult::default() };
    allocation.to_json(&Interner::default())["allocationTimestamp"].take()
}

/// Returns `requestMappings` of a pod's status.
fn mappings(mappings: &[RequestMapping], interner: &Interner) -> Value {
    let text = |symbol| interner.resolve(symbol);
    let mapping = |mapping: &RequestMapping| {
        json!({
            "containerName": text(mapping.container),
            "resourceName": text(mapping.resource),
            "requestName": text(mapping.request),
        })
    };
    mappings.iter().map(mapping).collect()
}

/// Returns the manifest of a claim for extended resources.
fn manifest(pod: &Pod, extended: &ExtendedClaim, interner: &Interner) -> Value {
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": *pod.name, "uid": *pod.uid.0, "controller": true });
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "namespace": *pod.namespace,
            "generateName": format!("{}-extended-resources-", pod.name),
            "annotations": { EXTENDED_RESOURCE_CLAIM_ANNOTATION: "true" },
            "ownerReferences": [owner],
        },
        "spec": { "devices": { "requests": extended.spec.to_json(interner)["devices"]["requests"].take() } },
    })
}

/// Writes the claim for extended resources to the pod's status.
async fn report_extended(client: &impl Client, pod: &Pod, claim: &ObjectRef, mappings: &Value) -> Result<(), String> {
    let name = format!("{}/{}", pod.namespace, pod.name);
    if mappings.as_array().is_none_or(Vec::is_empty) {
        return Err(format!("nil or empty request mappings, no update of pod {name} ExtendedResourceClaimStatus"));
    }
    let object = ObjectRef {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: pod.namespace.clone(),
        name: pod.name.clone(),
    };
    let status = json!({ "requestMappings": mappings, "resourceClaimName": *claim.name });
    let patch = json!({
        "metadata": { "uid": *pod.uid.0 },
        "status": { "extendedResourceClaimStatus": status },
    });
    let written = client.patch_status(&object, &patch).await;
    written.map(|_| ()).map_err(|error| format!("update pod {name} ExtendedResourceClaimStatus: {error}"))
}

fn has_conditions(allocation: &AllocationResult) -> bool {
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
        let is_it = |status: &&Value| ["driver", "pool", "device"].iter().all(|field| status[*field] == result[*field]);
        let Some(status) = devices.find(is_it) else { return Ok(false) };
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

/// Removes a pod from the users of a claim.
async fn remove_reservation(
    client: &BackgroundClient,
    object: &ObjectRef,
    uid: &Uid,
    pod: &Uid,
) -> Result<(), ApiError> {
    let now = client.get(object).await?;
    if text(&now["metadata"]["uid"]) != &*uid.0 {
        return Ok(());
    }
    let mut reserved_for = now["status"]["reservedFor"].as_array().cloned().unwrap_or_default();
    reserved_for.retain(|consumer| text(&consumer["uid"]) != &*pod.0);
    let reserved_for = if reserved_for.is_empty() { Value::Null } else { reserved_for.into() };
    let version = &now["metadata"]["resourceVersion"];
    let patch = json!({ "metadata": { "resourceVersion": version }, "status": { "reservedFor": reserved_for } });
    client.patch_status(object, &patch).await.map(|_| ())
}

/// Deletes a claim that was created for extended resources.
async fn delete(client: &BackgroundClient, object: &ObjectRef, uid: &Uid) -> Result<(), ApiError> {
    let patch = json!({ "metadata": { "uid": *uid.0, "finalizers": null } });
    client.patch(object, &patch).await?;
    client.delete(object, Some(uid)).await
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
