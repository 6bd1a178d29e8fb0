//! Nominations follow pods.

use crate::queue::desk::Desk;

#[test]
fn a_pod_brings_its_nomination_and_takes_it_along() {
    let mut desk = Desk::new();
    let pod = desk.nominated("web", "n1");
    desk.add_pod(pod);
    assert_eq!(desk.nomination("web"), Some("n1"));
    desk.delete("web");
    assert_eq!(desk.nomination("web"), None);
}

#[test]
fn a_gated_pod_is_nominated_when_its_gate_opens() {
    let mut desk = Desk::new();
    desk.gate("web", "Gate");
    let pod = desk.nominated("web", "n1");
    desk.add_pod(pod);
    assert_eq!(desk.nomination("web"), None);
    desk.open("web");
    desk.event("Gate");
    assert_eq!(desk.nomination("web"), Some("n1"));
}

#[test]
fn an_update_says_where_it_is_nominated_now() {
    let mut desk = Desk::new();
    let none = desk.pod("web", 0);
    let (n1, n2) = (desk.nominated("web", "n1"), desk.nominated("web", "n2"));
    desk.add("web");
    for (old, new, expected) in
        [(&none, &n1, Some("n1")), (&n1, &n2, Some("n2")), (&n2, &none, None), (&none, &none, None)]
    {
        desk.queue.update(0, old, new.clone(), [], &mut desk.plugins, desk.now);
        assert_eq!(desk.nomination("web"), expected);
    }
}

#[test]
fn an_update_that_was_sent_before_the_nomination_was_written_does_not_end_it() {
    let mut desk = Desk::new();
    desk.add("web");
    let (pod, node) = (desk.pod("web", 0), desk.node("n1"));
    desk.plugins.nominator.nominate(pod.clone(), node);
    desk.queue.update(0, &pod.clone(), pod, [], &mut desk.plugins, desk.now);
    assert_eq!(desk.nomination("web"), Some("n1"));
}

#[test]
fn pods_of_a_node_keep_their_order() {
    let mut desk = Desk::new();
    for name in ["a", "b", "c"] {
        let pod = desk.nominated(name, "n1");
        desk.add_pod(pod);
    }
    desk.delete("a");
    let node = desk.node("n1");
    let names: Vec<&str> = desk.plugins.nominator.pods(node).iter().map(|pod| &*pod.name).collect();
    assert_eq!(names, ["b", "c"]);
    desk.delete("b");
    desk.delete("c");
    assert_eq!(desk.plugins.nominator.iter().count(), 0);
}
