//! Parsing of requests.

use bytes::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use hyper::{HeaderMap, Method, Uri};
use serde_json::Value;

use crate::kinds::Kind;
use crate::status_error::StatusError;
use crate::store::Key;

/// A request, parsed without reading objects of the store.
#[derive(Clone, Debug)]
pub(crate) struct ApiRequest {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; `other` for other HTTP
    /// methods. A non-resource path has the verbs of a single object.
    pub(crate) verb: &'static str,
    /// Path and query in the request.
    pub(crate) uri: String,
    /// Path without the query.
    pub(crate) path: String,
    /// Parameters of the query.
    pub(crate) query: Vec<(String, String)>,
    /// The addressed objects; `None` at non-resource paths.
    pub(crate) target: Option<Target>,
    /// Bearer token; empty if missing.
    pub(crate) token: String,
    /// Whether the client accepts protobuf.
    pub(crate) accepts_protobuf: bool,
    /// Content type of the body.
    pub(crate) content_type: String,
    /// The body; `None` if it is missing or not JSON.
    pub(crate) body: Option<Value>,
    /// Whether the body is invalid JSON.
    pub(crate) is_invalid_json: bool,
}

/// Content type of protobuf objects.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Content type of protobuf watches.
pub(crate) const PROTOBUF_STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// The objects at a path.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) kind: &'static Kind,
    /// Namespace; empty for all namespaces, or for cluster-scoped kinds.
    pub(crate) namespace: String,
    /// Name; empty for all objects.
    pub(crate) name: String,
    /// Subresource, such as `status`; empty for the object itself.
    pub(crate) subresource: String,
}

impl ApiRequest {
    pub(crate) fn new(method: &Method, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> Self {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let query: Vec<(String, String)> =
            form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
        let target = Target::at(uri.path());
        let is_one = target.as_ref().is_none_or(|target| !target.name.is_empty());
        let is_watch = query.iter().any(|(name, value)| name == "watch" && (value == "true" || value == "1"));
        let verb = match method.as_str() {
            "GET" if is_one => "get",
            "GET" if is_watch => "watch",
            "GET" => "list",
            "POST" => "create",
            "PUT" => "update",
            "PATCH" => "patch",
            "DELETE" if is_one => "delete",
            "DELETE" => "deletecollection",
            _ => "other",
        };
        let parsed = serde_json::from_slice(body).ok();
        ApiRequest {
            verb,
            uri: uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            path: uri.path().to_owned(),
            query,
            target,
            token: header(AUTHORIZATION).strip_prefix("Bearer ").unwrap_or_default().to_owned(),
            accepts_protobuf: header(ACCEPT).starts_with(PROTOBUF),
            content_type: header(CONTENT_TYPE).to_owned(),
            is_invalid_json: parsed.is_none() && !body.is_empty(),
            body: parsed,
        }
    }

    /// Returns a query parameter; empty if missing.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.query.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Returns a query parameter as a number. `None`: it is missing.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, StatusError> {
        let text = self.parameter(name);
        let invalid = |_| StatusError::new(400, format!("invalid value for {name}: {text}"));
        if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(invalid) }
    }

    /// Returns the body, which must be an object.
    pub(crate) fn object(&self) -> Result<&Value, StatusError> {
        let invalid = || StatusError::new(400, "the object provided is unrecognized: it is not a JSON object");
        self.body.as_ref().filter(|body| body.is_object()).ok_or_else(invalid)
    }
}

impl Target {
    /// Returns the key of the object.
    pub(crate) fn key(&self) -> Key {
        Key::new(self.kind, &*self.namespace, &*self.name)
    }

    /// Returns the objects at a path. `None`: it is a non-resource path.
    pub(crate) fn at(path: &str) -> Option<Self> {
        let mut parts = path.trim_matches('/').split('/');
        let api_version = match parts.next()? {
            "api" => parts.next()?.to_owned(),
            "apis" => format!("{}/{}", parts.next()?, parts.next()?),
            _ => return None,
        };
        let rest: Vec<&str> = parts.collect();
        let target = |namespace: &str, plural: &str, name: &str, subresource: &str| {
            let kind = Kind::of_path(&api_version, plural)?;
            let [namespace, name, subresource] = [namespace, name, subresource].map(str::to_owned);
            Some(Target { kind, namespace, name, subresource })
        };
        // `namespaces/a` is an object, and `namespaces/a/pods` are objects in it.
        match rest[..] {
            ["namespaces", name, "status"] => target("", "namespaces", name, "status"),
            ["namespaces", namespace, plural] => target(namespace, plural, "", ""),
            ["namespaces", namespace, plural, name] => target(namespace, plural, name, ""),
            ["namespaces", namespace, plural, name, subresource] => target(namespace, plural, name, subresource),
            [plural] => target("", plural, "", ""),
            [plural, name] => target("", plural, name, ""),
            [plural, name, subresource] => target("", plural, name, subresource),
            _ => None,
        }
        .filter(|target| {
            let is_elsewhere = !target.name.is_empty() && target.kind.is_namespaced == target.namespace.is_empty();
            !is_elsewhere
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_parsed_to_targets() {
        let at = |path: &str| {
            Target::at(path)
                .map(|it| format!("{} {}|{}|{}", it.kind.qualified(), it.namespace, it.name, it.subresource))
        };
        let rows = [
            ("/api/v1/pods", Some("pods ||")),
            ("/api/v1/namespaces/a/pods", Some("pods a||")),
            ("/api/v1/namespaces/a/pods/p", Some("pods a|p|")),
            ("/api/v1/namespaces/a/pods/p/binding", Some("pods a|p|binding")),
            ("/api/v1/namespaces", Some("namespaces ||")),
            ("/api/v1/namespaces/a", Some("namespaces |a|")),
            ("/api/v1/nodes/n/status", Some("nodes |n|status")),
            ("/apis/storage.k8s.io/v1/csinodes/n", Some("csinodes.storage.k8s.io |n|")),
            ("/api/v1/pods/p", None),
            ("/api/v1/gizmos", None),
            ("/apis/storage.k8s.io/v1", None),
            ("/readyz", None),
        ];
        for (path, expected) in rows {
            assert_eq!(at(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn verbs_depend_on_method_and_path() {
        let verb = |method: Method, uri: &str| {
            ApiRequest::new(&method, &uri.parse().unwrap(), &HeaderMap::new(), &Bytes::new()).verb
        };
        assert_eq!(verb(Method::GET, "/api/v1/pods"), "list");
        assert_eq!(verb(Method::GET, "/api/v1/pods?watch=true"), "watch");
        assert_eq!(verb(Method::GET, "/api/v1/namespaces/a/pods/p"), "get");
        assert_eq!(verb(Method::GET, "/version"), "get");
        assert_eq!(verb(Method::DELETE, "/api/v1/nodes/n"), "delete");
        assert_eq!(verb(Method::DELETE, "/api/v1/nodes"), "deletecollection");
    }
}
