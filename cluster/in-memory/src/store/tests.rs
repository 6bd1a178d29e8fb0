use serde_json::{Value, json};

use super::*;

fn key() -> Key {
    Key::new("Node", "", "a")
}

#[test]
fn only_changes_get_a_version() {
    let mut store = Store::default();
    let first = store.put(&key(), json!({"metadata": {}, "spec": 1}));
    assert_eq!(first["metadata"]["resourceVersion"], "1");
    store.put(&key(), json!({"metadata": {}, "spec": 1}));
    assert_eq!(store.version(), 1);
    store.put(&key(), json!({"metadata": {}, "spec": 2}));
    let gone = store.remove(&key(), |object| object["spec"] = 3.into()).unwrap();
    assert_eq!(*gone, json!({"metadata": {"resourceVersion": "3"}, "spec": 3}));
    assert_eq!(store.remove(&key(), |_| {}), None);

    let changes: Vec<_> = store.since(1).map(|change| (change.version, change.kind)).collect();
    assert_eq!(changes, [(2, ChangeKind::Modified), (3, ChangeKind::Deleted)]);
}

#[test]
fn history_has_previous_objects() {
    let mut store = Store::with_history(9);
    store.put(&key(), json!({"metadata": {}, "spec": 1}));
    store.modify(&key(), |object| object["spec"] = 2.into());
    store.remove(&key(), |_| {});
    let specs =
        |change: &Change<Value>| (change.previous.as_ref().map(|it| it["spec"].clone()), change.object["spec"].clone());
    let changes: Vec<_> = store.since(0).map(specs).collect();
    assert_eq!(changes, [(None, json!(1)), (Some(json!(1)), json!(2)), (Some(json!(2)), json!(2))]);
}

#[test]
fn compaction_and_restarts_end_versions_for_new_watches_only() {
    let mut store = Store::default();
    store.put(&key(), json!({"metadata": {}}));
    store.compact();
    assert_eq!(store.oldest(), 1);
    assert!(store.has_changes_since(0), "open watches continue");
    store.expire_versions();
    assert_eq!((store.version(), store.oldest()), (2, 2));
}

#[test]
fn the_number_of_changes_is_limited() {
    let mut store = Store::with_history(2);
    for spec in 0..5 {
        store.put(&key(), json!({"metadata": {}, "spec": spec}));
    }
    assert_eq!(store.since(0).map(|change| change.version).collect::<Vec<_>>(), [4, 5]);
    assert_eq!((store.oldest(), store.has_changes_since(2), store.has_changes_since(3)), (3, false, true));
}

#[test]
fn lists_are_limited_to_a_namespace() {
    let mut store = Store::default();
    for (namespace, name) in [("b", "x"), ("a", "y"), ("a", "x")] {
        store.put(&Key::new("Pod", namespace, name), json!({"metadata": {}, "id": format!("{namespace}/{name}")}));
    }
    store.put(&key(), json!({"metadata": {}, "id": "a"}));
    let list = |namespace| store.list("Pod", namespace).map(|object| object["id"].clone()).collect::<Vec<_>>();
    assert_eq!(list(""), ["a/x", "a/y", "b/x"]);
    assert_eq!((list("b"), list("c")), (vec![json!("b/x")], vec![]));
    assert_eq!(store.all().count(), 4);
}
