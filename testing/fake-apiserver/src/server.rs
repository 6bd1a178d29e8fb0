//! The server as a test holds it.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::audit::RecordedRequest;
use crate::faults::FaultRule;
use crate::kinds::Kind;
use crate::list;
use crate::listen;
use crate::request::Target;
use crate::shared::{Shared, locked};
use crate::tls::Tls;
use crate::volumes;
use crate::write::{self, WriteOrigin, text};

/// How often a test that waits looks.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// An API server on this machine, with a thread of its own. It ends when it is dropped.
///
/// What a test does to its objects (`create`, `apply`, `remove`) is always done, in no time, and is no request: rules do not
/// apply to it and [`requests`](Self::requests) does not tell of it. Objects are JSON values, and are found by the paths that
/// clients use.
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    tls: Option<Tls>,
    running: Option<Running>,
}

struct Running {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Server {
    /// A server that speaks plain HTTP, 1.1 or 2 as the client begins.
    ///
    /// # Panics
    /// If this machine has no port left.
    pub fn start() -> Self {
        Server::start_with(None)
    }

    /// A server that speaks HTTPS with a certificate of its own; see [`authority`](Self::authority).
    ///
    /// # Panics
    /// If this machine has no port left.
    pub fn start_tls() -> Self {
        Server::start_with(Some(Tls::new().unwrap_or_else(|error| panic!("no certificate: {error}"))))
    }

    fn start_with(tls: Option<Tls>) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Server { shared: Arc::default(), address, tls, running: None };
        server.resume();
        server
    }

