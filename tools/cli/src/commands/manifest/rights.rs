//! The exact permissions of a scheduler.

use std::collections::{BTreeMap, BTreeSet};

use schedc_codegen::catalog::{VERBS, Write};
use schedc_kubernetes::resources::Resource;

use crate::commands::failure::Failure;

/// Rules of the cluster role, and of the roles in single namespaces.
pub(super) struct Rights {
    pub(super) everywhere: Rules,
    pub(super) namespaces: BTreeMap<String, Rules>,
}

/// Verbs by group and resource.
#[derive(Default)]
pub(super) struct Rules(BTreeMap<(String, String), BTreeSet<String>>);

impl Rights {
    /// Returns the permissions for watched kinds, for writes of plugins, and for the scheduler itself.
    pub(super) fn of(watches: &[String], kinds: &[(String, String)], writes: &[Write]) -> Result<Rights, Failure> {
        let mut rights = Rights { everywhere: Rules::default(), namespaces: BTreeMap::new() };
        let everywhere = &mut rights.everywhere;
        for kind in watches {
            let unknown = || Failure::new(format_args!("kind {kind} is not one that an API server serves"));
            let resource = Resource::of(kind).ok_or_else(unknown)?;
            everywhere.allow(resource.group(), resource.plural, &["list", "watch"]);
        }
        for (group, resource) in kinds {
            everywhere.allow(group, resource, &["list", "watch"]);
        }
        // The reason why a pod is pending is written as its condition and as events. A patch of an event counts its repetitions.
        everywhere.allow("", "pods/status", &["patch"]);
        everywhere.allow("events.k8s.io", "events", &["create", "patch"]);
        // Authentication and authorization of clients that request metrics.
        everywhere.allow("authentication.k8s.io", "tokenreviews", &["create"]);
        everywhere.allow("authorization.k8s.io", "subjectaccessreviews", &["create"]);
        for write in writes {
            let verbs: Vec<&str> = write.verbs.iter().map(String::as_str).collect();
            let rules = match &write.namespace {
                None => &mut rights.everywhere,
                Some(namespace) => rights.namespaces.entry(namespace.clone()).or_default(),
            };
            rules.allow(&write.group, &write.resource, &verbs);
        }
        Ok(rights)
    }
}

impl Rules {
    fn allow(&mut self, group: &str, resource: &str, verbs: &[&str]) {
        let key = (group.to_owned(), resource.to_owned());
        self.0.entry(key).or_default().extend(verbs.iter().map(|&verb| verb.to_owned()));
    }

    /// Returns the lines of a YAML sequence. Resources of a group with the same verbs form one rule.
    pub(super) fn yaml(&self) -> String {
        let mut rules: Vec<Rule<'_>> = Vec::new();
        for ((group, resource), verbs) in &self.0 {
            match rules.iter_mut().find(|rule| (rule.group, rule.verbs) == (group, verbs)) {
                Some(rule) => rule.resources.push(resource),
                None => rules.push(Rule { group, verbs, resources: vec![resource] }),
            }
        }
        let mut yaml = String::new();
        for Rule { group, verbs, resources } in rules {
            let group = if group.is_empty() { "\"\"" } else { group };
            let verbs: Vec<&str> = VERBS.into_iter().filter(|&verb| verbs.contains(verb)).collect();
            yaml += &format!("- apiGroups: [{group}]\n  resources: [{}]\n", resources.join(", "));
            yaml += &format!("  verbs: [{}]\n", verbs.join(", "));
        }
        yaml
    }
}

/// Resources of a group with the same verbs.
struct Rule<'a> {
    group: &'a str,
    verbs: &'a BTreeSet<String>,
    resources: Vec<&'a str>,
}
