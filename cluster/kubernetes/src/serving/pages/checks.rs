//! `/healthz`, `/livez`, `/readyz`: kube-scheduler's checks, by its names and in its format.

use hyper::StatusCode;

use super::{Answer, Endpoints, parameters, text};
use crate::health::Health;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    /// The process responds.
    Ping,
    /// A leader has not outlived its lease.
    LeaderElection,
    /// The process is not shutting down.
    Shutdown,
    /// The informers have synced.
    HandlersSynced,
}

impl Check {
    fn name(self) -> &'static str {
        match self {
            Check::Ping => "ping",
            Check::LeaderElection => "leaderElection",
            Check::Shutdown => "shutdown",
            Check::HandlersSynced => "sched-handler-sync",
        }
    }

    fn passes(self, health: &Health) -> Result<(), &'static str> {
        let (passes, otherwise) = match self {
            Check::Ping => (true, ""),
            Check::LeaderElection => {
                (!health.has_outlived_lease(), "the lease expired and was neither renewed nor released")
            }
            Check::Shutdown => (!health.is_stopping(), "the process is shutting down"),
            Check::HandlersSynced => (health.is_synced(), "the informers have not synced yet"),
        };
        if passes { Ok(()) } else { Err(otherwise) }
    }
}

/// Returns the name and the checks of a path.
fn checks(path: &str, health: &Health) -> Option<(&'static str, &'static [Check])> {
    match (path, health.has_election()) {
        ("/livez", _) => Some(("livez", &[Check::Ping])),
        ("/healthz", true) => Some(("healthz", &[Check::LeaderElection])),
        ("/healthz", false) => Some(("healthz", &[Check::Ping])),
        ("/readyz", true) => Some(("readyz", &[Check::LeaderElection, Check::Shutdown, Check::HandlersSynced])),
        ("/readyz", false) => Some(("readyz", &[Check::Shutdown, Check::HandlersSynced])),
        _ => None,
    }
}

/// Responds to a request for all checks of a path, or for a single check.
pub(super) fn answer(path: &str, query: Option<&str>, health: &Health, endpoints: &dyn Endpoints) -> Option<Answer> {
    if let Some((name, checks)) = checks(path, health) {
        return Some(all(name, checks, query, health, endpoints));
    }
    let (path, name) = path.rsplit_once('/')?;
    let (_, checks) = checks(path, health)?;
    let check = checks.iter().find(|check| check.name() == name)?;
    Some(match check.passes(health) {
        Ok(()) => text(StatusCode::OK, "ok"),
        Err(why) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {why}\n")),
    })
}

fn all(
    name: &'static str,
    checks: &[Check],
    query: Option<&str>,
    health: &Health,
    endpoints: &dyn Endpoints,
) -> Answer {
    let mut unknown: Vec<_> = parameters(query).filter(|(key, _)| key == "exclude").map(|(_, value)| value).collect();
    unknown.sort_unstable();
    unknown.dedup();
    let (mut lines, mut reasons) = (String::new(), Vec::new());
    for check in checks {
        let check_name = check.name();
        if let Some(at) = unknown.iter().position(|excluded| excluded == check_name) {
            unknown.remove(at);
            lines += &format!("[+]{check_name} excluded: ok\n");
            continue;
        }
        let passes = check.passes(health);
        endpoints.checked(check_name, name, passes.is_ok());
        match passes {
            Ok(()) => lines += &format!("[+]{check_name} ok\n"),
            // By default, any client may read this page, so it withholds reasons. The page of a single check has them,
            // and requires authorization.
            Err(why) => {
                lines += &format!("[-]{check_name} failed: reason withheld\n");
                reasons.push(format!("{check_name}: {why}"));
            }
        }
    }
    if !unknown.is_empty() {
        let unknown: Vec<_> = unknown.iter().map(|name| format!("{name:?}")).collect();
        lines += &format!("warn: some health checks cannot be excluded: no matches for {}\n", unknown.join(","));
    }
    if !reasons.is_empty() {
        tracing::debug!("{name} check failed: {}", reasons.join("; "));
        return text(StatusCode::INTERNAL_SERVER_ERROR, format!("{lines}{name} check failed\n"));
    }
    let is_verbose = parameters(query).any(|(key, _)| key == "verbose");
    text(StatusCode::OK, if is_verbose { format!("{lines}{name} check passed\n") } else { "ok".to_owned() })
}
