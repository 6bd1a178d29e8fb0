//! Recording by `schedc run`: the changes that the scheduler receives.
//!
//! The scheduling task converts changes to their recorded form and adds them to a queue. A thread formats, compresses and
//! writes them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schedc_core::column::CacheSize;
use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_kubernetes::driver::DriverHooks;
use schedc_kubernetes::resources::Resource;
use schedc_kubernetes::watch::reflector::InformerEvent;
use schedc_recording::background::{Settings, now};
use schedc_recording::{Background, Limits, Problem, Session};
use tracing::{error, info, warn};

use super::change;
use crate::commands::failure::Failure;

/// Limits of the recording.
const LIMITS: Limits = Limits { file_size: 64 << 20, files: 16 };

/// Hooks of a driver that record what the scheduler receives; without a folder, they do nothing.
#[derive(Clone, Default)]
pub(crate) struct RecordingHooks(Option<Arc<OpenRecording>>);

struct OpenRecording {
    folder: PathBuf,
    recording: Background,
    /// Maximum number of changes that wait to be written.
    capacity: usize,
    /// Receives the size of the queue.
    report_cache: Box<dyn Fn(CacheSize) + Send + Sync>,
}

impl RecordingHooks {
    /// Begins a recording of these kinds. `queue` replaces the default length of the queue: the number of changes that
    /// are stored in order before later ones are merged. `report_cache` receives the queue's size, for metrics.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub(crate) fn start(
        folder: Option<&Path>,
        queue: Option<usize>,
        kinds: &[&'static Resource],
        report_cache: impl Fn(CacheSize) + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        let Some(folder) = folder else { return Ok(RecordingHooks::default()) };
        let mut settings = Settings::default();
        settings.capacity.changes = queue.unwrap_or(settings.capacity.changes);
        let capacity = settings.capacity.changes + settings.capacity.merged;
        let kinds = kinds.iter().map(|resource| resource.kind);
        let log_folder = folder.to_owned();
        let recording = Session::start(folder, LIMITS, kinds, None, now())
            .and_then(|session| Background::start(session, settings, move |problem| log(&log_folder, &problem)))
            .map_err(|error| Failure::new(format_args!("--record={}: {error}", folder.display())))?;
        info!(folder = %folder.display(), "Recording");
        let (folder, report_cache) = (folder.to_owned(), Box::new(report_cache));
        Ok(RecordingHooks(Some(Arc::new(OpenRecording { folder, recording, capacity, report_cache }))))
    }

    /// Ends the recording.
    pub(crate) fn stop(&self) {
        if let Some(open) = &self.0
            && !open.recording.stop()
        {
            error!(folder = %open.folder.display(), "Recording ends without its last lines because the disk is too slow");
        }
    }
}

/// Logs a problem. The scheduler does not stop because of a full or slow disk.
fn log(folder: &Path, problem: &Problem) {
    match problem {
        Problem::Ended(error) => {
            error!(folder = %folder.display(), err = %error, "Recording ends because it cannot be written");
        }
        Problem::Gap => {
            warn!(folder = %folder.display(), "Recording has a gap because writing takes too long; the latest state of each changed object follows");
        }
    }
}

impl AttemptObserver for RecordingHooks {}

impl DriverHooks for RecordingHooks {
    fn take_informer_event(&mut self, event: InformerEvent) -> Option<InformerEvent> {
        let Some(open) = &self.0 else { return Some(event) };
        if let Some(change) = change(event) {
            open.recording.record(change);
        }
        None
    }

    fn on_turn(&mut self, _: &mut dyn AnyScheduler) {
        if let Some(OpenRecording { recording, capacity, report_cache, .. }) = self.0.as_deref() {
            report_cache(CacheSize::limited("recording_changes", recording.waiting(), *capacity));
        }
    }
}
