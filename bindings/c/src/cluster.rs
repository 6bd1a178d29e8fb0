//! Hypothetical clusters.

use schedc_api::guard::Guarded;
use schedc_api::{Answer, Cluster, Defaults, Error};
use serde::Serialize;

use crate::buffer::{Buffer, Text, array};
use crate::guard::{Answered, answer, create, free, value};
use crate::profiles::ProfilesHandle;
use crate::status::{Failure, Status};

/// A hypothetical cluster with a profile.
pub struct ClusterHandle(Guarded<Cluster>);

impl From<Cluster> for ClusterHandle {
    /// Makes a handle of any cluster, such as one with a compiled profile.
    fn from(cluster: Cluster) -> Self {
        ClusterHandle(Guarded::new(cluster))
    }
}

impl ClusterHandle {
    /// Returns the pointer for C. `schedc_cluster_free` releases it.
    pub fn into_raw(self) -> *mut Self {
        Box::into_raw(Box::new(self))
    }
}

/// Calls a function with the cluster of a handle.
///
/// # Safety
/// `cluster` is null or a handle that no other thread uses during the call; `out` is null or valid for a write.
#[allow(unsafe_code, reason = "handles are pointers")]
unsafe fn call(cluster: *mut ClusterHandle, out: *mut Buffer, work: impl FnOnce(&mut Cluster) -> Answered) -> Status {
    let work = || {
        // SAFETY: the caller makes the same promise.
        let cluster = unsafe { value(cluster, "cluster") }?;
        cluster.0.call(work)
    };
    // SAFETY: the caller makes the same promise.
    unsafe { answer(out, work) }
}

/// Calls a function with the cluster of a handle. The function cannot fail.
///
/// # Safety
/// The condition of [`call`].
#[allow(unsafe_code, reason = "handles are pointers")]
unsafe fn change(cluster: *mut ClusterHandle, out: *mut Buffer, work: impl FnOnce(&mut Cluster)) -> Status {
    let work = |cluster: &mut Cluster| {
        work(cluster);
        ok_if(true)
    };
    // SAFETY: the caller makes the same promise.
    unsafe { call(cluster, out, work) }
}

/// Calls a function with the cluster of a handle, a pod and a node.
///
/// # Safety
/// The condition of [`call`]; the texts are valid during the call.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
unsafe fn call_for_node(
    cluster: *mut ClusterHandle,
    (pod, node): (Text, Text),
    out: *mut Buffer,
    work: impl FnOnce(&mut Cluster, &str, &str) -> Result<Answer, Error>,
) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises valid texts.
        let (pod, node) = unsafe { (pod.text("pod")?, node.text("node")?) };
        let answer = work(cluster, pod, node)?;
        if is_success(&answer) { Ok((Status::Ok, Vec::new())) } else { json(Status::Rejected, &answer) }
    };
    // SAFETY: the caller makes the same promise.
    unsafe { call(cluster, out, work) }
}

/// Returns the texts of an array of a caller. Null is an empty array.
///
/// # Safety
/// `data` is null or valid for `count` texts, and these are valid, until the end of the call of the library.
#[allow(unsafe_code, reason = "texts of callers are pointers")]
unsafe fn texts<'a>(data: *const Text, count: usize, name: &str) -> Result<Vec<&'a str>, Failure> {
    // SAFETY: the caller makes the same promise.
    let data = unsafe { array(data, count, name) }?;
    // SAFETY: as above.
    data.iter().map(|text| unsafe { text.text(name) }).collect()
}

/// Returns a result in JSON.
fn json(status: Status, result: &impl Serialize) -> Answered {
    let text = serde_json::to_vec(result);
    let text = text.map_err(|error| Failure { status: Status::Other, message: error.to_string() })?;
    Ok((status, text))
}

fn is_success(answer: &Answer) -> bool {
    answer.code == "Success"
}

fn ok_if(condition: bool) -> Answered {
    Ok((if condition { Status::Ok } else { Status::Rejected }, Vec::new()))
}

/// Creates an empty cluster with the profile of this name or scheduler name.
///
/// The arguments of plugins stay in memory until the program ends. Therefore clear and reuse a cluster instead of
/// creating another one.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_new(
    profiles: *const ProfilesHandle,
    profile: Text,
    cluster: *mut *mut ClusterHandle,
    out: *mut Buffer,
) -> Status {
    let make = || {
        // SAFETY: the caller promises a null or valid handle, which is only read, and a valid text.
        let (profiles, profile) = unsafe { (profiles.as_ref(), profile.text("profile")?) };
        let profiles = profiles.ok_or_else(|| Failure::null("profiles"))?;
        Ok(ClusterHandle::from(Cluster::new(&profiles.0, profile)?))
    };
    // SAFETY: the caller promises that `cluster` and `out` are null or valid.
    unsafe { create(cluster, out, make) }
}

