//! Requests for a number of devices.

use schedc_core::model::ConfigurationSource;

use crate::cluster::Cluster;
use crate::{NONE, models, part, request, selector};

#[test]
fn the_first_free_devices_are_taken_by_pool_and_position() {
    let mut cluster = Cluster::with_class();
    cluster.slice("q", "{name: z}, {name: x}");
    cluster.slice("p", "{name: b}, {name: a}");
    assert_eq!(cluster.devices(&[&request(3, "")]), "r=b r=a r=z");
    assert_eq!(cluster.hold(&request(1, "")), "r=b");
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=a");
    cluster.release(1);
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=b");
}

#[test]
fn claims_of_a_pod_do_not_share_devices() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}, {name: b}");
    assert_eq!(cluster.devices(&[&request(1, ""), &request(1, "")]), "r=a r=b");
    assert_eq!(cluster.devices(&[&request(2, ""), &request(1, "")]), NONE);
}

#[test]
fn a_later_request_makes_an_earlier_one_take_another_device() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "big"), ("b", "small")]));
    let big = selector(r#"device.attributes["gpu"].model == "big""#);
    let claim = format!("requests: [{}, {}]", part("any", 1, ""), part("big", 1, &big));
    assert_eq!(cluster.devices(&[&claim]), "any=b big=a");
}

#[test]
fn a_selector_fails_the_attempt_only_on_devices_that_are_tried() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &format!("{}, {{name: b}}", models(&[("a", "big")])));
    let big = selector(r#"device.attributes["gpu"].model == "big""#);
    assert_eq!(cluster.devices(&[&request(1, &big)]), "r=a");
    let message = cluster.devices(&[&request(2, &big)]);
    assert!(message.starts_with("claim default/c0: selector #0: CEL runtime error: no such key"), "{message}");
    cluster.hold(&request(2, ""));
    assert_eq!(cluster.devices(&[&request(2, &big)]), NONE, "devices in use are not tried");
}

#[test]
fn a_selector_that_does_not_compile_fails_on_the_first_device() {
    let mut cluster = Cluster::with_class();
    let broken = request(1, &selector("nothing"));
    assert_eq!(cluster.devices(&[&broken]), NONE, "without a device, the selector is not evaluated");
    cluster.slice("p", "{name: a}");
    let message = cluster.devices(&[&broken]);
    assert!(message.starts_with("claim default/c0: selector #0: CEL compile error: "), "{message}");
    cluster.class("gpu", "also-nothing");
    let message = cluster.devices(&[&broken]);
    assert!(message.starts_with("class gpu: selector #0: CEL compile error: "), "{message}");
    cluster.class("gpu", r#"device.driver == "other""#);
    assert_eq!(cluster.devices(&[&broken]), NONE, "the selector of the class already excludes the device");
}

#[test]
fn a_claim_has_at_most_32_devices() {
    let mut cluster = Cluster::with_class();
    let devices: Vec<_> = (0..40).map(|at| format!("{{name: d{at}}}")).collect();
    cluster.slice("p", &devices.join(","));
    assert!(cluster.devices(&[&request(32, "")]).ends_with("r=d31"));
    let message = "claim default/c0: number of requested devices 33 exceeds the claim limit of 32";
    assert_eq!(cluster.devices(&[&request(33, "")]), message);
}

#[test]
fn a_slice_may_have_more_than_64_devices() {
    let mut cluster = Cluster::with_class();
    let devices: Vec<_> = (0..70).map(|at| format!("{{name: d{at}, attributes: {{at: {{int: {at}}}}}}}")).collect();
    cluster.slice("p", &devices.join(","));
    let claim = request(3, &selector(r#"device.attributes["gpu"].at >= 63"#));
    assert_eq!(cluster.devices(&[&claim]), "r=d63 r=d64 r=d65");
}

#[test]
fn a_deadline_ends_a_long_search() {
    let mut cluster = Cluster::with_class();
    let devices: Vec<_> =
        (0..30).map(|at| format!("{{name: d{at}, attributes: {{model: {{int: {}}}}}}}", at / 2)).collect();
    cluster.slice("p", &devices.join(","));
    let claim = format!(
        "requests: [{}, {}], constraints: [{{distinctAttribute: gpu/model}}]",
        part("r", 12, ""),
        part("never", 1, &selector("false"))
    );
    let spec = cluster.spec(&claim);
    let prepared = cluster.inventory.prepare(&[spec], &cluster.interner);
    let mut checks = 0;
    let expires = || {
        checks += 1;
        checks > 10
    };
    let unfit = cluster.inventory.evaluate(&prepared, &cluster.nodes["n1"], &cluster.interner, expires).unwrap_err();
    let schedc_device_allocator::Unfit::Failed(failure) = unfit else { panic!("{unfit:?}") };
    assert!(failure.is_interruption());
}

#[test]
fn configuration_of_classes_comes_first_and_names_all_their_requests() {
    let mut cluster = Cluster::with_class();
    let opaque = |text: &str| format!("{{opaque: {{driver: gpu, parameters: {{from: {text}}}}}}}");
    cluster.object(&format!(
        "{{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {{name: gpu}}, spec: {{config: [{}]}}}}",
        opaque("class")
    ));
    cluster.slice("p", "{name: a}, {name: b}");
    let own = |requests: &str| opaque("claim").replacen('{', &format!("{{requests: [{requests}], "), 1);
    let claim = format!(
        "requests: [{}, {}], config: [{}, {}, {}]",
        part("r", 1, ""),
        part("s", 1, ""),
        own("s"),
        own(""),
        own("t")
    );
    let spec = cluster.spec(&claim);
    let allocations = cluster.allocate_on("n1", &[spec]).unwrap();
    let config = allocations[0].config.iter().map(|config| (config.source, config.requests.len()));
    let expected = [(ConfigurationSource::Class, 2), (ConfigurationSource::Claim, 1), (ConfigurationSource::Claim, 0)];
    assert_eq!(config.collect::<Vec<_>>(), expected);
}
