//! Who calls, by a bearer token: TokenReview.

use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use serde_json::{Value, json};

use crate::serving::cache::{Cache, Key};
use crate::serving::review::Reviewer;
use crate::serving::user::User;
use crate::wire::Transport;

/// Who knows whose a token is.
#[derive(Debug)]
pub(super) struct Tokens<T> {
    reviewer: Reviewer<T>,
    cache: Cache<User>,
    time: Duration,
}

/// The token that came with a request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = value.split_once(' ')?;
    let token = token.split(' ').next().filter(|token| !token.is_empty())?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

impl<T: Transport> Tokens<T> {
    /// An answer is kept for some time.
    pub(super) fn new(transport: T, time: Duration) -> Self {
        Tokens { reviewer: Reviewer::new(transport), cache: Cache::default(), time }
    }

    /// Whose a token is. As in kube-scheduler, only a known one is remembered.
    pub(super) async fn whose(&self, token: &str) -> Result<User, String> {
        let key = Key::new(token.as_bytes());
        if let Some(user) = self.cache.get(&key, self.reviewer.transport.clock()) {
            return Ok(user);
        }
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token},
        });
        let status = self.reviewer.review("/apis/authentication.k8s.io/v1/tokenreviews", &review).await;
        let status = status.map_err(|why| format!("asking whose a bearer token is: {why}"))?;
        if status["authenticated"] != true {
            let why = status["error"].as_str().filter(|why| !why.is_empty());
            return Err(why.unwrap_or("invalid bearer token").to_owned());
        }
        let user = user(&status["user"]);
        self.cache.keep(key, user.clone(), self.reviewer.transport.clock(), self.time);
        Ok(user)
    }
}

fn user(user: &Value) -> User {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |values: &Value| values.as_array().into_iter().flatten().map(text).collect();
    let extra = user["extra"].as_object().into_iter().flatten();
    User {
        name: text(&user["username"]),
        uid: text(&user["uid"]),
        groups: texts(&user["groups"]),
        extra: extra.map(|(key, values)| (key.clone(), texts(values))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearers() {
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers), None);
        for (value, expected) in [
            ("Bearer secret", Some("secret")),
            ("bearer secret and more", Some("secret")),
            ("Basic c2VjcmV0", None),
            ("Bearer", None),
            ("Bearer  secret", None),
        ] {
            headers.insert(AUTHORIZATION, value.parse().unwrap());
            assert_eq!(bearer(&headers), expected, "{value}");
        }
    }

    #[test]
    fn who_a_review_names() {
        let reviewed = json!({"username": "joe", "uid": "7", "groups": ["a", "b"], "extra": {"scopes": ["x"]}});
        let expected = User {
            name: "joe".into(),
            uid: "7".into(),
            groups: vec!["a".into(), "b".into()],
            extra: [("scopes".to_owned(), vec!["x".to_owned()])].into(),
        };
        assert_eq!(user(&reviewed), expected);
    }
}
