//! Authentication and authorization: TokenReview and SubjectAccessReview.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Registered tokens and permissions.
#[derive(Debug, Default)]
pub(crate) struct Reviews {
    /// User and groups by token.
    pub(crate) users: BTreeMap<String, (String, Vec<String>)>,
    /// User, verb and path of each permission.
    pub(crate) permissions: Vec<(String, String, String)>,
}

impl Reviews {
    /// Responds to a TokenReview.
    pub(crate) fn token(&self, review: &Value) -> Value {
        let token = review["spec"]["token"].as_str().unwrap_or_default();
        let status = match self.users.get(token) {
            Some((user, groups)) => json!({"authenticated": true, "user": {"username": user, "groups": groups}}),
            None => json!({"user": {}, "error": "invalid bearer token"}),
        };
        with_status(review, status)
    }

    /// Responds to a SubjectAccessReview. Allows only the registered permissions, all of which are for non-resource
    /// paths.
    pub(crate) fn access(&self, review: &Value) -> Value {
        let spec = &review["spec"];
        let attributes = &spec["nonResourceAttributes"];
        let is_allowed = self.permissions.iter().any(|(user, verb, path)| {
            spec["user"] == user.as_str() && attributes["verb"] == verb.as_str() && attributes["path"] == path.as_str()
        });
        with_status(review, json!({"allowed": is_allowed}))
    }
}

fn with_status(review: &Value, status: Value) -> Value {
    let mut response = review.clone();
    response["status"] = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_tokens_and_permissions_are_accepted() {
        let mut reviews = Reviews::default();
        reviews.users.insert("secret".into(), ("joe".into(), vec!["group".into()]));
        reviews.permissions.push(("joe".into(), "get".into(), "/metrics".into()));
        let user = |token: &str| reviews.token(&json!({"spec": {"token": token}}))["status"].clone();
        assert_eq!(user("secret"), json!({"authenticated": true, "user": {"username": "joe", "groups": ["group"]}}));
        assert_eq!(user("other"), json!({"user": {}, "error": "invalid bearer token"}));
        let access = |user: &str, path: &str| {
            let attributes = json!({"path": path, "verb": "get"});
            reviews.access(&json!({"spec": {"user": user, "nonResourceAttributes": attributes}}))["status"].clone()
        };
        assert_eq!(access("joe", "/metrics"), json!({"allowed": true}));
        assert_eq!(access("joe", "/configz"), json!({"allowed": false}));
        assert_eq!(access("", "/metrics"), json!({"allowed": false}));
    }
}