/// Releases a cluster.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_free(cluster: *mut ClusterHandle) {
    // SAFETY: the caller releases the handle once.
    unsafe { free(cluster) }
}

/// Adds or replaces objects: documents in YAML or JSON, or lists of objects. A pod with `spec.nodeName` occupies that node;
/// a replaced pod without `spec.nodeName` keeps the node that it has. With `defaults`, objects are completed and validated as
/// an API server does when they are created.
///
/// The answer, in JSON, has the counts of objects. After an error, nothing has changed.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_apply(
    cluster: *mut ClusterHandle,
    objects: Text,
    defaults: bool,
    out: *mut Buffer,
) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises valid texts.
        let objects = unsafe { objects.text("objects")? };
        json(Status::Ok, &cluster.apply(objects, Defaults::from(defaults))?)
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}

/// Adds or replaces objects in protobuf, as an API server sends and stores them: each of `count` messages is an object, or a list
/// of objects of one kind, and begins with the four bytes `k8s` and zero. The objects are used unchanged.
///
/// The answer, in JSON, has the counts of objects. After an error, nothing has changed.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and messages are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_apply_protobuf(
    cluster: *mut ClusterHandle,
    messages: *const Text,
    count: usize,
    out: *mut Buffer,
) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises `count` valid messages.
        let messages = unsafe { array(messages, count, "messages") }?;
        // SAFETY: as above.
        let messages = messages.iter().map(|message| unsafe { message.bytes("messages") });
        json(Status::Ok, &cluster.apply_protobuf(&messages.collect::<Result<Vec<&[u8]>, Failure>>()?)?)
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}

/// Deletes an object. An empty namespace is `default`. SCHEDC_STATUS_REJECTED: there is no such object.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_delete(
    cluster: *mut ClusterHandle,
    kind: Text,
    namespace: Text,
    name: Text,
    out: *mut Buffer,
) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises valid texts.
        let (kind, namespace, name) = unsafe { (kind.text("kind")?, namespace.text("namespace")?, name.text("name")?) };
        ok_if(cluster.delete(kind, namespace, name)?)
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}

/// Removes all objects, and closes all forks.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_clear(cluster: *mut ClusterHandle, out: *mut Buffer) -> Status {
    // SAFETY: the caller promises valid pointers.
    unsafe { change(cluster, out, Cluster::clear) }
}

/// Opens a fork: later changes can be reverted. Forks can be nested.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_fork(cluster: *mut ClusterHandle, out: *mut Buffer) -> Status {
    // SAFETY: the caller promises valid pointers.
    unsafe { change(cluster, out, Cluster::fork) }
}

/// Adds the changes since the last fork to the enclosing fork, or makes them final if there is none. Without a fork,
/// nothing happens.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_commit(cluster: *mut ClusterHandle, out: *mut Buffer) -> Status {
    // SAFETY: the caller promises valid pointers.
    unsafe { change(cluster, out, Cluster::commit) }
}

/// Undoes the changes since the last fork. Without a fork, nothing happens.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_revert(cluster: *mut ClusterHandle, out: *mut Buffer) -> Status {
    // SAFETY: the caller promises valid pointers.
    unsafe { change(cluster, out, Cluster::revert) }
}

/// Writes the number of open forks to `count`.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_forks(
    cluster: *mut ClusterHandle,
    count: *mut usize,
    out: *mut Buffer,
) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises that `count` is null or valid for a write.
        let count = unsafe { count.as_mut() }.ok_or_else(|| Failure::null("count"))?;
        *count = cluster.forks();
        ok_if(true)
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}

/// Returns whether a pod may run on a node. SCHEDC_STATUS_OK: it may. SCHEDC_STATUS_REJECTED: it may not, and the answer in
/// JSON has the code, the plugin and the reasons.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_check(
    cluster: *mut ClusterHandle,
    pod: Text,
    node: Text,
    out: *mut Buffer,
) -> Status {
    // SAFETY: the caller promises valid pointers and texts.
    unsafe { call_for_node(cluster, (pod, node), out, Cluster::check) }
}

