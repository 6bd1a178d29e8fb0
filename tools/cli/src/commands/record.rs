//! `schedc record`

pub(crate) mod while_running;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};
use schedc_core::erased::AnyBundle;
use schedc_kubernetes::connect::Target;
use schedc_kubernetes::driver::Informers;
use schedc_kubernetes::list::{ListError, list};
use schedc_kubernetes::resources::{RESOURCES, Resource};
use schedc_kubernetes::transport::Http;
use schedc_kubernetes::watch::reflector::InformerEvent;
use schedc_recording::background::now;
use schedc_recording::events::{EVENTS, scheduler_event};
use schedc_recording::{Anonymiser, Change, Limits, Session};
use serde_json::value::RawValue;
use tokio::runtime::Builder;
use tokio::time::{MissedTickBehavior, interval};

use super::failure::Failure;
use super::live::ClusterChoice;
use super::output;
use super::signals;

/// Record the changes of a cluster and the decisions of its scheduler, for `schedc replay`
///
/// Reads the cluster without changing anything, until it is stopped by SIGINT or SIGTERM. The folder gets files of
/// JSON lines, compressed by zstd. Only fields that scheduling reads are recorded. docs/record.md has the format.
#[derive(Args)]
pub(crate) struct Record {
    /// Folder of the recording; a new recorder with the same folder adds files
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

    /// Size in MiB at which the next file begins; the objects at the start of a file do not count
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
    session: Session,
    /// Whether the events that existed at the start have arrived; they belong to earlier decisions.
    has_old_events: bool,
}

impl Record {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::new(format_args!("cannot start the runtime: {error}")))?;
        runtime.block_on(self.record(bundle))
    }

    async fn record(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let target = Target::of_user(self.cluster.kubeconfig(), self.cluster.context())?;
        let server = target.server().to_string();
        let (http, refresher) = target.http().await?;
        tokio::spawn(refresher.run());
        let declared = bundle.kinds.iter().map(Resource::declared_static);
        // Pods are listed first: a list that is read later contains the nodes or claims that the pods name.
        let mut kinds: Vec<_> = RESOURCES.iter().filter(|resource| resource.is_watched()).chain(declared).collect();
        kinds.sort_by_key(|resource| resource.kind != "Pod");
        let failed = |error: io::Error| Failure::new(format_args!("{}: {error}", self.folder.display()));
        let limits = Limits { file_size: u64::from(self.file_size) << 20, files: self.files as usize };
        let names = kinds.iter().map(|resource| resource.kind);
        let anonymiser = self.anonymise.then(Anonymiser::default);
        let session = Session::start(&self.folder, limits, names, anonymiser, now()).map_err(failed)?;
        let mut recording = Recording { session, has_old_events: false };
        match self.once {
            true => recording.list_all(&http, &server, &kinds, failed).await?,
            false => recording.follow(&http, kinds).await?.map_err(failed)?,
        }
        recording.session.stop(now()).map_err(failed)
    }
}

impl Recording {
    /// Records the current objects of each kind.
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
            let request = list(http, resource, |items: Vec<Box<RawValue>>| {
                for item in items {
                    match resource.reader().read_json(item.get()) {
                        Ok(object) => {
                            let change = Change::Upsert(object, 1);
                            result = std::mem::replace(&mut result, Ok(()))
                                .and_then(|()| self.session.record(now(), change));
                        }
                        Err(error) => problem = Some(error),
                    }
                }
            });
            match request.await {
                Ok(_) => {}
                Err(ListError::NotServed) if !resource.group().is_empty() => {}
                Err(error) => return Err(Failure::new(format_args!("{source}: {error}"))),
            }
            if let Some(error) = problem {
                return Err(Failure::new(format_args!("{source}: an object cannot be read: {error}")));
            }
            let complete = Change::ListComplete { kind: resource.kind, epoch: 1 };
            result.and_then(|()| self.session.record(now(), complete)).map_err(&failed)?;
        }
        Ok(())
    }

    /// Records changes until a signal stops the program. The inner result is an error if the recording cannot be written.
    async fn follow(&mut self, http: &Http, mut kinds: Vec<&'static Resource>) -> Result<io::Result<()>, Failure> {
        static KIND_OF_EVENTS: schedc_core::model::CustomKind = EVENTS;
        kinds.push(Resource::declared_static(&KIND_OF_EVENTS));
        let mut stop = signals::stop()?;
        let mut informers = Informers::start(http, &kinds, 0, None);
        let mut ticks = interval(FLUSH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let recorded = tokio::select! {
                event = informers.next() => self.record_with_notes(event),
                _ = ticks.tick() => self.session.flush(),
                _ = stop.changed() => return Ok(Ok(())),
            };
            if let Err(error) = recorded {
                return Ok(Err(error));
            }
        }
    }

    /// Records a message of a reflector. Prints errors of reflectors, and a note when the first lists are complete.
    fn record_with_notes(&mut self, event: InformerEvent) -> io::Result<()> {
        if let InformerEvent::Error(resource, why) = &event {
            output::warning(format_args!("{}: {why}", resource.plural));
        }
        let was_synced = self.session.is_synced();
        self.record(event)?;
        if self.session.is_synced() && !was_synced {
            output::note("all objects are recorded; changes are recorded until this program is stopped");
        }
        Ok(())
    }

    /// Records a message of a reflector.
    fn record(&mut self, event: InformerEvent) -> io::Result<()> {
        match event {
            InformerEvent::Upsert(object, _) if object.kind() == EVENTS.name => {
                let is_new = self.has_old_events && self.session.is_synced();
                match scheduler_event(&object).filter(|_| is_new) {
                    Some(event) => self.session.event(now(), event),
                    None => Ok(()),
                }
            }
            // The removal of an expired event is not recorded.
            InformerEvent::Removal(object) if object.kind() == EVENTS.name => Ok(()),
            InformerEvent::ListComplete { resource, .. } if resource.kind == EVENTS.name => {
                self.has_old_events = true;
                Ok(())
            }
            event => change(event).map_or(Ok(()), |change| self.session.record(now(), change)),
        }
    }
}

/// Returns the change that a reflector reports; `None` for an error.
fn change(event: InformerEvent) -> Option<Change> {
    match event {
        InformerEvent::Upsert(object, arrival) | InformerEvent::UpsertWithOriginal(object, arrival, _) => {
            Some(Change::Upsert(object, arrival.epoch))
        }
        InformerEvent::Removal(object) => Some(Change::Removal(object)),
        InformerEvent::ListComplete { resource, epoch, .. } => {
            Some(Change::ListComplete { kind: resource.kind, epoch })
        }
        InformerEvent::Error(..) => None,
    }
}
