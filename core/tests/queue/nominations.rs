//! Nominations follow their pods.

use schedc_core::queue::PodUpdate;

use crate::queue::queue_fixture::QueueFixture;

#[test]
fn a_nomination_is_added_and_removed_with_its_pod() {
    let mut fixture = QueueFixture::new();
    let pod = fixture.nominated("web", "n1");
    fixture.add_pod(pod);
    assert_eq!(fixture.nomination("web"), Some("n1"));
    fixture.delete("web");
    assert_eq!(fixture.nomination("web"), None);
}

#[test]
fn a_gated_pod_is_nominated_when_its_gate_opens() {
    let mut fixture = QueueFixture::new();
    fixture.gate("web", "Gate");
    let pod = fixture.nominated("web", "n1");
    fixture.add_pod(pod);
    assert_eq!(fixture.nomination("web"), None);
    fixture.open("web");
    fixture.event("Gate");
    assert_eq!(fixture.nomination("web"), Some("n1"));
}

#[test]
fn an_update_changes_the_nomination() {
    let mut fixture = QueueFixture::new();
    let none = fixture.pod("web", 0);
    let (n1, n2) = (fixture.nominated("web", "n1"), fixture.nominated("web", "n2"));
    fixture.add("web");
    for (old, new, expected) in
        [(&none, &n1, Some("n1")), (&n1, &n2, Some("n2")), (&n2, &none, None), (&none, &none, None)]
    {
        fixture.queue.update(0, PodUpdate { old, new: new.clone(), events: [] }, &mut fixture.plugins, fixture.now);
        assert_eq!(fixture.nomination("web"), expected);
    }
}

#[test]
fn an_update_that_was_sent_before_the_nomination_was_written_does_not_end_it() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let (pod, node) = (fixture.pod("web", 0), fixture.node("n1"));
    fixture.plugins.nominator.nominate(pod.clone(), node);
    fixture.queue.update(0, PodUpdate { old: &pod.clone(), new: pod, events: [] }, &mut fixture.plugins, fixture.now);
    assert_eq!(fixture.nomination("web"), Some("n1"));
}

#[test]
fn pods_of_a_node_keep_their_order() {
    let mut fixture = QueueFixture::new();
    for name in ["a", "b", "c"] {
        let pod = fixture.nominated(name, "n1");
        fixture.add_pod(pod);
    }
    fixture.delete("a");
    let node = fixture.node("n1");
    let names: Vec<&str> = fixture.plugins.nominator.pods(node).iter().map(|pod| &*pod.name).collect();
    assert_eq!(names, ["b", "c"]);
    fixture.delete("b");
    fixture.delete("c");
    assert_eq!(fixture.plugins.nominator.iter().count(), 0);
}
