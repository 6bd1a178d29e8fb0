//! The server, with its API for tests.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine};
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

/// Poll interval of waiting tests.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// An API server on this machine, in its own thread. It stops when it is dropped.
///
/// Changes by a test (`create`, `apply`, `merge`, `remove`) take effect immediately. They are not requests: fault rules
/// do not apply to them, and [`requests`](Self::requests) does not contain them. Objects are JSON values at the paths
/// that clients use.
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
    /// Starts a server for plain HTTP, 1.1 or 2 depending on the client.
    ///
    /// # Panics
    /// Panics if this machine has no free port.
    pub fn start() -> Self {
        Server::start_with(None)
    }

    /// Starts a server for HTTPS with its own certificate; see [`authority`](Self::authority).
    ///
    /// # Panics
    /// Panics if this machine has no free port.
    pub fn start_tls() -> Self {
        Server::start_with(Some(Tls::new().unwrap_or_else(|error| panic!("no certificate: {error}"))))
    }

    fn start_with(tls: Option<Tls>) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Server { shared: Arc::default(), address, tls, running: None };
        server.resume();
        server
    }

    /// Returns the URL, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http{}://{}", if self.tls.is_some() { "s" } else { "" }, self.address)
    }

    /// Returns the certificate of the authority that signed the server's certificate, as PEM. `None`: the server uses
    /// plain HTTP.
    pub fn authority(&self) -> Option<&str> {
        self.tls.as_ref().map(|tls| tls.authority.as_str())
    }

    /// Returns a kubeconfig for this server, without a user.
    pub fn kubeconfig(&self) -> String {
        self.kubeconfig_as(&json!({}))
    }

    /// Returns a kubeconfig with a bearer token. The server does not verify it, but identifies clients by it: see
    /// [`RecordedRequest::token`] and [`FaultRule::token`].
    pub fn kubeconfig_with_token(&self, token: &str) -> String {
        self.kubeconfig_as(&json!({"token": token}))
    }

    fn kubeconfig_as(&self, user: &Value) -> String {
        let mut cluster = json!({"server": self.url()});
        if let Some(authority) = self.authority() {
            cluster["certificate-authority-data"] = BASE64_STANDARD.encode(authority.as_bytes()).into();
        }
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": cluster}],
            "users": [{"name": "fake", "user": user}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
        })
        .to_string()
    }

    /// Stops serving: closes connections, and refuses new ones until [`resume`](Self::resume). Objects stay.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop.send_replace(true);
            // A panic of the thread was printed already.
            let _panicked = running.thread.join();
        }
    }

    /// Serves again at the same address, as after a network outage: all objects and changes are kept.
    ///
    /// # Panics
    /// Panics if another process uses the port.
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

    /// Restarts the server, or starts a stopped one. As on a real server, no watch can continue: each gets 410, and
    /// its client has to list again.
    ///
    /// # Panics
    /// Panics if another process uses the port.
    pub fn restart(&mut self) {
        self.stop();
        self.shared.with_store(|store| store.expire_versions());
        self.resume();
    }

    /// Closes all current connections; accepts new ones.
    pub fn cut_connections(&self) {
        self.shared.cut.send_modify(|count| *count += 1);
    }

    /// Creates an object, including its status, and returns it with its defaults.
    ///
    /// # Panics
    /// Panics if the object exists, or is invalid.
    #[track_caller]
    pub fn create(&self, object: Value) -> Value {
        let target = target_of(&object, false);
        let created =
            self.shared.with_store(|store| write::create(store, &target, &object, WriteOrigin::Test, write::now()));
        created.map_or_else(|refusal| panic!("cannot create {object}: {}", refusal.body()), |it| (*it).clone())
    }

    /// Creates or replaces an object, including its status.
    ///
    /// # Panics
    /// Panics if the object is invalid, or its kind is unknown.
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

    /// Applies a JSON merge patch to an object, including its status.
    ///
    /// # Panics
    /// Panics if the object does not exist, or the patch changes its identity.
    #[track_caller]
    pub fn merge(&self, path: &str, patch: Value) -> Value {
        let target = target_at(path);
        let content_type = "application/merge-patch+json";
        let merged =
            self.shared.with_store(|store| write::patch(store, &target, content_type, &patch, WriteOrigin::Test));
        merged.map_or_else(|refusal| panic!("cannot merge into {path}: {}", refusal.body()), |it| (*it).clone())
    }

    /// Removes an object immediately, even with finalizers. Returns whether it existed.
    ///
    /// # Panics
    /// Panics if the path is not that of an object.
    #[track_caller]
    pub fn remove(&self, path: &str) -> bool {
        let target = target_at(path);
        self.shared.with_store(|store| write::remove(store, &target, "")).is_some()
    }

    /// Returns an object, if it exists.
    ///
    /// # Panics
    /// Panics if the path is not that of an object.
    #[track_caller]
    pub fn get(&self, path: &str) -> Option<Value> {
        let target = target_at(path);
        locked_get(&self.shared, &target)
    }

    /// Returns all objects at a path such as `/api/v1/pods`, sorted by namespace and name.
    ///
    /// # Panics
    /// Panics if the path is not that of objects.
    #[track_caller]
    pub fn list(&self, path: &str) -> Vec<Value> {
        let target = target_at(path);
        locked(&self.shared.store).list(target.kind, &target.namespace).map(|object| (**object).clone()).collect()
    }

    /// Returns the number of matching objects at a path.
    ///
    /// # Panics
    /// Panics if the path is not that of objects.
    #[track_caller]
    pub fn count(&self, path: &str, matches: impl Fn(&Value) -> bool) -> usize {
        let target = target_at(path);
        locked(&self.shared.store).list(target.kind, &target.namespace).filter(|object| matches(object)).count()
    }

    /// Returns the `resourceVersion` of the last change.
    pub fn version(&self) -> u64 {
        locked(&self.shared.store).version()
    }

    /// Discards the change log, but no objects. New watches from an older version get 410, as do continue tokens of
    /// lists. Open watches continue.
    pub fn compact(&self) {
        self.shared.with_store(|store| {
            store.compact();
            locked(&self.shared.pages).clear();
        });
    }

    /// Limits the length of the change log; the default is 200,000 changes. Older changes are discarded.
    pub fn keep_changes(&self, changes: usize) {
        self.shared.with_store(|store| store.keep(changes));
    }

    /// Adds a fault rule. If several rules apply to a request, their delays are summed up. Of their other faults, only
    /// the first takes effect.
    pub fn rule(&self, rule: FaultRule) {
        locked(&self.shared.rules).push(rule);
    }

    /// Removes all fault rules.
    pub fn clear_rules(&self) {
        locked(&self.shared.rules).clear();
    }

    /// Sets the interval of bookmarks in a watch; the default is one minute.
    pub fn bookmark_every(&self, time: Duration) {
        *locked(&self.shared.bookmark_interval) = time;
    }

    /// Emulates kubelets: pods that clients delete end after this time. By default they keep existing with a
    /// `deletionTimestamp`, unless they have no node or have finished.
    pub fn pods_end_after(&self, time: Duration) {
        *locked(&self.shared.kubelet) = Some(time);
    }

    /// Emulates kube-controller-manager and a provisioner: claims are bound to volumes whose `claimRef` names them.
    /// Claims with a selected node and a class with a provisioner get a new volume. Both happen immediately.
    pub fn bind_volumes(&self) {
        self.shared.binds_volumes.store(true, Ordering::Relaxed);
        self.shared.with_store(volumes::sync);
    }

    /// Enables protobuf in watches of clients that accept it. `encode` returns an object in a `runtime.Unknown`. All
    /// other responses stay JSON.
    pub fn enable_protobuf(&self, encode: fn(&Value) -> Option<Vec<u8>>) {
        *locked(&self.shared.protobuf) = Some(encode);
    }

    /// Registers a token for TokenReviews.
    pub fn token(&self, token: &str, user: &str, groups: &[&str]) {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        locked(&self.shared.reviews).users.insert(token.to_owned(), (user.to_owned(), groups));
    }

    /// Registers a permission for SubjectAccessReviews, at a non-resource path: for example, `get` at `/metrics`.
    pub fn allow(&self, user: &str, verb: &str, path: &str) {
        let permission = (user.to_owned(), verb.to_owned(), path.to_owned());
        locked(&self.shared.reviews).permissions.push(permission);
    }

    /// Sets the name of the scenario that is recorded with all later requests.
    pub fn scenario(&self, name: &str) {
        *locked(&self.shared.scenario) = name.to_owned();
    }

    /// Returns all requests of clients so far, in the order in which they were processed.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        // Locks the store: a request and its change become visible together.
        let _store = locked(&self.shared.store);
        locked(&self.shared.audit).clone()
    }

    /// Returns the writes among the requests.
    pub fn writes(&self) -> Vec<RecordedRequest> {
        self.requests().into_iter().filter(RecordedRequest::is_write).collect()
    }

    /// Returns the number of matching requests so far.
    pub fn count_requests(&self, matches: impl Fn(&RecordedRequest) -> bool) -> usize {
        let _store = locked(&self.shared.store);
        locked(&self.shared.audit).iter().filter(|request| matches(request)).count()
    }

    /// Waits until a condition is met. Returns false after the time limit.
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

    /// Waits like [`wait`](Self::wait), but without blocking the thread: for a client that runs in the test's runtime.
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

/// Returns the target of an object, or, if `is_named` is false, the target of all objects of its kind in its namespace.
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
