//! State that all connections and the test share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::audit::RecordedRequest;
use crate::faults::FaultRule;
use crate::list::Pages;
use crate::review::Reviews;
use crate::store::Store;
use crate::volumes;

/// Kinds whose changes may bind volumes.
const VOLUME_KINDS: &[&str] = &["PersistentVolume", "PersistentVolumeClaim", "StorageClass"];

/// Default number of changes that are kept.
const CHANGES_KEPT: usize = 200_000;

/// Encodes an object as protobuf in a `runtime.Unknown`. `None`: the object has only a JSON form.
pub(crate) type Encode = fn(&Value) -> Option<Vec<u8>>;

/// State of the server. Code that holds several locks takes the lock of the store first.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Mutex<Store>,
    pub(crate) pages: Mutex<Pages>,
    pub(crate) audit: Mutex<Vec<RecordedRequest>>,
    pub(crate) scenario: Mutex<String>,
    pub(crate) rules: Mutex<Vec<FaultRule>>,
    pub(crate) reviews: Mutex<Reviews>,
    /// Interval of bookmarks in a watch.
    pub(crate) bookmark_interval: Mutex<Duration>,
    /// Time until deleted pods end; `None`: they stay.
    pub(crate) kubelet: Mutex<Option<Duration>>,
    /// Whether volume controllers are emulated.
    pub(crate) binds_volumes: AtomicBool,
    /// Encoder of protobuf objects, if protobuf is enabled.
    pub(crate) protobuf: Mutex<Option<Encode>>,
    /// The version of the store, after each change.
    pub(crate) changed: watch::Sender<u64>,
    /// Number of times that all connections were closed.
    pub(crate) cut: watch::Sender<u64>,
}

impl Default for Shared {
    fn default() -> Self {
        Shared {
            store: Mutex::new(Store::with_history(CHANGES_KEPT)),
            pages: Mutex::default(),
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
    /// Reads or changes the store, and notifies watches of changes.
    pub(crate) fn with_store<T>(&self, f: impl FnOnce(&mut Store) -> T) -> T {
        let mut store = locked(&self.store);
        let before = store.version();
        let result = f(&mut store);
        if self.binds_volumes.load(Ordering::Relaxed)
            && store.since(before).any(|change| VOLUME_KINDS.contains(&change.key.kind.kind))
        {
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

/// Takes a lock. Poisoning is ignored, because the panic of the test is reported elsewhere.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
