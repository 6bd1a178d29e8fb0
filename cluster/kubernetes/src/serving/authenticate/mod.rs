//! Authentication of requests.
//!
//! As in kube-scheduler, request-header proxies come first, then client certificates, then bearer tokens. A client
//! without credentials is anonymous. A client whose credentials are all invalid is refused.

mod proxy;
mod subject;
mod token;

use hyper::HeaderMap;
use rustls::pki_types::{CertificateDer, UnixTime};

use super::authorities::{Authority, ClientAuthorities};
use super::budget::Budget;
use super::peer::Peer;
use super::review::AuthProblem;
use super::user::User;
use crate::flags;
use crate::transport::Transport;
use token::TokenAuthenticator;

#[derive(Debug)]
pub(super) struct Authenticator<T> {
    tokens: Option<TokenAuthenticator<T>>,
}

impl<T: Transport> Authenticator<T> {
    /// Creates an authenticator. Without a transport to an API server, tokens are ignored.
    pub(super) fn new(flags: &flags::Authentication, transport: Option<T>, budget: Budget) -> Self {
        Authenticator { tokens: transport.map(|transport| TokenAuthenticator::new(transport, flags.token_ttl, budget)) }
    }

    /// Identifies the user by the certificates of a connection and the headers of a request. Returns an error if there
    /// are credentials, and none of them is valid.
    pub(super) async fn authenticate(
        &self,
        authorities: &ClientAuthorities,
        peer: &Peer,
        headers: &HeaderMap,
    ) -> Result<User, AuthProblem> {
        let certificates = &*peer.certificates();
        let mut problems = Vec::new();
        let proxies = authorities.proxies.as_ref();
        let mut found =
            user_or_problem(proxies.map(|proxies| proxy::authenticate(proxies, headers, certificates)), &mut problems);
        if found.is_none() {
            found = user_or_problem(
                authorities.clients.as_ref().map(|authority| client(authority, certificates)),
                &mut problems,
            );
        }
        if found.is_none()
            && let Some(tokens) = &self.tokens
            && let Some(token) = token::bearer(headers)
        {
            match tokens.authenticate(peer, token).await {
                Ok(user) => found = Some(user),
                Err(AuthProblem::Limited) => return Err(AuthProblem::Limited),
                Err(AuthProblem::Failed(problem)) => problems.push(problem),
            }
        }
        match found {
            Some(user) => Ok(user.authenticated()),
            None if problems.is_empty() => Ok(User::anonymous()),
            None => Err(AuthProblem::Failed(problems.join("; "))),
        }
    }
}

/// Returns the user that one method found. A problem is recorded, since another method may succeed.
fn user_or_problem(result: Option<Result<Option<User>, String>>, problems: &mut Vec<String>) -> Option<User> {
    match result? {
        Ok(user) => user,
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// Returns the user that a certificate names.
fn client(authority: &Authority, certificates: &[CertificateDer<'_>]) -> Result<Option<User>, String> {
    let Some(certificate) = verified(authority, certificates)? else { return Ok(None) };
    subject::user(certificate)
}

/// Returns the client's certificate if the authority signed it, or `None` without a certificate.
fn verified<'a, 'b>(
    authority: &Authority,
    certificates: &'a [CertificateDer<'b>],
) -> Result<Option<&'a CertificateDer<'b>>, String> {
    let Some((certificate, intermediates)) = certificates.split_first() else { return Ok(None) };
    match authority.verifier.verify_client_cert(certificate, intermediates, UnixTime::now()) {
        Ok(_) => Ok(Some(certificate)),
        Err(error) => Err(format!("the client's certificate is not trusted: {error}")),
    }
}

#[cfg(test)]
pub(super) use subject::common_name;
