//! Authenticated users.

use std::collections::BTreeMap;

use serde::Serialize;

pub(super) const ANONYMOUS: &str = "system:anonymous";
pub(super) const AUTHENTICATED: &str = "system:authenticated";
pub(super) const UNAUTHENTICATED: &str = "system:unauthenticated";
/// Members of this group may do anything.
pub(super) const MASTERS: &str = "system:masters";

/// User, in the form of a SubjectAccessReview.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct User {
    #[serde(rename = "user", skip_serializing_if = "String::is_empty")]
    pub(super) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) uid: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) groups: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Returns the user of a request without credentials.
    pub(super) fn anonymous() -> User {
        User { name: ANONYMOUS.to_owned(), groups: vec![UNAUTHENTICATED.to_owned()], ..User::default() }
    }

    pub(super) fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|other| other == group)
    }

    pub(super) fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS || self.is_in(UNAUTHENTICATED)
    }

    /// Adds the group of authenticated users.
    pub(super) fn authenticated(mut self) -> User {
        if !self.is_anonymous() && !self.is_in(AUTHENTICATED) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}
