//! Access of a plugin to an API server.

/// Access to the objects of a resource: a rule of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRule {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The resource as in roles: `persistentvolumes`, `pods/status`.
    pub resource: &'static str,
    /// The verbs: `get`, `patch` and others.
    pub verbs: &'static [&'static str],
    /// The namespace; `None`: all namespaces, or the resource is not namespaced.
    pub namespace: Option<&'static str>,
}
