//! Time of a full evaluation, from PreFilter to the totals: the generated pipeline, loops written by hand, and the
//! interpreted profile with the same plugins behind trait objects. `cargo bench -p schedc-benches --bench pipelines`

mod support;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use support::{IMPLEMENTATIONS, KINDS, PROFILES, assert_agreement, implementations, setup};

fn pipelines(criterion: &mut Criterion) {
    for nodes in [100, 1_000, 5_000] {
        assert_agreement(nodes);
        let (mut cluster, pods) = setup(nodes);
        for profile in PROFILES {
            let mut group = criterion.benchmark_group(format!("{profile}/{nodes} nodes"));
            group.throughput(Throughput::Elements((nodes * KINDS.len()) as u64));
            for (name, mut implementation) in IMPLEMENTATIONS.iter().zip(implementations(profile, &mut cluster, &pods))
            {
                group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                    bencher
                        .iter(|| (0..KINDS.len()).map(|kind| implementation.pass(kind, &cluster).ties).sum::<usize>());
                });
            }
            group.finish();
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    targets = pipelines
}
criterion_main!(benches);