/// Writes to `fits`, for each of `count` nodes, whether a pod may run there. This is faster than a call for each node.
/// SCHEDC_STATUS_REJECTED: it may run on none of them.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_check_nodes(
    cluster: *mut ClusterHandle,
    pod: Text,
    nodes: *const Text,
    count: usize,
    fits: *mut bool,
    out: *mut Buffer,
) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises valid texts.
        let (pod, names) = unsafe { (pod.text("pod")?, texts(nodes, count, "nodes")?) };
        if fits.is_null() && !names.is_empty() {
            return Err(Failure::null("fits"));
        }
        let answers = cluster.check_nodes(pod, &names)?;
        for (at, answer) in answers.iter().enumerate() {
            // SAFETY: `fits` is not null. The caller promises room for `count` values, and there is an answer for each node.
            unsafe { fits.add(at).write(is_success(answer)) };
        }
        ok_if(answers.iter().any(is_success))
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}

/// Puts a pod on a node if it may run there. Otherwise nothing changes, and the answer is that of schedc_cluster_check.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_schedule(
    cluster: *mut ClusterHandle,
    pod: Text,
    node: Text,
    out: *mut Buffer,
) -> Status {
    // SAFETY: the caller promises valid pointers and texts.
    unsafe { call_for_node(cluster, (pod, node), out, Cluster::schedule) }
}

/// Puts a pod on the first of `count` nodes where it may run, or on the first of all nodes if `nodes` is NULL. The
/// answer is the name of the node. SCHEDC_STATUS_REJECTED: the pod may run on none of them. The answer is then empty,
/// or, if a plugin rejects the pod as a whole, this rejection in JSON.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_schedule_on_any(
    cluster: *mut ClusterHandle,
    pod: Text,
    nodes: *const Text,
    count: usize,
    out: *mut Buffer,
) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises valid texts.
        let (pod, names) = unsafe { (pod.text("pod")?, texts(nodes, count, "nodes")?) };
        let placement = cluster.schedule_on_any(pod, (!nodes.is_null()).then_some(names.as_slice()))?;
        match (placement.node, placement.rejection) {
            (Some(node), _) => Ok((Status::Ok, node.into_bytes())),
            (None, Some(rejection)) => json(Status::Rejected, &rejection),
            (None, None) => ok_if(false),
        }
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}

/// Removes a pod from its node; the pod is pending again. SCHEDC_STATUS_REJECTED: the pod had no node.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_unschedule(cluster: *mut ClusterHandle, pod: Text, out: *mut Buffer) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises valid texts.
        let pod = unsafe { pod.text("pod")? };
        ok_if(cluster.unschedule(pod)?)
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}

/// Answers with the decision about a pod in JSON, as `schedc evaluate` writes it: the verdict and the scores of every node,
/// the chosen node, the message, and the victims of preemption. Nothing changes. SCHEDC_STATUS_REJECTED: no node is chosen.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_decide(cluster: *mut ClusterHandle, pod: Text, out: *mut Buffer) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises valid texts.
        let pod = unsafe { pod.text("pod")? };
        let decision = cluster.decide(pod)?;
        json(if decision.chosen.is_some() { Status::Ok } else { Status::Rejected }, &decision)
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}

/// Answers in JSON with the number of new nodes that `count` pods need. `node_template` has one node and the pods that
/// run on each copy of it. Nothing changes.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_estimate(
    cluster: *mut ClusterHandle,
    node_template: Text,
    pods: *const Text,
    count: usize,
    max_nodes: usize,
    out: *mut Buffer,
) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises valid texts.
        let (template, pods) = unsafe { (node_template.text("node_template")?, texts(pods, count, "pods")?) };
        json(Status::Ok, &cluster.estimate(template, &pods, max_nodes)?)
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}

/// Answers requests in JSON, one per line, with one line per request. The status is SCHEDC_STATUS_OK even if requests
/// fail: their lines report the errors.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles and texts are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_cluster_requests(
    cluster: *mut ClusterHandle,
    requests: Text,
    out: *mut Buffer,
) -> Status {
    let work = |cluster: &mut Cluster| {
        // SAFETY: the caller promises a valid text.
        let requests = unsafe { requests.bytes("requests")? };
        Ok((Status::Ok, cluster.requests(requests)))
    };
    // SAFETY: the caller promises valid pointers.
    unsafe { call(cluster, out, work) }
}
