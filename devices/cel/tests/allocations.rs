//! Usual selectors are evaluated without allocations, except for `lowerAscii`.

use schedc_cel::Selector;

use crate::gpu;

/// Returns the number of allocations of one evaluation.
fn allocations(text: &str) -> u64 {
    let devices = gpu();
    let selector = Selector::compile(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let device = devices.get(0).expect("one device");
    // The first evaluation of a selector with a regular expression allocates the cache of the `regex` package.
    let _ = selector.matches(device);
    allocation_counter::measure(|| drop(std::hint::black_box(selector.matches(device)))).count_total
}

#[test]
fn usual_selectors_do_not_allocate() {
    for text in [
        "device.driver == 'gpu.example.com' && !device.allowMultipleAllocations",
        "device.attributes['gpu.example.com'].model == 'A100'",
        "device.attributes['gpu.example.com'].model.startsWith('A') || device.driver.endsWith('.com')",
        "device.attributes['gpu.example.com'].model.lowerAscii() == 'a100' || true || device.driver == ''",
        "device.attributes['gpu.example.com'].model in ['T4', 'A100']",
        "device.attributes['gpu.example.com'].model.matches('^[AH]100$')",
        "device.attributes['gpu.example.com'].numa + 1 < 3",
        "device.attributes['gpu.example.com'].healthy ? true : device.attributes['gpu.example.com'].numa == 1",
        "device.attributes['gpu.example.com'].driverVersion.compareTo(semver('2.0.0')) < 0",
        "device.attributes['gpu.example.com'].driverVersion.isGreaterThan(semver('1.0.0'))",
        "device.attributes['dra.example.com'].pcieRoot.contains('1')",
        "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0",
        "device.capacity['gpu.example.com'].memory == quantity('40Gi')",
        "has(device.attributes['gpu.example.com'].rare) || 'rare' in device.attributes['gpu.example.com']",
        "device.attributes['gpu.example.com'].?rare.orValue('no') == 'yes'",
        "cel.bind(a, device.attributes['gpu.example.com'], a.healthy && a.numa == 1)",
        "device.attributes['gpu.example.com'].missing == 1 || true",
        "[1, 2, 3].exists(x, x == device.attributes['gpu.example.com'].numa)",
        "device.attributes.size() == 2",
    ] {
        // `lowerAscii` allocates if it changes the text.
        let expected = u64::from(text.contains("lowerAscii"));
        assert_eq!(allocations(text), expected, "{text}");
    }
}
