//! What a scheduler may do, and no more.

use std::collections::{BTreeMap, BTreeSet};

use schedc_codegen::catalog::{VERBS, Write};
use schedc_kubernetes::resources::Resource;

use crate::cli::failure::Failure;

/// Rules of roles, everywhere and in single namespaces.
pub(super) struct Rights {
    pub(super) everywhere: Rules,
    pub(super) namespaces: BTreeMap<String, Rules>,
}

/// Verbs by group, resource and, for rights on one object alone, its name.
#[derive(Default)]
pub(super) struct Rules(BTreeMap<(String, String, Option<String>), BTreeSet<String>>);

impl Rights {
    /// For the kinds that are watched, what plugins do, and what every scheduler does.
    pub(super) fn of(
        watches: &[String],
        kinds: &[(String, String)],
        writes: &[Write],
        lease_namespace: &str,
        lease: &str,
    ) -> Result<Rights, Failure> {
        let mut rights = Rights { everywhere: Rules::default(), namespaces: BTreeMap::new() };
        let everywhere = &mut rights.everywhere;
        for kind in watches {
            let unknown = || Failure::new(format_args!("no API server is asked for objects of kind {kind}"));
            let resource = Resource::of(kind).ok_or_else(unknown)?;
            everywhere.allow(resource.group(), resource.plural, &["list", "watch"]);
        }
        for (group, resource) in kinds {
            everywhere.allow(group, resource, &["list", "watch"]);
        }
        // Why a pod waits, as its condition and as events; an event that comes again is counted.
        everywhere.allow("", "pods/status", &["patch"]);
        everywhere.allow("events.k8s.io", "events", &["create", "patch"]);
        // Who asks for metrics, and may they?
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
        // The authorities that vouch for those who ask.
        let system = rights.namespaces.entry("kube-system".to_owned()).or_default();
        system.allow_one("", "configmaps", "extension-apiserver-authentication", &["get"]);
        let election = rights.namespaces.entry(lease_namespace.to_owned()).or_default();
        // No name can be a condition of `create`.
        election.allow("coordination.k8s.io", "leases", &["create"]);
        election.allow_one("coordination.k8s.io", "leases", lease, &["get", "update"]);
        // Its events are of the old API, as kube-scheduler's are.
        election.allow("", "events", &["create"]);
        Ok(rights)
    }
}

impl Rules {
    fn allow(&mut self, group: &str, resource: &str, verbs: &[&str]) {
        self.add(group, resource, None, verbs);
    }

    fn allow_one(&mut self, group: &str, resource: &str, name: &str, verbs: &[&str]) {
        self.add(group, resource, Some(name), verbs);
    }

    fn add(&mut self, group: &str, resource: &str, name: Option<&str>, verbs: &[&str]) {
        let key = (group.to_owned(), resource.to_owned(), name.map(str::to_owned));
        self.0.entry(key).or_default().extend(verbs.iter().map(|&verb| verb.to_owned()));
    }

    /// As YAML: resources of a group with the same verbs are one rule.
    pub(super) fn yaml(&self) -> String {
        let mut rules: Vec<Rule<'_>> = Vec::new();
        for ((group, resource, name), verbs) in &self.0 {
            let alike = |rule: &&mut Rule<'_>| (rule.group, rule.name, rule.verbs) == (group, name.as_deref(), verbs);
            match rules.iter_mut().find(alike) {
                Some(rule) => rule.resources.push(resource),
                None => rules.push(Rule { group, name: name.as_deref(), verbs, resources: vec![resource] }),
            }
        }
        let mut yaml = String::from("rules:\n");
        for Rule { group, name, verbs, resources } in rules {
            let group = if group.is_empty() { "\"\"" } else { group };
            let verbs: Vec<&str> = VERBS.into_iter().filter(|&verb| verbs.contains(verb)).collect();
            yaml += &format!("  - apiGroups: [{group}]\n    resources: [{}]\n", resources.join(", "));
            if let Some(name) = name {
                yaml += &format!("    resourceNames: [{name}]\n");
            }
            yaml += &format!("    verbs: [{}]\n", verbs.join(", "));
        }
        yaml
    }
}

/// What is allowed alike.
struct Rule<'a> {
    group: &'a str,
    name: Option<&'a str>,
    verbs: &'a BTreeSet<String>,
    resources: Vec<&'a str>,
}
