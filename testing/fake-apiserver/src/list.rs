//! Reads of single objects, lists, and paginated lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::request::{ApiRequest, Target};
use crate::selector::Selector;
use crate::status_error::StatusError;
use crate::store::Store;

/// Remaining objects of paginated lists. The number in a continue token identifies the version of the list and its
/// remaining objects. A token can be used repeatedly.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    last: u64,
    open: BTreeMap<u64, (u64, Vec<Arc<Value>>)>,
}

impl Pages {
    /// Stores the rest of a list. Returns its number, for the continue token.
    fn add(&mut self, version: u64, rest: Vec<Arc<Value>>) -> u64 {
        self.last += 1;
        self.open.insert(self.last, (version, rest));
        self.last
    }

    /// Discards all remaining objects.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }
}

/// Returns one object.
pub(crate) fn get(store: &Store, target: &Target) -> Result<Arc<Value>, StatusError> {
    store.get(&target.key()).cloned().ok_or_else(|| StatusError::not_found(target.kind, &target.name))
}

/// Returns all selected objects, or a page of them.
pub(crate) fn list(
    store: &Store,
    pages: &mut Pages,
    api_request: &ApiRequest,
    target: &Target,
) -> Result<Value, StatusError> {
    if !api_request.parameter("sendInitialEvents").is_empty() {
        let message = "Forbidden: sendInitialEvents is forbidden for list";
        return Err(StatusError::options("sendInitialEvents", message));
    }
    if let Some(version) = api_request.number("resourceVersion")?
        && version > store.version()
    {
        return Err(StatusError::too_new(version, store.version()));
    }
    let selector =
        Selector::parse(target.kind, api_request.parameter("fieldSelector"), api_request.parameter("labelSelector"))?;
    let token = api_request.parameter("continue");
    let (version, mut objects) = match token {
        "" => {
            let all = store.list(target.kind, &target.namespace);
            (store.version(), all.filter(|object| selector.matches(object)).cloned().collect())
        }
        _ => continuation(pages, token)?,
    };
    let mut metadata = json!({"resourceVersion": version.to_string()});
    // Lists with `resourceVersion=0` are not paginated: a real server returns them from its cache.
    let limit =
        api_request.number("limit")?.filter(|_| api_request.parameter("resourceVersion") != "0").unwrap_or_default();
    let limit = usize::try_from(limit).unwrap_or_default();
    if limit > 0 && objects.len() > limit {
        let rest: Vec<_> = objects.split_off(limit);
        if selector.is_empty() {
            metadata["remainingItemCount"] = rest.len().into();
        }
        metadata["continue"] = format!("rest-{}", pages.add(version, rest)).into();
    }
    let items: Vec<Value> = objects.iter().map(|object| item(object)).collect();
    let kind = format!("{}List", target.kind.kind);
    Ok(json!({"kind": kind, "apiVersion": target.kind.api_version(), "metadata": metadata, "items": items}))
}

/// Returns the rest of a list by its continue token.
fn continuation(pages: &Pages, token: &str) -> Result<(u64, Vec<Arc<Value>>), StatusError> {
    let number = token.strip_prefix("rest-").and_then(|number| number.parse().ok());
    let number = number.ok_or_else(|| StatusError::new(400, format!("invalid continue token: {token}")))?;
    let expired = "The provided continue parameter is too old to display a consistent list result. You must start a new \
                   list without the continue parameter.";
    pages.open.get(&number).cloned().ok_or_else(|| StatusError::new(410, expired))
}

/// Returns an object as an item of a list, without `apiVersion` and `kind`.
fn item(object: &Value) -> Value {
    let fields = object.as_object().into_iter().flatten();
    fields.filter(|(name, _)| *name != "kind" && *name != "apiVersion").map(|(n, v)| (n.clone(), v.clone())).collect()
}
