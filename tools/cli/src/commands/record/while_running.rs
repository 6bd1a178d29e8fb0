//! Recording by `schedc run`: the changes that the scheduler receives.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use schedc_core::erased::AttemptObserver;
use schedc_kubernetes::driver::DriverHooks;
use schedc_kubernetes::resources::Resource;
use schedc_kubernetes::watch::reflector::InformerEvent;
use schedc_recording::Limits;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{error, info};

use super::{FLUSH_INTERVAL, Recording, now};
use crate::commands::failure::Failure;

/// Limits of the recording.
const LIMITS: Limits = Limits { file_size: 64 << 20, files: 16 };

/// Hooks of a driver that record; without a folder, they do nothing.
#[derive(Clone, Default)]
pub(crate) struct RecordingHooks(Option<Arc<OpenRecording>>);

struct OpenRecording {
    folder: PathBuf,
    /// `None` after the end, and after an error: the scheduler does not stop because of a full disk.
    recording: Mutex<Option<Recording>>,
}

impl RecordingHooks {
    /// Begins a recording of these kinds.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn start(folder: Option<&Path>, kinds: &[&'static Resource]) -> Result<Self, Failure> {
        let Some(folder) = folder else { return Ok(RecordingHooks::default()) };
        let recording = Recording::start(folder, LIMITS, kinds)
            .map_err(|error| Failure::new(format_args!("--record={}: {error}", folder.display())))?;
        info!(folder = %folder.display(), "Recording");
        let open = OpenRecording { folder: folder.to_owned(), recording: Mutex::new(Some(recording)) };
        Ok(RecordingHooks(Some(Arc::new(open))))
    }

    /// Writes the recorded lines from time to time.
    pub(crate) async fn run(self) {
        if self.0.is_none() {
            return;
        }
        let mut ticks = interval(FLUSH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.with(|recording| recording.writer.flush());
        }
    }

    /// Ends the recording.
    pub(crate) fn stop(&self) {
        let Some(open) = &self.0 else { return };
        let recording = open.recording.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(recording) = recording {
            open.report(recording.writer.stop(now()));
        }
    }

    fn with(&self, write: impl FnOnce(&mut Recording) -> io::Result<()>) {
        let Some(open) = &self.0 else { return };
        let mut recording = open.recording.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = recording.as_mut()
            && !open.report(write(found))
        {
            *recording = None;
        }
    }
}

impl OpenRecording {
    /// Logs an error. Returns false if there is one.
    fn report(&self, result: io::Result<()>) -> bool {
        if let Err(error) = &result {
            error!(folder = %self.folder.display(), err = %error, "Recording ends because it cannot be written");
        }
        result.is_ok()
    }
}

impl AttemptObserver for RecordingHooks {}

impl DriverHooks for RecordingHooks {
    fn on_informer_event(&mut self, event: &InformerEvent) {
        self.with(|recording| recording.record(event));
    }
}
