//! Requests with alternatives.

use crate::cluster::Cluster;
use crate::{NONE, models, selector};

/// Returns a request for one of the models, in order of preference.
fn first_of(name: &str, alternatives: &[(&str, u32)]) -> String {
    let alternative = |(model, count): &(&str, u32)| {
        let selector = selector(&format!(r#"device.attributes["gpu"].model == "{model}""#));
        format!("{{name: {model}, deviceClassName: gpu, allocationMode: ExactCount, count: {count}, {selector}}}")
    };
    let alternatives: Vec<_> = alternatives.iter().map(alternative).collect();
    format!("{{name: {name}, firstAvailable: [{}]}}", alternatives.join(", "))
}

#[test]
fn the_first_alternative_with_devices_is_taken() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "small"), ("b", "big"), ("c", "small")]));
    let claim = format!("requests: [{}]", first_of("r", &[("big", 2), ("small", 2), ("big", 1)]));
    assert_eq!(cluster.devices(&[&claim]), "r/small=a r/small=c");
}

#[test]
fn the_score_adds_up_the_ranks_of_alternatives() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "small"), ("b", "big")]));
    let requests = [first_of("r", &[("big", 1), ("small", 1)]), first_of("s", &[("big", 1), ("small", 1)])].join(", ");
    let spec = cluster.spec(&format!("requests: [{requests}]"));
    let prepared = cluster.inventory.prepare(&[spec], &cluster.interner);
    let verdict = cluster.inventory.evaluate(&prepared, &cluster.nodes["n1"], &cluster.interner, || false);
    assert_eq!(verdict.unwrap().score, 8 + 7);
}

#[test]
fn an_alternative_that_exceeds_32_devices_is_skipped() {
    let mut cluster = Cluster::with_class();
    let devices: Vec<_> = (0..33).map(|at| format!("d{at}")).collect();
    let devices: Vec<_> = devices.iter().map(|name| (name.as_str(), "big")).collect();
    cluster.slice("p", &models(&devices));
    let claim =
        format!("requests: [{}, {}]", first_of("r", &[("big", 31)]), first_of("s", &[("big", 2), ("small", 0)]));
    let shown = cluster.devices(&[&claim]);
    assert!(shown.ends_with("r/big=d30"), "{shown}");
    let claim =
        format!("requests: [{}, {}]", first_of("r", &[("big", 31)]), first_of("s", &[("big", 2), ("small", 1)]));
    assert_eq!(cluster.devices(&[&claim]), NONE);
}

#[test]
fn a_constraint_may_name_one_alternative() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "big"), ("b", "big"), ("c", "small")]));
    let requests = format!("requests: [{}]", first_of("r", &[("big", 2), ("small", 1)]));
    let constraint = "constraints: [{requests: [r/big], distinctAttribute: gpu/model}]";
    assert_eq!(cluster.devices(&[&requests]), "r/big=a r/big=b");
    assert_eq!(cluster.devices(&[&format!("{requests}, {constraint}")]), "r/small=c");
}
