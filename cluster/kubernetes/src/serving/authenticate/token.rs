//! Authentication by bearer tokens: TokenReview.

use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use schedc_core::column::CacheSize;
use serde_json::{Value, json};

use crate::serving::budget::Budget;
use crate::serving::cache::{CAPACITY, Cache, CacheKey};
use crate::serving::peer::Peer;
use crate::serving::review::{AuthProblem, Reviewer};
use crate::serving::user::User;
use crate::transport::Transport;

#[derive(Debug)]
pub(super) struct TokenAuthenticator<T> {
    reviewer: Reviewer<T>,
    cache: Cache<User>,
    /// Invalid tokens, each with the reason. Since this is a separate cache, they cannot displace valid tokens.
    invalid: Cache<String>,
    time: Duration,
}

/// Returns the bearer token of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = value.split_once(' ')?;
    let token = token.split(' ').next().filter(|token| !token.is_empty())?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

impl<T: Transport> TokenAuthenticator<T> {
    /// Creates an authenticator that caches results for `time`.
    pub(super) fn new(transport: T, time: Duration, budget: Budget) -> Self {
        let reviewer = Reviewer::new(transport, budget);
        TokenAuthenticator { reviewer, cache: Cache::default(), invalid: Cache::default(), time }
    }

    /// Returns the user of a token. As in kube-scheduler, positive and negative results are cached; failed reviews are
    /// not.
    pub(super) async fn authenticate(&self, peer: &Peer, token: &str) -> Result<User, AuthProblem> {
        let key = CacheKey::new(token.as_bytes());
        let clock = self.reviewer.transport.clock();
        if let Some(user) = self.cache.get(&key, clock) {
            return Ok(user);
        }
        if let Some(why) = self.invalid.get(&key, clock) {
            return Err(AuthProblem::Failed(why));
        }
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token},
        });
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        let is_valid = |status: &Value| status["authenticated"] == true;
        let status = self.reviewer.review(peer, path, &review, is_valid).await;
        let status = status.map_err(|problem| problem.with_context("reviewing a bearer token"))?;
        let clock = self.reviewer.transport.clock();
        if !is_valid(&status) {
            let why = status["error"].as_str().filter(|why| !why.is_empty());
            let why = why.unwrap_or("invalid bearer token").to_owned();
            self.invalid.insert(key, why.clone(), clock, self.time);
            self.report_size();
            return Err(AuthProblem::Failed(why));
        }
        let user = user(&status["user"]);
        self.cache.insert(key, user.clone(), clock, self.time);
        self.report_size();
        Ok(user)
    }

    fn report_size(&self) {
        let size = self.cache.len() + self.invalid.len();
        self.reviewer.transport.report_cache(CacheSize::limited("token_reviews", size, 2 * CAPACITY));
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
    fn the_user_of_a_review() {
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
