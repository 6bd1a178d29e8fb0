//! Placements, recorded during a run and validated afterwards.

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::profile::ProfileInfo;
use schedc_core::scheduler;
use schedc_in_memory::server::{Change, ChangeKind};
use schedc_in_memory::watch;
use schedc_objects::AnyObject;

use crate::Error;
use crate::validate::{Validator, Violation};

/// Maximum number of violations in an error.
const MAX_REPORTED: usize = 3;

/// Changes of all objects except pods without a node, in order. They share the objects of the server.
#[derive(Debug, Default)]
pub(crate) struct Placements(Vec<Change>);

/// Returns whether a pod has a node.
pub(crate) fn is_scheduled(pod: &api::Pod) -> bool {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_some_and(|node| !node.is_empty())
}

impl Placements {
    pub(crate) fn record(&mut self, change: &Change) {
        let is_relevant = match &*change.object {
            AnyObject::Pod(pod) => is_scheduled(pod),
            _ => true,
        };
        if is_relevant {
            self.0.push(change.clone());
        }
    }

    /// Validates all placements. With a profile, only the rules that its plugins enforce apply; without one, all rules.
    ///
    /// # Errors
    /// Returns the violated rules.
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
            let Some(converted) = watch::scheduler_change(&change, &mut names) else { continue };
            // A pod that was created with a node was not placed by the scheduler.
            if let (scheduler::Change::Pod(pod), ChangeKind::Modified) = (&converted, change.kind) {
                validator.expect(&pod.uid);
            }
            validator.observe(&converted, &names);
        }
        let violations = validator.violations();
        if violations.is_empty() {
            return Ok(());
        }
        let reported: Vec<String> = violations.iter().take(MAX_REPORTED).map(Violation::to_string).collect();
        let more = match violations.len() - reported.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Err(Error::new(format!("invalid placements: {}{more}", reported.join("; "))))
    }
}

#[cfg(test)]
mod tests {
    use schedc_in_memory::server::Key;
    use schedc_objects::testing::api_object;

    use super::*;

    fn placements(changes: &[(ChangeKind, &str)]) -> Placements {
        let mut placements = Placements::default();
        for (version, (kind, yaml)) in (1..).zip(changes) {
            let object = api_object(yaml);
            let key = Key::of(&object);
            placements.record(&Change { version, kind: *kind, key, previous: None, object: object.into() });
        }
        placements
    }

    #[test]
    fn invalid_placements_are_reported() {
        use ChangeKind::{Added, Deleted, Modified};
        let pod = |name: &str, node: &str| {
            format!(
                "{{kind: Pod, metadata: {{name: {name}, namespace: a, uid: {name}}}, spec: {{{node} containers: [{{name: a, resources: {{requests: {{cpu: 1}}}}}}]}}}}"
            )
        };
        let node = "{kind: Node, metadata: {name: small}, status: {allocatable: {cpu: 2, pods: 9}}}";
        let [first, second, third, fourth] =
            ["first", "second", "third", "fourth"].map(|name| (pod(name, ""), pod(name, "nodeName: small,")));
        let validate =
            |changes: &[(ChangeKind, &str)]| placements(changes).validate(None).map_err(|error| error.to_string());
        // One pod was bound from the start.
        let begin = [(Added, node), (Added, &*first.1), (Added, &*second.0), (Modified, &*second.1)];
        assert_eq!(validate(&begin), Ok(()));
        let over = [&begin[..], &[(Modified, &*third.1), (Modified, &*fourth.1)]].concat();
        let expected = "invalid placements: pod a/third on node small: NodeResourcesFit: milli-cpu: 1000 requested, \
                        2000 of 2000 used; pod a/fourth on node small: NodeResourcesFit: milli-cpu: 1000 requested, \
                        3000 of 2000 used";
        assert_eq!(validate(&over), Err(expected.to_owned()));
        let many = ["fifth", "sixth"].map(|name| pod(name, "nodeName: small,"));
        let many = [&over[..], &many.each_ref().map(|pod| (Modified, &**pod))].concat();
        let error = validate(&many).unwrap_err();
        assert!(error.starts_with(expected) && error.ends_with("; and 1 more"), "{error}");
        let gone = [&begin[..], &[(Deleted, &*first.1), (Modified, &*third.1)]].concat();
        assert_eq!(validate(&gone), Ok(()));
    }
}
