//! An extender in the form of kube-scheduler's configuration.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The fields with their names in profiles and in kube-scheduler's configuration, which has no other fields.
const EXTENDER: [(&str, &str); 12] = [
    ("url-prefix", "urlPrefix"),
    ("filter-verb", "filterVerb"),
    ("preempt-verb", "preemptVerb"),
    ("prioritize-verb", "prioritizeVerb"),
    ("weight", "weight"),
    ("bind-verb", "bindVerb"),
    ("enable-https", "enableHTTPS"),
    ("tls-config", "tlsConfig"),
    ("http-timeout", "httpTimeout"),
    ("node-cache-capable", "nodeCacheCapable"),
    ("managed-resources", "managedResources"),
    ("ignorable", "ignorable"),
];

const TLS: [(&str, &str); 5] = [
    ("insecure", "insecure"),
    ("server-name", "serverName"),
    ("cert-file", "certFile"),
    ("key-file", "keyFile"),
    ("ca-file", "caFile"),
];

/// The fields with bytes, which are written in base64.
const TLS_BYTES: [(&str, &str); 3] = [("cert-data", "certData"), ("key-data", "keyData"), ("ca-data", "caData")];

const RESOURCE: [(&str, &str); 2] = [("name", "name"), ("ignored-by-scheduler", "ignoredByScheduler")];

/// Writes an extender, given its settings with the keys of a profile.
#[derive(Debug)]
pub(super) struct Extender<'p>(pub(super) &'p Value);

impl Serialize for Extender<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, name) in EXTENDER {
            match (key, self.0.get(key)) {
                (_, None) => {}
                ("tls-config", Some(tls)) => map.serialize_entry(name, &Tls(tls))?,
                ("managed-resources", Some(Value::Array(resources))) => {
                    let resources: Vec<_> = resources.iter().map(|resource| Renamed(resource, &RESOURCE)).collect();
                    map.serialize_entry(name, &resources)?;
                }
                (_, Some(value)) => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

/// A table with renamed keys.
struct Renamed<'p>(&'p Value, &'static [(&'static str, &'static str)]);

impl Serialize for Renamed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.1.iter().filter_map(|(key, name)| Some((name, self.0.get(key)?))))
    }
}

struct Tls<'p>(&'p Value);

impl Serialize for Tls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let settings = TLS.into_iter().filter_map(|(key, name)| Some((name, self.0.get(key)?.clone())));
        let bytes = TLS_BYTES
            .into_iter()
            .filter_map(|(key, name)| Some((name, Value::from(STANDARD.encode(self.0.get(key)?.as_str()?)))));
        serializer.collect_map(settings.chain(bytes))
    }
}
