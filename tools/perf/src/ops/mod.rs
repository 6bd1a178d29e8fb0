//! Execution of the operations.

mod any;
mod delete;
mod devices;
mod nodes;
mod pods;
mod wait;

use schedc_objects::AnyObject;

use crate::Error;
use crate::background::{BackgroundTask, PeriodicTask};
use crate::config::{Churn, ChurnMode, CreateNamespaces, Op, StartCollecting};
use crate::probe::Selection;
use crate::run::Runner;
use crate::template::{ObjectFactory, Template};

const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MILLISECOND;

/// Returns the interval in nanoseconds for a rate per second.
fn interval(per_second: u64) -> i64 {
    SECOND / i64::try_from(per_second).unwrap_or(SECOND).clamp(1, SECOND)
}

impl Runner<'_> {
    /// Runs an operation. `index` is its position in the workload.
    pub(crate) fn operate(&mut self, index: usize, op: &Op) -> Result<(), Error> {
        self.catch_up()?;
        match op {
            Op::CreateNodes(nodes) => self.create_nodes(index, nodes),
            Op::CreateNamespaces(namespaces) => self.create_namespaces(namespaces),
            Op::CreatePods(pods) => self.create_pods(index, pods),
            Op::CreateAny(any) => self.create_any(any),
            Op::UpdateAny(any) => self.update_any(any),
            Op::CreateResourceDriver(driver) => self.create_resource_driver(driver),
            Op::AllocResourceClaims(claims) => self.alloc_resource_claims(claims),
            Op::DeletePods(pods) => self.delete_pods(pods),
            Op::Churn(churn) => self.churn(index, churn),
            Op::Barrier(barrier) => self.barrier(barrier),
            Op::Sleep(sleep) => {
                let time = i64::try_from(sleep.duration.0.as_nanos()).unwrap_or(i64::MAX);
                self.run_until(time, |_| false).map(drop)
            }
            Op::StartCollecting(start) => self.start_collecting(start),
            Op::StopCollecting => match self.simulator.hooks.stop() {
                true => Ok(()),
                false => Err(Error::new("no metrics are being collected; add startCollectingMetrics before it")),
            },
            // Unreachable: `SelectedWorkload::operations` replaces pod sets, and refuses a workload with unsupported
            // operations.
            Op::CreatePodSets(_) => Ok(()),
            Op::Refused(reason) => Err(Error::new(reason)),
        }
    }

    pub(super) fn template(&self, path: &str) -> Result<Template, Error> {
        Template::read(&self.chosen.path(path))
    }

    /// Returns the factory for the objects of a template. Returns an error if they are not of this kind, or if
    /// scheduling ignores the kind.
    pub(super) fn factory(
        &self,
        template: &Template,
        count: usize,
        kind: &'static str,
    ) -> Result<ObjectFactory, Error> {
        let factory = ObjectFactory::new(template, count, Some(kind))?;
        factory.ok_or_else(|| Error::new(format!("scheduling ignores objects of kind {kind}")))
    }

    /// Admits the common part of a factory's objects, if there is one. Returns whether each object must be admitted
    /// separately.
    pub(super) fn prepare(&mut self, factory: &mut ObjectFactory, namespace: &str) -> Result<bool, Error> {
        let Some(prototype) = factory.prototype() else { return Ok(true) };
        let mut object = prototype.clone();
        let (name, generate_name) = (object.metadata().name.clone(), object.metadata().generate_name.clone());
        if AnyObject::is_namespaced(object.kind()) == Some(true) {
            object.metadata_mut().namespace = Some(namespace.to_owned());
        }
        let mut object = self.admit(object)?;
        let metadata = object.metadata_mut();
        (metadata.name, metadata.generate_name, metadata.uid) = (name, generate_name, None);
        *prototype = object;
        Ok(false)
    }

    fn create_namespaces(&mut self, op: &CreateNamespaces) -> Result<(), Error> {
        let template = match &op.namespace_template_path {
            Some(path) => Template::verbatim(&self.chosen.path(path))?,
            None => Template::parse("a Namespace", "{kind: Namespace}")?,
        };
        let factory = self.factory(&template, op.count, "Namespace")?;
        for index in 0..op.count {
            let mut namespace = factory.make(index)?;
            namespace.metadata_mut().name = Some(format!("{}-{index}", op.prefix));
            self.create_namespace(namespace)?;
        }
        Ok(())
    }

    fn churn(&mut self, index: usize, op: &Churn) -> Result<(), Error> {
        let namespace = op.namespace.clone().unwrap_or_else(|| format!("namespace-{index}"));
        self.ensure_namespace(&namespace)?;
        let mut factories = Vec::new();
        for path in &op.template_paths {
            let path = self.chosen.path(path);
            // Objects of kinds that scheduling ignores are not created.
            factories.extend(ObjectFactory::new(&Template::verbatim(&path)?, 1, None)?);
        }
        let alive = match op.mode {
            ChurnMode::Create => vec![Vec::new(); factories.len()],
            ChurnMode::Recreate => vec![vec![None; op.number]; factories.len()],
        };
        let interval = match op.interval_milliseconds {
            0 => 500 * MILLISECOND,
            milliseconds => i64::try_from(milliseconds).unwrap_or(i64::MAX).saturating_mul(MILLISECOND),
        };
        let task = BackgroundTask::Churn { mode: op.mode, namespace, factories, alive, number: op.number, turn: 0 };
        self.background.push(PeriodicTask::new(self.clock.now(), interval, task));
        Ok(())
    }

    fn start_collecting(&mut self, op: &StartCollecting) -> Result<(), Error> {
        self.collect(Selection { namespaces: op.namespaces.clone(), labels: op.label_selector.clone() })
    }

    pub(super) fn collect(&mut self, selection: Selection) -> Result<(), Error> {
        let interner = &mut self.simulator.scheduler.base_mut().interner;
        match self.simulator.hooks.start(selection, interner) {
            true => Ok(()),
            false => Err(Error::new("metrics are already being collected; add stopCollectingMetrics before it")),
        }
    }
}
