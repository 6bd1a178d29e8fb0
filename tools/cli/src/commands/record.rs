//! `schedc record`

pub(crate) mod while_running;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, value_parser};
use schedc_core::erased::AnyBundle;
use schedc_kubernetes::connect::Target;
use schedc_kubernetes::driver::Informers;
use schedc_kubernetes::list::{ListError, list};
use schedc_kubernetes::resources::{RESOURCES, Resource};
use schedc_kubernetes::transport::Http;
use schedc_kubernetes::watch::reflector::InformerEvent;
use schedc_recording::entry::{Entry, Line};
use schedc_recording::events::{EVENTS, scheduler_event};
use schedc_recording::{Anonymiser, Limits, ObjectText, Recorder, Writer};
use serde::de::DeserializeSeed;
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::time::{MissedTickBehavior, interval};

use super::failure::Failure;
use super::live::ClusterChoice;
use super::output;
use super::run::signals;

/// Record the changes of a cluster and the decisions of its scheduler, for `schedc replay`
///
/// Reads the cluster without changing anything, until it is stopped by SIGINT or SIGTERM. The folder gets files of
/// JSON lines, compressed by zstd. Only fields that scheduling reads are recorded. docs/record.md has the format.
#[derive(Args)]
pub(crate) struct Record {
    /// Folder of the recording; a recorder that is started again adds files
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    #[command(flatten)]
    cluster: ClusterChoice,

    /// Record the current objects, and stop
    #[arg(long)]
    once: bool,

    /// Replace names, label values and images by pseudonyms
    ///
    /// A text has the same pseudonym everywhere, so selectors and topology keep their meaning. Quantities, label keys,
    /// numbers and attributes of devices are kept. A recorder that is started again uses other pseudonyms.
    #[arg(long)]
    anonymise: bool,

    /// Size of a file in MiB, without the objects at its start, at which the next file begins
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = value_parser!(u32).range(1..=65536))]
    file_size: u32,

    /// Number of files; when another one begins, the oldest is removed
    #[arg(long, value_name = "NUMBER", default_value_t = 16, value_parser = value_parser!(u32).range(2..))]
    files: u32,
}

/// Interval at which lines are written.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// A recording in progress.
struct Recording {
    recorder: Recorder,
    writer: Writer,
    anonymiser: Option<Anonymiser>,
    /// Whether the events that existed at the start have arrived; they belong to earlier decisions.
    has_old_events: bool,
}

impl Record {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::new(format_args!("cannot start: {error}")))?;
        runtime.block_on(self.record(bundle))
    }

    async fn record(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let target = Target::of_user(self.cluster.kubeconfig(), self.cluster.context())?;
        let server = target.server().to_string();
        let (http, refresher) = target.http().await?;
        tokio::spawn(refresher.run());
        let declared = bundle.kinds.iter().map(Resource::declared_static);
        // Pods are listed first: the nodes and claims that they name are then in later lists.
        let mut kinds: Vec<_> = RESOURCES.iter().filter(|resource| resource.is_watched()).chain(declared).collect();
        kinds.sort_by_key(|resource| resource.kind != "Pod");
        let failed = |error: io::Error| Failure::new(format_args!("{}: {error}", self.folder.display()));
        let limits = Limits { file_size: u64::from(self.file_size) << 20, files: self.files as usize };
        let mut recording = Recording {
            anonymiser: self.anonymise.then(Anonymiser::default),
            ..Recording::start(&self.folder, limits, &kinds).map_err(failed)?
        };
        match self.once {
            true => recording.list_all(&http, &server, &kinds, failed).await?,
            false => recording.follow(&http, kinds).await?.map_err(failed)?,
        }
        recording.writer.stop(now()).map_err(failed)
    }
}

