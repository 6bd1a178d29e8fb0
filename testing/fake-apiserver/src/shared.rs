//! What all connections, and the test, have in common.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::audit::RecordedRequest;
use crate::faults::FaultRule;
use crate::review::Reviews;
use crate::store::Store;
use crate::volumes;

/// What volumes are bound by.
const VOLUME_KINDS: &[&str] = &["PersistentVolume", "PersistentVolumeClaim", "StorageClass"];

/// An object as protobuf, with what it is in front. `None`: there is JSON alone for it.
pub(crate) type Encode = fn(&Value) -> Option<Vec<u8>>;

/// Everything that a server knows. Whoever takes several locks takes the store's first.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Mutex<Store>,
    pub(crate) audit: Mutex<Vec<RecordedRequest>>,
    pub(crate) scenario: Mutex<String>,
    pub(crate) rules: Mutex<Vec<FaultRule>>,
    pub(crate) reviews: Mutex<Reviews>,
    /// How often a watch hears that nothing happens.
    pub(crate) bookmark_interval: Mutex<Duration>,
    /// How long it takes pods to end; `None`: nobody lets them go.
    pub(crate) kubelet: Mutex<Option<Duration>>,
    /// Whether somebody looks after volumes.
    pub(crate) binds_volumes: AtomicBool,
    /// How objects become protobuf, if the server speaks that.
    pub(crate) protobuf: Mutex<Option<Encode>>,
    /// The version of the store, after each change.
    pub(crate) changed: watch::Sender<u64>,
    /// How often all connections were cut.
    pub(crate) cut: watch::Sender<u64>,
}

impl Default for Shared {
    fn default() -> Self {
        Shared {
            store: Mutex::default(),
            audit: Mutex::default(),
            scenario: Mutex::default(),
            rules: Mutex::default(),
            reviews: Mutex::default(),
            bookmark_interval: Mutex::new(Duration::from_secs(60)),
            kubelet: Mutex::default(),
            binds_volumes: AtomicBool::new(false),
            protobuf: Mutex::default(),
            changed: watch::Sender::new(0),
            cut: watch::Sender::new(0),
        }
    }
}

impl Shared {
    /// Reads or changes the store; whoever watches is told of what has changed.
    pub(crate) fn with_store<T>(&self, f: impl FnOnce(&mut Store) -> T) -> T {
        let mut store = locked(&self.store);
        let before = store.version();
        let result = f(&mut store);
        if self.binds_volumes.load(Ordering::Relaxed) && store.has_changed(before, VOLUME_KINDS) {
            volumes::sync(&mut store);
        }
        let version = store.version();
        drop(store);
        self.changed.send_if_modified(|known| {
            let is_new = *known < version;
            *known = version.max(*known);
            is_new
        });
        result
    }
}

/// Takes a lock. A test that panicked has said why elsewhere.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
