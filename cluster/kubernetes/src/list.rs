//! Lists of all objects of a kind, in pages and without a watch.

use std::fmt;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::resources::Resource;
use crate::transport::{ApiRequest, RequestClass, StatusError, Transport, Verb, call_with_retry_after};
use crate::watch::query::query;
use crate::watch::reflector_state::ListWatchRequest;

/// Reason that a list is incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListError {
    /// The server does not serve the kind.
    NotServed,
    /// The user may not list the kind.
    Forbidden(String),
    /// Any other failure.
    Failed(String),
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListError::NotServed => f.write_str("the server does not have this kind"),
            ListError::Forbidden(why) | ListError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ListError {}

#[derive(Deserialize)]
struct Page<Item> {
    metadata: PageMeta,
    /// Go writes an empty list as `null` if it was never allocated.
    items: Option<Vec<Item>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMeta {
    resource_version: Option<Box<str>>,
    #[serde(rename = "continue")]
    continue_token: Option<Box<str>>,
}

/// Lists all objects of a kind with the query of reflectors, which omits finished pods. `each` receives the objects of
/// each page. Returns the resource version of the list.
///
/// # Errors
/// The server does not have the kind, the user may not list it, the list cannot be read, or it expires before its last
/// page.
pub async fn list<Item: DeserializeOwned>(
    transport: &impl Transport,
    resource: &Resource,
    mut each: impl FnMut(Vec<Item>),
) -> Result<Box<str>, ListError> {
    let mut continue_token = None;
    loop {
        let is_first = continue_token.is_none();
        let path = query(resource, &ListWatchRequest::Page { continue_token }, 0);
        let call = ApiRequest { verb: Verb::Get, path, body: Bytes::new() };
        let answer = call_with_retry_after(transport, RequestClass::Watch, &call).await;
        let answer = answer.map_err(|error| ListError::Failed(error.into_message()))?;
        if !answer.is_success() {
            let message = StatusError::new(&answer).message.into();
            return Err(match answer.code {
                403 => ListError::Forbidden(message),
                404 => ListError::NotServed,
                410 if !is_first => ListError::Failed(format!("the list expired before its last page: {message}")),
                _ => ListError::Failed(message),
            });
        }
        let page = serde_json::from_slice(&answer.body);
        let page: Page<Item> = page.map_err(|error| ListError::Failed(format!("the list cannot be read: {error}")))?;
        each(page.items.unwrap_or_default());
        continue_token = page.metadata.continue_token.filter(|token| !token.is_empty());
        if continue_token.is_none() {
            return Ok(page.metadata.resource_version.unwrap_or_default());
        }
    }
}