impl Recording {
    /// Begins a recording of these kinds.
    fn start(folder: &Path, limits: Limits, kinds: &[&'static Resource]) -> io::Result<Self> {
        Ok(Recording {
            recorder: Recorder::new(kinds.iter().map(|resource| resource.kind)),
            writer: Writer::start(folder, limits, now())?,
            anonymiser: None,
            has_old_events: false,
        })
    }

    /// Records the present objects.
    async fn list_all(
        &mut self,
        http: &Http,
        server: &str,
        kinds: &[&'static Resource],
        failed: impl Fn(io::Error) -> Failure,
    ) -> Result<(), Failure> {
        for resource in kinds {
            let source = format!("{}{}", server.trim_end_matches('/'), resource.all());
            let (mut result, mut problem) = (Ok(()), None);
            let listed = list(http, resource, |items: Vec<Value>| {
                for item in items {
                    match resource.reader().deserialize(item) {
                        Ok(object) => {
                            let lines = self.recorder.upsert(now(), &object, 1);
                            result = std::mem::replace(&mut result, Ok(())).and_then(|()| self.write(lines));
                        }
                        Err(error) => problem = Some(error),
                    }
                }
            });
            match listed.await {
                Ok(_) => {}
                Err(ListError::NotServed) if !resource.group().is_empty() => {}
                Err(error) => return Err(Failure::new(format_args!("{source}: {error}"))),
            }
            if let Some(error) = problem {
                return Err(Failure::new(format_args!("{source}: an object cannot be read: {error}")));
            }
            let complete = self.recorder.list_complete(now(), resource.kind, 1);
            result.and_then(|()| self.write(complete)).map_err(&failed)?;
        }
        Ok(())
    }

    /// Records changes until a signal stops the program.
    async fn follow(&mut self, http: &Http, mut kinds: Vec<&'static Resource>) -> Result<io::Result<()>, Failure> {
        static KIND_OF_EVENTS: schedc_core::model::CustomKind = EVENTS;
        kinds.push(Resource::declared_static(&KIND_OF_EVENTS));
        let mut stop = signals::stop()?;
        let mut informers = Informers::start(http, &kinds, 0, None);
        let mut ticks = interval(FLUSH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let recorded = tokio::select! {
                event = informers.next() => self.record_with_notes(&event),
                _ = ticks.tick() => self.writer.flush(),
                _ = stop.changed() => return Ok(Ok(())),
            };
            if let Err(error) = recorded {
                return Ok(Err(error));
            }
        }
    }

    /// Records a message of a reflector, and prints errors and the end of the first lists.
    fn record_with_notes(&mut self, event: &InformerEvent) -> io::Result<()> {
        if let InformerEvent::Error(resource, why) = event {
            output::warning(format_args!("{}: {why}", resource.plural));
        }
        let was_synced = self.recorder.is_synced();
        self.record(event)?;
        if self.recorder.is_synced() && !was_synced {
            output::note("all objects are recorded; changes are recorded until this program is stopped");
        }
        Ok(())
    }

    /// Records a message of a reflector.
    fn record(&mut self, event: &InformerEvent) -> io::Result<()> {
        let was_synced = self.recorder.is_synced();
        let lines = match event {
            InformerEvent::Upsert(object, _) if object.kind() == EVENTS.name => {
                let event = scheduler_event(object).filter(|_| self.has_old_events && was_synced);
                event.map(|event| Line { at: now(), entry: Entry::Event(event) }).into_iter().collect()
            }
            // Events expire.
            InformerEvent::Removal(object) if object.kind() == EVENTS.name => Vec::new(),
            InformerEvent::ListComplete { resource, .. } if resource.kind == EVENTS.name => {
                self.has_old_events = true;
                Vec::new()
            }
            InformerEvent::Upsert(object, epoch) | InformerEvent::UpsertWithOriginal(object, epoch, _) => {
                self.recorder.upsert(now(), object, *epoch)
            }
            InformerEvent::Removal(object) => self.recorder.removal(now(), object),
            InformerEvent::ListComplete { resource, epoch, .. } => {
                self.recorder.list_complete(now(), resource.kind, *epoch)
            }
            InformerEvent::Error(..) => Vec::new(),
        };
        self.write(lines)?;
        if self.recorder.is_synced() && !was_synced {
            self.writer.flush()?;
            self.writer.snapshot_written();
        }
        // A snapshot with an open gap would hide the gap.
        if self.writer.is_full() && self.recorder.is_repaired() {
            let anonymiser = self.anonymiser.as_ref();
            let snapshot = self.recorder.snapshot(now()).map(|line| written(anonymiser, line));
            self.writer.rotate(now(), snapshot)?;
        }
        Ok(())
    }

    fn write(&mut self, lines: Vec<Line<ObjectText>>) -> io::Result<()> {
        let anonymiser = self.anonymiser.as_ref();
        self.writer.write(lines.into_iter().map(|line| written(anonymiser, line)))
    }
}

/// Returns a line as it is written.
fn written(anonymiser: Option<&Anonymiser>, line: Line<ObjectText>) -> Line<ObjectText> {
    match anonymiser {
        Some(anonymiser) => anonymiser.line(line.parse()).into_text(),
        None => line,
    }
}

/// Returns the time in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
