//! `[[extender]]`.

use serde_json::{Value, json};

use super::{args, described, table};
use crate::parse::{TLS_KEYS, VERBS};
use crate::schema::Format;

pub(super) fn schema() -> Value {
    let boolean = |doc: &str| described(json!({ "type": "boolean", "default": false }), doc);
    let verbs = VERBS.map(|verb| {
        let doc = "the path of the call for this step, after `url-prefix` and a `/`; without it, this step does not \
                   call the extender";
        (verb, described(args::string(Format::NonEmpty), doc))
    });
    let others = [
        (
            "url-prefix",
            described(json!({ "type": "string", "pattern": "^https?://[^/?#@]" }), "the URL of the extender"),
        ),
        ("weight", described(args::integer(Some(1), None), "the factor of the scores of `prioritize-verb`")),
        ("enable-https", boolean("whether the extender is called by HTTPS")),
        ("tls-config", described(tls(), "certificates of HTTPS")),
        ("http-timeout", described(args::string(Format::Duration), "the limit of one call; default 5s")),
        ("node-cache-capable", boolean("whether calls have names of nodes in place of nodes")),
        (
            "managed-resources",
            described(
                json!({ "type": "array", "items": managed_resource() }),
                "the extender is called for pods that request one of these; without the key, for all pods",
            ),
        ),
        ("ignorable", boolean("whether scheduling continues without the extender if a call fails")),
    ];
    table(verbs.into_iter().chain(others), &["url-prefix"])
}

fn tls() -> Value {
    let setting = |key: &'static str| match key {
        "insecure" => (key, json!({ "type": "boolean", "default": false })),
        _ => (key, args::string(Format::NonEmpty)),
    };
    table(TLS_KEYS.map(setting), &[])
}

fn managed_resource() -> Value {
    let ignored = described(
        json!({ "type": "boolean", "default": false }),
        "whether NodeResourcesFit leaves this resource to the extender",
    );
    table([("name", args::string(Format::QualifiedName)), ("ignored-by-scheduler", ignored)], &["name"])
}

#[cfg(test)]
mod tests {
    use super::schema;
    use crate::parse::EXTENDER_KEYS;

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema = schema();
        let mut keys: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut read: Vec<&str> = EXTENDER_KEYS.to_vec();
        keys.sort_unstable();
        read.sort_unstable();
        assert_eq!(keys, read);
    }
}
