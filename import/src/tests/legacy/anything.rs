//! Whatever a file says, there are profiles or errors, and what a profile says is what it means.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::shown;
use crate::{Options, import_any};

/// Words that mean something somewhere.
const WORDS: [&str; 48] = [
    "profiles",
    "plugins",
    "pluginConfig",
    "enabled",
    "disabled",
    "name",
    "weight",
    "args",
    "multiPoint",
    "filter",
    "score",
    "preScore",
    "postFilter",
    "reserve",
    "unreserve",
    "schedulerName",
    "algorithmSource",
    "policy",
    "provider",
    "file",
    "path",
    "configMap",
    "extenders",
    "httpTimeout",
    "predicates",
    "priorities",
    "argument",
    "labelsPresence",
    "labels",
    "presence",
    "labelPreference",
    "label",
    "requestedToCapacityRatioArguments",
    "shape",
    "resources",
    "serviceAffinity",
    "*",
    "data",
    "NodeLabel",
    "EBSLimits",
    "SelectorSpread",
    "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio",
    "NodeResourcesFit",
    "PodTopologySpread",
    "NodeAffinity",
    "addedAffinity",
    "defaultConstraints",
];

fn value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(&WORDS[..]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..3_i64).prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..5)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// Profiles of the right form with plugins at the wrong points, twice, and whatever else.
fn profile() -> impl Strategy<Value = Value> {
    let plugin = (prop::sample::select(&WORDS[36..]), prop::option::of(-1..4_i64))
        .prop_map(|(name, weight)| json!({"name": name, "weight": weight}));
    let list = prop::collection::vec(plugin, 0..4);
    let set = (list.clone(), list).prop_map(|(enabled, disabled)| json!({"enabled": enabled, "disabled": disabled}));
    let point = prop::sample::select(&["multiPoint", "filter", "preScore", "score", "postBind", "unreserve"][..]);
    let config =
        (prop::sample::select(&WORDS[36..]), value()).prop_map(|(name, args)| json!({"name": name, "args": args}));
    (prop::collection::vec((point, set), 0..3), prop::collection::vec(config, 0..3)).prop_map(|(sets, configs)| {
        let sets: Map<String, Value> = sets.into_iter().map(|(point, set)| (point.to_owned(), set)).collect();
        json!({"plugins": sets, "pluginConfig": configs})
    })
}

fn document() -> impl Strategy<Value = String> {
    let group = "kubescheduler.config.k8s.io";
    let versions =
        ["v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"].map(|version| format!("{group}/{version}"));
    let kind = prop_oneof![
        prop::sample::select(versions.to_vec()).prop_map(|version| ("KubeSchedulerConfiguration", version)),
        Just(("Policy", "v1".to_owned())),
        Just(("ConfigMap", "v1".to_owned())),
    ];
    let fields = prop::collection::vec((prop::sample::select(&WORDS[..]), value()), 0..4);
    (kind, fields, prop::collection::vec(profile(), 0..3)).prop_map(|((kind, version), fields, profiles)| {
        let mut document: Map<String, Value> = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        if version.ends_with("v1alpha1") {
            document.extend(profiles.into_iter().filter_map(|profile| profile.as_object().cloned()).flatten());
        } else if kind == "KubeSchedulerConfiguration" {
            document.insert("profiles".to_owned(), profiles.into());
        }
        document.insert("kind".to_owned(), kind.into());
        document.insert("apiVersion".to_owned(), version.into());
        Value::Object(document).to_string()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn profiles_or_errors(text in document(), policy in prop::option::of(document())) {
        let policy = policy.as_deref().map(|text| ("p.json", text));
        let import = import_any("c.json", &text, &Options { name: None, policy });
        let said = shown(&import);
        prop_assert!(!said.contains("bug of schedc"), "{said}");
    }
}
