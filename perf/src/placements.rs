//! What came to which node, kept during a run and validated after it.

use schedc_core::intern::Interner;
use schedc_core::profile::ProfileInfo;
use schedc_core::scheduler;
use schedc_embedded::server::{Change, ChangeKind};
use schedc_embedded::watch;
use schedc_objects::AnyObject;

use crate::Error;
use crate::probe::is_scheduled;
use crate::validate::{Validator, Violation};

/// How many violations an error tells.
const TOLD: usize = 3;

/// Changes in their order: of nodes, of pods with a node, and of all other objects. They point to what the server has anyway.
#[derive(Debug, Default)]
pub(crate) struct Placements(Vec<Change>);

impl Placements {
    /// Something changed.
    pub(crate) fn record(&mut self, change: &Change) {
        let counts = match &*change.object {
            AnyObject::Pod(pod) => is_scheduled(pod),
            _ => true,
        };
        if counts {
            self.0.push(change.clone());
        }
    }

    /// Looks at all placements, by the rules that the profile has plugins for; by all rules, if there is no profile.
    ///
    /// # Errors
    /// Rules that are broken.
    pub(crate) fn validate(self, profile: Option<&ProfileInfo>) -> Result<(), Error> {
        let mut validator = match profile {
            None => Validator::default(),
            Some(profile) => {
                let plugins = profile.points.iter().flat_map(|point| point.plugins).map(|(plugin, _)| *plugin);
                Validator::with_plugins(plugins)
            }
        };
        let mut names = Interner::default();
        for change in self.0 {
            let Some(told) = watch::told(&change, &mut names) else { continue };
            // One that was created with a node was not placed by anybody.
            if let (scheduler::Change::Pod(pod), ChangeKind::Modified) = (&told, change.kind) {
                validator.expect(&pod.uid);
            }
            validator.see(&told, &names);
        }
        let violations = validator.violations();
        if violations.is_empty() {
            return Ok(());
        }
        let told: Vec<String> = violations.iter().take(TOLD).map(Violation::to_string).collect();
        let more = match violations.len() - told.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Err(Error::new(format!("placements that are not allowed: {}{more}", told.join("; "))))
    }
}
