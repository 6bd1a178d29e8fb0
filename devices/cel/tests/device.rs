//! The variable `device`.

use schedc_cel::{Attribute, Devices, Selector};

use crate::{all_fail, all_false, all_true};

#[test]
fn fields_of_the_device() {
    all_true(
        r#"
        device.driver == "gpu.example.com" && device.driver.endsWith(".example.com")
        !device.allowMultipleAllocations
        device.attributes["gpu.example.com"].model == "A100" && device.attributes["gpu.example.com"]["numa"] == 1
        device.attributes["gpu.example.com"].healthy
        device.attributes["gpu.example.com"].driverVersion.isLessThan(semver("2.0.0"))
        device.attributes["gpu.example.com"].driverVersion.compareTo(semver("1.2.3")) == 0
        device.attributes["dra.example.com"].pcieRoot.contains("1")
        device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) == 0
        device.capacity["gpu.example.com"].memory == quantity("40Gi")
        device.capacity["dra.example.com"].lanes.isGreaterThan(quantity("8"))
        string(device.attributes["gpu.example.com"].numa) == "1"
        device.attributes["gpu.example.com"].numa + 1 < 3
        cel.bind(a, device.attributes["gpu.example.com"], a.healthy && a.numa == 1)
        [device.attributes["gpu.example.com"].model].exists(m, m == "A100")
        device.driver == "gpu.example.com" ? device.attributes["gpu.example.com"].numa == 1 : false
        .device.driver == device.driver
        "#,
    );
}

#[test]
fn missing_domains_are_empty_maps() {
    all_true(
        r#"
        device.attributes["none.example.com"].size() == 0 && device.capacity["none.example.com"] == {}
        has(device.attributes.none) && !has(device.attributes["none.example.com"].x)
        !("none.example.com" in device.attributes) && "gpu.example.com" in device.attributes
        !("x" in device.attributes["none.example.com"]) && !("memory" in device.capacity["none.example.com"])
        device.attributes[?"none.example.com"].hasValue() && !device.attributes[?"none.example.com"].x.hasValue()
        device.attributes["none.example.com"].?x.orValue("no") == "no"
        "#,
    );
    all_fail(&[
        ("device.attributes['none.example.com'].x", "run: no such key: x"),
        ("device.attributes['gpu.example.com'].missing == 'x'", "run: no such key: missing"),
        ("device.capacity['gpu.example.com'].x == quantity('1')", "run: no such key: x"),
    ]);
}

#[test]
fn presence() {
    all_true(
        r#"
        has(device.attributes["gpu.example.com"].model) && has(device.driver) && has(device.attributes)
        "model" in device.attributes["gpu.example.com"] && "memory" in device.capacity["gpu.example.com"]
        device.attributes["gpu.example.com"].?model.orValue("no") == "A100"
        device.attributes["gpu.example.com"].?model.value() == "A100"
        device.attributes["gpu.example.com"][?"none"].or(optional.of("x")).value() == "x"
        "#,
    );
    all_false(
        r#"
        has(device.attributes["gpu.example.com"].none)
        "none" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].none == "x"
        device.attributes["gpu.example.com"].?none.hasValue()
        "#,
    );
}

#[test]
fn maps_of_the_device() {
    all_true(
        r#"
        device.attributes.size() == 2 && device.attributes["gpu.example.com"].size() == 4
        device.attributes.all(d, d in ["gpu.example.com", "dra.example.com"])
        device.attributes["gpu.example.com"].exists(k, k == "model")
        device.attributes.exists(d, k, k.exists(n, n == "pcieRoot"))
        device.attributes["gpu.example.com"].exists(k, v, v == "A100")
        device.capacity.map(d, d).size() == 2
        device.capacity["gpu.example.com"].all(n, q, q.isGreaterThan(quantity("1Gi")))
        device.attributes == device.attributes && device == device
        "#,
    );
}

#[test]
fn attributes_of_other_types_are_not_equal() {
    all_true(
        r#"
        device.attributes["gpu.example.com"].model != 3 && !(device.attributes["gpu.example.com"].numa == "1")
        device.attributes["gpu.example.com"].numa == 1.0
        "#,
    );
    all_fail(&[
        ("device.attributes['gpu.example.com'].model > 3", "run: no such overload"),
        ("device.attributes['gpu.example.com'].driverVersion == '1.2.3'", "run: no such overload"),
        ("device.attributes['gpu.example.com'].model.foo == 1", "run: no such key: foo"),
        ("device.attributes['gpu.example.com'].model", "run: CEL result of type string could not be converted to bool"),
        ("int(device.attributes['gpu.example.com'].model) == 1", "type conversion error from 'string' to 'int'"),
    ]);
}

#[test]
fn devices_with_an_invalid_attribute_fail_to_match() {
    let mut devices = Devices::new();
    devices.add("nic.example.com", true).attribute("rdma", Attribute::Bool(true));
    devices.add("nic.example.com", false).version("firmware", "1.2");
    devices.add("nic.example.com", false).unsupported("firmware");
    let shared = Selector::compile("device.allowMultipleAllocations").expect("a selector");
    let result = |index| shared.matches(devices.get(index).expect("a device")).map_err(|error| error.to_string());
    assert_eq!(result(0), Ok(true));
    let invalid = "attribute firmware: parse semantic version: No Major.Minor.Patch elements found";
    assert_eq!(result(1), Err(invalid.to_owned()));
    assert_eq!(result(2), Err("attribute firmware: unsupported attribute value".to_owned()));
    assert!(devices.get(3).is_none());
    assert_eq!(shared.evaluate(&devices).matches(), [0b001]);
    assert_eq!(shared.evaluate(&devices).failures(), [0b110]);
}
