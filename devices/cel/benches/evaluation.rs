//! Time to compile a selector, to evaluate one device, and to evaluate a table of 1,000 devices. Apart from an index
//! that no selector names, the attributes have 8 combinations of values.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use schedc_cel::{Attribute, Devices, Selector};

/// Selectors by name.
const SELECTORS: [(&str, &str); 9] = [
    ("driver", "device.driver == 'gpu.example.com'"),
    ("string", "device.attributes['gpu.example.com'].model == 'A100'"),
    ("bool", "device.attributes['gpu.example.com'].healthy"),
    ("version", "device.attributes['gpu.example.com'].driverVersion.compareTo(semver('2.0.0')) < 0"),
    ("quantity", "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0"),
    ("regex", "device.attributes['gpu.example.com'].model.matches('^[AH]100$')"),
    ("bind", "cel.bind(a, device.attributes['gpu.example.com'], a.healthy && a.numa < 2)"),
    ("optional", "device.attributes['gpu.example.com'].?rare.orValue('no') == 'no'"),
    ("loop", "device.attributes['gpu.example.com'].exists(k, k == 'model')"),
];

fn devices() -> Devices {
    let mut devices = Devices::new();
    for i in 0..1_000 {
        devices
            .add("gpu.example.com", false)
            .attribute("model", Attribute::String(["A100", "H100", "T4", "L4"][i % 4].into()))
            .attribute("numa", Attribute::Int((i % 2) as i64))
            .attribute("healthy", Attribute::Bool(i % 5 != 0))
            .attribute("index", Attribute::Int(i as i64))
            .version("driverVersion", ["1.2.3", "2.0.0"][i % 2])
            .capacity("memory", ["40Gi", "80Gi"][i % 2].parse().expect("a quantity"));
    }
    devices
}

fn evaluation(criterion: &mut Criterion) {
    let devices = devices();
    let compile = |text| Selector::compile(text).expect("a selector");
    let mut group = criterion.benchmark_group("compile");
    for (name, text) in SELECTORS {
        group.bench_function(name, |bencher| bencher.iter(|| compile(black_box(text))));
    }
    group.finish();
    let mut group = criterion.benchmark_group("device");
    for (name, text) in SELECTORS {
        let selector = compile(text);
        let bound = selector.bind(&devices);
        group.bench_function(name, |bencher| bencher.iter(|| bound.matches(black_box(7))));
    }
    group.finish();
    let mut group = criterion.benchmark_group("table");
    group.throughput(Throughput::Elements(devices.len() as u64));
    for (name, text) in SELECTORS {
        let selector = compile(text);
        group.bench_function(name, |bencher| bencher.iter(|| selector.evaluate(black_box(&devices))));
    }
    group.finish();
}

criterion_group!(benches, evaluation);
criterion_main!(benches);
