//! Selectors over tables of devices.

use schedc_cel::{Attribute, Devices, Selector};

/// Creates devices with many different values. Some devices lack an attribute.
fn devices(count: usize) -> Devices {
    let mut devices = Devices::new();
    for i in 0..count {
        let driver = if i % 3 == 0 { "gpu.example.com" } else { "nic.example.com" };
        let mut device = devices.add(driver, i % 5 == 0).attribute("index", Attribute::Int(i as i64));
        if i % 2 == 0 {
            device = device.attribute("gpu.example.com/model", Attribute::String(format!("m{}", i % 4).into()));
        }
        device.capacity("memory", format!("{}Gi", i % 7).parse().expect("a quantity"));
    }
    devices
}

#[test]
fn columns_agree_with_single_evaluations() {
    let devices = devices(500);
    for text in [
        "device.driver == 'gpu.example.com'",
        "device.allowMultipleAllocations && device.driver != 'gpu.example.com'",
        "device.attributes['gpu.example.com'].model == 'm2'",
        "device.attributes['gpu.example.com'].?model.orValue('none') == 'none'",
        "has(device.attributes['gpu.example.com'].model) && device.attributes['gpu.example.com'].model != 'm0'",
        "device.attributes[device.driver].index % 3 == 1",
        "device.capacity['nic.example.com'].memory.isGreaterThan(quantity('3Gi'))",
        "device.attributes.size() > 1",
        "device.attributes.all(d, d == device.driver)",
        "cel.bind(a, device.attributes['gpu.example.com'], has(a.model) && a.model == 'm0')",
        "cel.bind(a, device.attributes['gpu.example.com'], a.?model.orValue('x') == 'x' || a.size() > 1)",
        "cel.bind(c, device.capacity['nic.example.com'], 'memory' in c && c.memory == quantity('3Gi'))",
        "cel.bind(a, device.attributes['gpu.example.com'], a.index == 3 || a.model == 'm0')",
        "true",
        "device.attributes['none.example.com'].x",
    ] {
        let selector = Selector::compile(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let verdicts = selector.evaluate(&devices);
        for i in 0..devices.len() {
            let result = selector.matches(devices.get(i).expect("a device"));
            let bit = |words: &[u64]| words[i / 64] >> (i % 64) & 1 == 1;
            assert_eq!(bit(verdicts.matches()), result == Ok(true), "{text} for device {i}");
            assert_eq!(bit(verdicts.failures()), result.is_err(), "{text} for device {i}");
        }
    }
}

#[test]
fn a_table_without_devices_has_no_results() {
    let devices = Devices::new();
    assert!(devices.is_empty());
    let verdicts = Selector::compile("true").expect("a selector").evaluate(&devices);
    assert!(verdicts.matches().is_empty());
    let error = Selector::compile("true").expect("a selector").bind(&devices).matches(0).expect_err("no device");
    assert_eq!(error.to_string(), "there is no device 0");
}

#[test]
fn selectors_are_shared_between_threads() {
    let selector =
        Selector::compile("device.attributes['gpu.example.com'].model.matches('m[0-2]')").expect("a selector");
    let devices = devices(100);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| selector.evaluate(&devices))).collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        assert_eq!(results[0], results[1]);
    });
}
