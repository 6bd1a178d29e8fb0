//! The operations that create pods.

use k8s_openapi::api::core::v1 as api;
use schedc_in_memory::server::{Key, Request};
use schedc_objects::AnyObject;

use crate::Error;
use crate::config::CreatePods;
use crate::probe::Selection;
use crate::run::Runner;
use crate::template::{ObjectFactory, Template};

/// Default template of pods.
const DEFAULT_TEMPLATE: &str = "
kind: Pod
metadata: {generateName: pod-}
spec:
  containers:
  - name: pause
    image: registry.k8s.io/pause:3.10.1
    ports: [{containerPort: 80}]
    resources:
      limits: {cpu: 100m, memory: 500Mi}
      requests: {cpu: 100m, memory: 500Mi}
";

impl Runner<'_> {
    pub(super) fn create_pods(&mut self, index: usize, op: &CreatePods) -> Result<(), Error> {
        let namespace = op.namespace.clone().unwrap_or_else(|| format!("namespace-{index}"));
        self.ensure_namespace(&namespace)?;
        let path = op.pod_template_path.as_ref().or(self.chosen.case.default_pod_template_path.as_ref());
        let template = match path {
            Some(path) => self.template(path)?,
            None => Template::parse("a Pod", DEFAULT_TEMPLATE)?,
        };
        let mut factory = self.factory(&template, op.count, "Pod")?;
        let volumes = match (&op.persistent_volume_template_path, &op.persistent_volume_claim_template_path) {
            (Some(volume), Some(claim)) => Some(self.volumes(volume, claim, op.count, &namespace)?),
            _ => None,
        };
        let to_admit = self.prepare(&mut factory, &namespace)?;
        let batch = Batch { namespace: &namespace, factory, to_admit, volumes, is_steady: op.steady_state };
        if op.collect_metrics {
            self.collect(Selection::of_namespace(&namespace))?;
        }
        if op.steady_state {
            self.steady_state(&batch, op)?;
        } else {
            if !op.skip_wait_to_completion {
                self.simulator.hooks.awaited = Some((namespace.clone(), 0));
            }
            self.create_batch(&batch, op.count)?;
            match op.skip_wait_to_completion {
                true => *self.unawaited.entry(namespace.clone()).or_default() += op.count,
                false => self.await_pods(&namespace, op.count)?,
            }
        }
        if op.collect_metrics {
            self.simulator.hooks.stop();
        }
        Ok(())
    }

    fn create_batch(&mut self, batch: &Batch<'_>, count: usize) -> Result<(), Error> {
        for index in 0..count {
            let mut pod = batch.factory.make(index)?;
            if let AnyObject::Pod(pod) = &mut pod
                && batch.is_steady
            {
                // Deletions in a steady state have no grace period.
                pod.spec.get_or_insert_default().termination_grace_period_seconds = Some(0);
            }
            if let Some(volumes) = &batch.volumes {
                let claim = self.create_volume(volumes, batch.namespace, index)?;
                if let AnyObject::Pod(pod) = &mut pod {
                    let claim = api::PersistentVolumeClaimVolumeSource { claim_name: claim, read_only: None };
                    let volume = api::Volume {
                        name: "vol".to_owned(),
                        persistent_volume_claim: Some(claim),
                        ..Default::default()
                    };
                    pod.spec.get_or_insert_default().volumes = Some(vec![volume]);
                }
            }
            self.create(pod, batch.namespace, batch.to_admit)?;
        }
        Ok(())
    }

    /// Creates pods and deletes them when all are scheduled, repeatedly.
    fn steady_state(&mut self, batch: &Batch<'_>, op: &CreatePods) -> Result<(), Error> {
        let time = i64::try_from(op.duration.0.as_nanos()).unwrap_or(i64::MAX);
        let end = self.clock.now().saturating_add(time);
        let mut rounds = 0;
        loop {
            self.simulator.hooks.awaited = Some((batch.namespace.to_owned(), 0));
            self.create_batch(batch, op.count)?;
            let left = end.saturating_sub(self.clock.now()).max(0);
            let count = op.count;
            if !self.run_until(left, |runner| runner.awaited() >= count)? || self.clock.now() >= end {
                break;
            }
            rounds += 1;
            let pods: Vec<_> = self.simulator.server.list_in("Pod", batch.namespace).map(|pod| Key::of(pod)).collect();
            for pod in pods {
                self.request(Request::Delete(pod, None)).map_err(Error::new)?;
            }
        }
        match rounds > 0 || self.awaited() > 0 {
            true => Ok(()),
            false => Err(Error::new("no pod was scheduled in time; increase duration")),
        }
    }

    /// Returns the factories of volumes and claims. Each pod gets one of each.
    fn volumes(&mut self, volume: &str, claim: &str, count: usize, namespace: &str) -> Result<Volumes, Error> {
        let read = |runner: &mut Self, path: &str, kind| {
            let template = Template::verbatim(&runner.chosen.path(path))?;
            let mut template = runner.factory(&template, count, kind)?;
            if let Some(prototype) = template.prototype() {
                // The real names are set later.
                prototype.metadata_mut().name = Some("name".to_owned());
                if let AnyObject::PersistentVolume(volume) = prototype
                    && let Some(csi) = volume.spec.as_mut().and_then(|spec| spec.csi.as_mut())
                {
                    "name".clone_into(&mut csi.volume_handle);
                }
            }
            runner.prepare(&mut template, namespace)?;
            Ok::<_, Error>(template)
        };
        Ok(Volumes {
            volume: read(self, volume, "PersistentVolume")?,
            claim: read(self, claim, "PersistentVolumeClaim")?,
        })
    }

    /// Creates a claim and the volume that it is bound to. Returns the name of the claim.
    fn create_volume(&mut self, volumes: &Volumes, namespace: &str, index: usize) -> Result<String, Error> {
        let (claim_name, volume_name) = (format!("pvc-{index}"), format!("{namespace}-vol-{index}"));
        let mut claim = volumes.claim.make(index)?;
        claim.metadata_mut().name = Some(claim_name.clone());
        if let AnyObject::PersistentVolumeClaim(claim) = &mut claim {
            claim.spec.get_or_insert_default().volume_name = Some(volume_name.clone());
            claim.status.get_or_insert_default().phase = Some("Bound".to_owned());
        }
        let mut volume = volumes.volume.make(index)?;
        volume.metadata_mut().name = Some(volume_name.clone());
        if let AnyObject::PersistentVolume(volume) = &mut volume {
            let spec = volume.spec.get_or_insert_default();
            if let Some(csi) = &mut spec.csi {
                csi.volume_handle = volume_name;
            } else if let Some(disk) = &mut spec.aws_elastic_block_store {
                disk.volume_id = format!("vol-{index}");
            }
            spec.claim_ref = Some(api::ObjectReference {
                kind: Some("PersistentVolumeClaim".to_owned()),
                api_version: Some("v1".to_owned()),
                namespace: Some(namespace.to_owned()),
                name: Some(claim_name.clone()),
                ..Default::default()
            });
            volume.status.get_or_insert_default().phase = Some("Bound".to_owned());
        }
        self.create(claim, namespace, false)?;
        self.create(volume, "", false)?;
        Ok(claim_name)
    }
}

/// Pods that are created together.
struct Batch<'a> {
    namespace: &'a str,
    factory: ObjectFactory,
    to_admit: bool,
    volumes: Option<Volumes>,
    is_steady: bool,
}

struct Volumes {
    volume: ObjectFactory,
    claim: ObjectFactory,
}
