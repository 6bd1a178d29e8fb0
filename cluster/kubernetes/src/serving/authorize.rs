//! Authorization of requests.

use std::time::Duration;

use schedc_core::column::CacheSize;
use serde_json::{Value, json};

use super::budget::Budget;
use super::cache::{CAPACITY, Cache, CacheKey};
use super::peer::Peer;
use super::review::{AuthProblem, Reviewer};
use super::user::{MASTERS, User};
use crate::flags;
use crate::transport::Transport;

/// Decisions about paths with at least this length are not cached.
const UNCACHED_PATH_LENGTH: usize = 10_000;

/// Authorizer of requests: always-allowed paths, the group `system:masters`, and reviews by an API server.
#[derive(Debug)]
pub(super) struct Authorizer<T> {
    exact: Vec<String>,
    prefixes: Vec<String>,
    reviewer: Option<Reviewer<T>>,
    cache: Cache<Decision>,
    authorized_ttl: Duration,
    unauthorized_ttl: Duration,
}

/// Authorization decision, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) is_allowed: bool,
    pub(super) reason: String,
}

impl<T: Transport> Authorizer<T> {
    /// Creates an authorizer. Without a transport to an API server, users outside of `system:masters` may read only the
    /// always-allowed paths.
    ///
    /// # Errors
    /// An always-allowed path is invalid.
    pub(super) fn new(flags: &flags::Authorization, transport: Option<T>, budget: Budget) -> Result<Self, String> {
        let (mut exact, mut prefixes) = (Vec::new(), Vec::new());
        for flag in &flags.always_allow {
            let path = flag.strip_prefix('/').unwrap_or(flag);
            match path.strip_suffix('*') {
                Some(prefix) if !prefix.contains('*') => prefixes.push(prefix.to_owned()),
                None if !path.contains('*') => exact.push(path.to_owned()),
                _ => {
                    let problem = "a `*` is allowed only at the end of a path";
                    return Err(format!("--authorization-always-allow-paths={flag}: {problem}"));
                }
            }
        }
        let reviewer = transport.map(|transport| Reviewer::new(transport, budget));
        Ok(Authorizer {
            exact,
            prefixes,
            reviewer,
            cache: Cache::default(),
            authorized_ttl: flags.authorized_ttl,
            unauthorized_ttl: flags.unauthorized_ttl,
        })
    }

    /// Decides whether a user may use a verb on a path. Returns an error if the review failed.
    pub(super) async fn authorize(
        &self,
        peer: &Peer,
        user: &User,
        verb: &str,
        path: &str,
    ) -> Result<Decision, AuthProblem> {
        let relative_path = path.strip_prefix('/').unwrap_or(path);
        let is_for_all = self.exact.iter().any(|exact| exact == relative_path)
            || self.prefixes.iter().any(|prefix| relative_path.starts_with(prefix.as_str()));
        if is_for_all || user.is_in(MASTERS) {
            return Ok(Decision { is_allowed: true, reason: String::new() });
        }
        let Some(reviewer) = &self.reviewer else { return Ok(Decision { is_allowed: false, reason: String::new() }) };

        let mut spec = json!(user);
        spec["nonResourceAttributes"] = json!({"path": path, "verb": verb});
        let key = CacheKey::new(spec.to_string().as_bytes());
        if let Some(decision) = self.cache.get(&key, reviewer.transport.clock()) {
            return Ok(decision);
        }
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec, "status": {"allowed": false}});
        let is_allowed = |status: &Value| status["allowed"] == true && status["denied"] != true;
        let status =
            reviewer.review(peer, "/apis/authorization.k8s.io/v1/subjectaccessreviews", &review, is_allowed).await;
        let asking = || format!("asking whether {:?} may {verb} {path:?}", user.name);
        let status = status.map_err(|problem| problem.with_context(&asking()))?;
        let is_allowed = is_allowed(&status);
        let decision = Decision { is_allowed, reason: status["reason"].as_str().unwrap_or_default().to_owned() };
        if path.len() < UNCACHED_PATH_LENGTH {
            let time = if is_allowed { self.authorized_ttl } else { self.unauthorized_ttl };
            self.cache.insert(key, decision.clone(), reviewer.transport.clock(), time);
            let size = CacheSize::limited("access_reviews", self.cache.len(), CAPACITY);
            reviewer.transport.report_cache(size);
        }
        Ok(decision)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Instant;

    use super::*;
    use crate::transport::Http;

    async fn authorize(always_allow: &[&str], user: &User, path: &str) -> bool {
        let always_allow = always_allow.iter().map(|path| (*path).to_owned()).collect();
        let flags = flags::Authorization { always_allow, ..flags::Authorization::default() };
        let authorizer = Authorizer::<Http>::new(&flags, None, Budget::new(1)).unwrap();
        let peer = Peer::new(Instant::now(), Ipv4Addr::LOCALHOST.into());
        authorizer.authorize(&peer, user, "get", path).await.unwrap().is_allowed
    }

    #[tokio::test]
    async fn always_allowed_paths() {
        let anonymous = User::anonymous();
        let paths = ["/healthz", "livez*"];
        for (path, expected) in
            [("/healthz", true), ("/livez", true), ("/livez/ping", true), ("/healthz/ping", false), ("/metrics", false)]
        {
            assert_eq!(authorize(&paths, &anonymous, path).await, expected, "{path}");
        }
    }

    #[tokio::test]
    async fn system_masters_are_allowed_everything() {
        let user = User { name: "admin".into(), groups: vec![MASTERS.into()], ..User::default() };
        assert!(authorize(&[], &user, "/metrics").await);
    }

    #[test]
    fn a_star_is_valid_only_at_the_end_of_a_path() {
        let flags = flags::Authorization { always_allow: vec!["/a*b".into()], ..flags::Authorization::default() };
        let error = Authorizer::<Http>::new(&flags, None, Budget::new(1)).map(drop).unwrap_err();
        assert_eq!(error, "--authorization-always-allow-paths=/a*b: a `*` is allowed only at the end of a path");
    }
}
