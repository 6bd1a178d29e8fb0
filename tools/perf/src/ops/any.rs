//! Operations that create and update objects of any kind.

use schedc_in_memory::server::Request;
use schedc_objects::AnyObject;

use super::interval;
use crate::Error;
use crate::config::{CreateAny, UpdateAny};
use crate::run::Runner;
use crate::template::ObjectFactory;

impl Runner<'_> {
    pub(super) fn create_any(&mut self, op: &CreateAny) -> Result<(), Error> {
        let Some((mut factory, namespace)) =
            self.factory_and_namespace(&op.template_path, op.namespace.as_deref(), op.count)?
        else {
            return Ok(());
        };
        let to_admit = self.prepare(&mut factory, &namespace)?;
        for index in 0..op.count {
            self.create(factory.make(index)?, &namespace, to_admit)?;
        }
        Ok(())
    }

    pub(super) fn update_any(&mut self, op: &UpdateAny) -> Result<(), Error> {
        let Some((mut factory, namespace)) =
            self.factory_and_namespace(&op.template_path, op.namespace.as_deref(), op.count)?
        else {
            return Ok(());
        };
        let to_admit = self.prepare(&mut factory, &namespace)?;
        let mut due = self.clock.now();
        for index in 0..op.count {
            if op.update_per_second > 0 {
                // Missed intervals are skipped, as by the Go ticker of scheduler_perf.
                let interval = interval(op.update_per_second);
                due = (due + interval).max(self.clock.now().saturating_sub(interval));
                self.run_until(due.saturating_sub(self.clock.now()).max(0), |_| false)?;
            }
            let mut object = factory.make(index)?;
            if !namespace.is_empty() {
                object.metadata_mut().namespace = Some(namespace.clone());
            }
            if to_admit {
                object = self.admit(object)?;
            }
            self.request(Request::Replace(Box::new(object))).map_err(Error::new)?;
        }
        Ok(())
    }

    /// Returns the factory of the objects and their namespace, which is empty for cluster-scoped kinds. Returns
    /// `None` if scheduling ignores their kind.
    fn factory_and_namespace(
        &mut self,
        path: &str,
        namespace: Option<&str>,
        count: usize,
    ) -> Result<Option<(ObjectFactory, String)>, Error> {
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        if let Some(namespace) = namespace {
            self.ensure_namespace(namespace)?;
        }
        let Some(factory) = ObjectFactory::new(&self.template(path)?, count, None)? else { return Ok(None) };
        match (AnyObject::is_namespaced(factory.kind()), namespace) {
            (Some(false), Some(namespace)) => {
                let kind = factory.kind();
                Err(Error::new(format!(
                    "namespace: is `{namespace}`, but objects of kind {kind} have no namespace; omit it"
                )))
            }
            (Some(true), None) => {
                Err(Error::new(format!("namespace: is missing, but objects of kind {} need one", factory.kind())))
            }
            (_, namespace) => Ok(Some((factory, namespace.unwrap_or_default().to_owned()))),
        }
    }
}