    /// Where it is, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http{}://{}", if self.tls.is_some() { "s" } else { "" }, self.address)
    }

    /// The certificate, as PEM, of the authority that vouches for the server. `None`: it speaks plain HTTP.
    pub fn authority(&self) -> Option<&str> {
        self.tls.as_ref().map(|tls| tls.authority.as_str())
    }

    /// The contents of a kubeconfig for this server, without a user.
    pub fn kubeconfig(&self) -> String {
        self.kubeconfig_as(&json!({}))
    }

    /// The same for a user with a bearer token. The server does not look at it, but tells clients apart by it: see
    /// [`RecordedRequest::token`] and [`FaultRule::token`].
    pub fn kubeconfig_with_token(&self, token: &str) -> String {
        self.kubeconfig_as(&json!({"token": token}))
    }

    fn kubeconfig_as(&self, user: &Value) -> String {
        let mut cluster = json!({"server": self.url()});
        if let Some(authority) = self.authority() {
            cluster["certificate-authority-data"] = base64(authority.as_bytes()).into();
        }
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "double",
            "clusters": [{"name": "double", "cluster": cluster}],
            "users": [{"name": "double", "user": user}],
            "contexts": [{"name": "double", "context": {"cluster": "double", "user": "double"}}],
        })
        .to_string()
    }

    /// Stops serving: connections break, and there are none until [`resume`](Self::resume). Objects stay.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop.send_replace(true);
            // If it panicked it has said so.
            let _panicked = running.thread.join();
        }
    }

    /// Serves again, at the same address, as if only the network had been gone: it knows all that happened.
    ///
    /// # Panics
    /// If somebody else has taken the port.
    pub fn resume(&mut self) {
        if self.running.is_some() {
            return;
        }
        let listener = TcpListener::bind(self.address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            self.address = listener.local_addr()?;
            Ok(listener)
        });
        let listener = listener.unwrap_or_else(|error| panic!("cannot listen on {}: {error}", self.address));
        let (stop, stopped) = watch::channel(false);
        let (shared, tls) = (self.shared.clone(), self.tls.clone());
        let thread = std::thread::spawn(move || listen::run(listener, shared, tls, stopped));
        self.running = Some(Running { stop, thread });
    }

    /// Starts anew, or starts if it was stopped. As with a real server, no watch can go on where it ended: each is told 410 and
    /// has to list again.
    ///
    /// # Panics
    /// If somebody else has taken the port.
    pub fn restart(&mut self) {
        self.stop();
        self.shared.with_store(|store| store.expire_versions());
        self.resume();
    }

    /// Breaks all connections that there are; new ones are welcome.
    pub fn cut_connections(&self) {
        self.shared.cut.send_modify(|count| *count += 1);
    }

    /// Creates an object, with its status, and returns it with what was filled in.
    ///
    /// # Panics
    /// If there is such an object, or a client could not create it either.
    #[track_caller]
    pub fn create(&self, object: Value) -> Value {
        let target = target_of(&object, false);
        let created =
            self.shared.with_store(|store| write::create(store, &target, &object, WriteOrigin::Test, write::now()));
        created.map_or_else(|refusal| panic!("cannot create {object}: {}", refusal.body()), |it| (*it).clone())
    }

    /// Creates an object or puts it, with its status, in the place of the one that is there.
    ///
    /// # Panics
    /// If it is no object of a known kind.
    #[track_caller]
    pub fn apply(&self, object: Value) -> Value {
        let target = target_of(&object, true);
        let path = path_of(&target);
        if self.get(&path).is_none() {
            return self.create(object);
        }
        let applied =
            self.shared.with_store(|store| write::update(store, &target, &object, WriteOrigin::Test, write::now()));
        applied.map_or_else(|refusal| panic!("cannot apply {object}: {}", refusal.body()), |(_, it)| (*it).clone())
    }

    /// Merges something (a JSON merge patch) into an object, its status included.
    ///
    /// # Panics
    /// If there is no object at the path, or what comes of it is not the same object.
    #[track_caller]
    pub fn merge(&self, path: &str, patch: Value) -> Value {
        let target = target_at(path);
        let content_type = "application/merge-patch+json";
        let merged =
            self.shared.with_store(|store| write::patch(store, &target, content_type, &patch, WriteOrigin::Test));
        merged.map_or_else(|refusal| panic!("cannot merge into {path}: {}", refusal.body()), |it| (*it).clone())
    }

    /// Removes an object at once, whatever holds it. Returns whether there was one.
    ///
    /// # Panics
    /// If no object can be at the path.
    #[track_caller]
    pub fn remove(&self, path: &str) -> bool {
        let target = target_at(path);
        self.shared.with_store(|store| write::remove(store, &target, "")).is_some()
    }

    /// An object.
    ///
    /// # Panics
    /// If no object can be at the path.
    #[track_caller]
    pub fn get(&self, path: &str) -> Option<Value> {
        let target = target_at(path);
        locked_get(&self.shared, &target)
    }

    /// All objects of a path such as `/api/v1/pods`, by namespace and name.
    ///
    /// # Panics
    /// If no objects can be at the path.
    #[track_caller]
    pub fn list(&self, path: &str) -> Vec<Value> {
        let target = target_at(path);
        locked(&self.shared.store).list(target.kind, &target.namespace).map(|object| (**object).clone()).collect()
    }

    /// How many objects of a path are like this.
    ///
    /// # Panics
    /// If no objects can be at the path.
    #[track_caller]
    pub fn count(&self, path: &str, matches: impl Fn(&Value) -> bool) -> usize {
        let target = target_at(path);
        locked(&self.shared.store).list(target.kind, &target.namespace).filter(|object| matches(object)).count()
    }

    /// How many changes there were: the `resourceVersion` of the last.
    pub fn version(&self) -> u64 {
        locked(&self.shared.store).version()
    }

    /// Forgets all changes: watches from an older version are told 410, and so is whoever goes on with a list. Watches that
    /// are open go on.
    pub fn compact(&self) {
        self.shared.with_store(|store| store.compact());
    }

    /// From now on keeps so many changes at most; 200,000 at first. What was before is as if it were compacted.
    pub fn keep_changes(&self, changes: usize) {
        self.shared.with_store(|store| store.keep(changes));
    }

    /// From now on this goes wrong. Several rules can apply to a request: delays add up, of others the first counts.
    pub fn rule(&self, rule: FaultRule) {
        locked(&self.shared.rules).push(rule);
    }

    /// From now on nothing goes wrong.
    pub fn clear_rules(&self) {
        locked(&self.shared.rules).clear();
    }

    /// How often a watch gets a bookmark; once a minute at first.
    pub fn bookmark_every(&self, time: Duration) {
        *locked(&self.shared.bookmark_interval) = time;
    }

    /// Pods that are deleted by clients end after this time, as if there were kubelets. At first they stay for ever, with a
    /// `deletionTimestamp`, unless they have no node or have ended.
    pub fn pods_end_after(&self, time: Duration) {
        *locked(&self.shared.kubelet) = Some(time);
    }

    /// From now on claims get the volumes whose `claimRef` names them, and those that have a selected node and a class with a
    /// provisioner get a new one, at once: as if there were kube-controller-manager and a provisioner.
    pub fn bind_volumes(&self) {
        self.shared.binds_volumes.store(true, Ordering::Relaxed);
        self.shared.with_store(volumes::sync);
    }

    /// From now on objects of watches are protobuf for those who like that, in the way of `encode`: with what they are in
    /// front, as servers send them. All else stays JSON.
    pub fn enable_protobuf(&self, encode: fn(&Value) -> Option<Vec<u8>>) {
        *locked(&self.shared.protobuf) = Some(encode);
    }

    /// A token for TokenReviews: whose it is.
    pub fn token(&self, token: &str, user: &str, groups: &[&str]) {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        locked(&self.shared.reviews).users.insert(token.to_owned(), (user.to_owned(), groups));
    }

    /// A right for SubjectAccessReviews: a user may do this at a path that is not of objects, such as `get` at `/metrics`.
    pub fn allow(&self, user: &str, verb: &str, path: &str) {
        let right = (user.to_owned(), verb.to_owned(), path.to_owned());
        locked(&self.shared.reviews).rights.push(right);
    }

    /// From now on requests are of this scenario.
    pub fn scenario(&self, name: &str) {
        *locked(&self.shared.scenario) = name.to_owned();
    }

    /// All requests of clients so far, in the order in which they were done.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        // Not in the midst of a change: who has seen it sees its request.
        let _store = locked(&self.shared.store);
        locked(&self.shared.audit).clone()
    }

    /// Those of them that are to change something.
    pub fn writes(&self) -> Vec<RecordedRequest> {
        self.requests().into_iter().filter(RecordedRequest::is_write).collect()
    }

    /// How many requests so far were like this.
    pub fn count_requests(&self, matches: impl Fn(&RecordedRequest) -> bool) -> usize {
        let _store = locked(&self.shared.store);
        locked(&self.shared.audit).iter().filter(|asked| matches(asked)).count()
    }

    /// Waits until something is so. Returns whether it is; `false` after the time.
    pub fn wait(&self, time: Duration, condition: impl Fn(&Server) -> bool) -> bool {
        let end = Instant::now() + time;
        while !condition(self) {
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        true
    }

    /// The same for tests whose client runs in this thread's runtime.
    pub async fn until(&self, time: Duration, condition: impl Fn(&Server) -> bool) -> bool {
        let end = Instant::now() + time;
        while !condition(self) {
            if Instant::now() >= end {
                return false;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        true
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn locked_get(shared: &Shared, target: &Target) -> Option<Value> {
    list::get(&locked(&shared.store), target).ok().map(|object| (*object).clone())
}

#[track_caller]
fn target_at(path: &str) -> Target {
    Target::at(path).unwrap_or_else(|| panic!("no objects can be at {path}"))
}

/// Where an object is.
#[track_caller]
fn target_of(object: &Value, is_named: bool) -> Target {
    let (api_version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    let known = Kind::of_object(api_version, kind);
    let kind = known.unwrap_or_else(|| panic!("no known kind: {api_version} {kind} in {object}"));
    let namespace = match text(object, "/metadata/namespace") {
        "" if kind.is_namespaced => "default",
        namespace => namespace,
    };
    let name = if is_named { text(object, "/metadata/name") } else { "" };
    Target { kind, namespace: namespace.to_owned(), name: name.to_owned(), subresource: String::new() }
}

fn path_of(target: &Target) -> String {
    let root = if target.kind.group.is_empty() { "/api/" } else { "/apis/" };
    let namespace = match target.namespace.as_str() {
        "" => String::new(),
        namespace => format!("namespaces/{namespace}/"),
    };
    format!("{root}{}/{namespace}{}/{}", target.kind.api_version(), target.kind.plural, target.name)
}

/// Base64 with padding (RFC 4648), for kubeconfigs.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let number = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let value = (number >> (18 - 6 * digit)) & 63;
            text.push(if digit > chunk.len() { '=' } else { char::from(DIGITS[value as usize]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_as_base64() {
        for (text, expected) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }
}
