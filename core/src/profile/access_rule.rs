//! What a plugin does at an API server.

/// What is done to the objects of a resource: a rule of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRule {
    /// The API group; empty for that of pods and nodes.
    pub group: &'static str,
    /// The resource as roles name it: `persistentvolumes`, `pods/status`.
    pub resource: &'static str,
    /// What is done: `get`, `patch` and the like.
    pub verbs: &'static [&'static str],
    /// The namespace; `None`: all of them, or the resource has none.
    pub namespace: Option<&'static str>,
}
