//! The scheduling queue with a million pending pods, and with 100,000 gated ones: bytes per pod, and the time of each
//! operation. `cargo bench -p schedc-benches --bench queue`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use schedc_core::args::NoArgs;
use schedc_core::cache::Nominator;
use schedc_core::extension_points::{QueueSortPlugin, QueuedPod, QueueingHint};
use schedc_core::intern::Interner;
use schedc_core::model::{Pod, PodSpec, Uid};
use schedc_core::queue::{Options, QueueContext, QueueOrder, Rejectors, SchedulingQueue};
use schedc_core::status::Status;
use schedc_objects::testing;
use schedc_plugins::PrioritySort;

const PENDING: usize = 1_000_000;
const GATED: usize = 100_000;
/// Number of different priorities of pods.
const PRIORITIES: i32 = 5;

struct ByPriority;
impl QueueOrder for ByPriority {
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
        PrioritySort::less(&NoArgs, a, b)
    }
}

/// Plugins whose hints skip every event.
#[derive(Default)]
struct Plugins {
    gates: bool,
    nominator: Nominator,
}
impl QueueContext for Plugins {
    type Event = &'static str;
    type Interested = ();

    fn pre_enqueue(&mut self, _: usize, _: &Pod) -> Result<(), Status> {
        if self.gates { Err(Status::unresolvable("gated").with_plugin("Gate")) } else { Ok(()) }
    }
    fn interested(&mut self, _: usize, plugins: &[&'static str], event: &&'static str) -> Option<()> {
        plugins.contains(event).then_some(())
    }
    fn hint(&mut self, _: usize, (): &(), _: &QueuedPod, _: &&'static str) -> QueueingHint {
        QueueingHint::Skip
    }
    fn nominator(&mut self) -> &mut Nominator {
        &mut self.nominator
    }
}

type Queue = SchedulingQueue<ByPriority, &'static str>;

/// Creates pods with uids in the API server's format.
fn pods(from: usize, count: usize) -> Vec<Arc<Pod>> {
    let template = testing::pod("metadata: {name: any}", &mut Interner::default());
    let spec = |priority| Arc::new(PodSpec { priority, ..PodSpec::clone(&template.spec) });
    let specs: Vec<Arc<PodSpec>> = (0..PRIORITIES).map(spec).collect();
    let uid = |at: usize| Uid(format!("{:08x}-0000-4000-8000-{at:012x}", at.wrapping_mul(0x9e37_79b9) as u32).into());
    let pod = |at: usize| Pod { uid: uid(at), spec: specs[at % specs.len()].clone(), ..template.clone() };
    (from..from + count).map(|at| Arc::new(pod(at))).collect()
}

fn add(queue: &mut Queue, plugins: &mut Plugins, pods: &[Arc<Pod>]) {
    for (at, pod) in pods.iter().enumerate() {
        // The result, whether a plugin holds the pod, does not matter: held pods are in the queue, too.
        let _held = queue.add(0, pod.clone(), at as i64, plugins, 0);
    }
}

/// Rejects all pods that can be popped.
fn reject_all(queue: &mut Queue, plugins: &mut Plugins) {
    while let Some(attempt) = queue.pop(plugins, 0) {
        queue.requeue(attempt, Rejectors::new(["NodeResourcesFit"], []), plugins, 0);
    }
}

/// Returns the time of `n` calls of `act`. After every `pods` calls, and at the end, `undo` is called; its time does
/// not count.
fn in_turns(n: u64, pods: usize, mut act: impl FnMut(usize), mut undo: impl FnMut()) -> Duration {
    let (mut left, mut time) = (n as usize, Duration::ZERO);
    while left > 0 {
        let now = left.min(pods);
        let start = Instant::now();
        (0..now).for_each(&mut act);
        time += start.elapsed();
        left -= now;
        undo();
    }
    time
}

fn memory(pods: &[Arc<Pod>]) {
    let mut plugins = Plugins::default();
    let mut queue = Queue::new(Options::default());
    let per_pod =
        |what: &str, bytes: i64, pods: usize| println!("{what}: {:.1} bytes per pod", bytes as f64 / pods as f64);
    let pending = allocation_counter::measure(|| add(&mut queue, &mut plugins, pods));
    per_pod("a million pending pods", pending.bytes_current, pods.len());
    let unschedulable = allocation_counter::measure(|| reject_all(&mut queue, &mut plugins));
    per_pod("all of them unschedulable", pending.bytes_current + unschedulable.bytes_current, pods.len());
    let (mut queue, mut plugins) = (Queue::new(Options::default()), Plugins { gates: true, ..Plugins::default() });
    let gated = allocation_counter::measure(|| add(&mut queue, &mut plugins, &pods[..GATED]));
    per_pod("100,000 gated pods", gated.bytes_current, GATED);
}

fn pending(criterion: &mut Criterion) {
    let (pods, others) = (pods(0, PENDING), pods(PENDING, PENDING / 10));
    memory(&pods);
    let plugins = &mut Plugins::default();
    let queue = &mut Queue::new(Options::default());
    let mut group = criterion.benchmark_group("a million pending pods");
    group.bench_function("a queue of a million, filled", |bencher| {
        bencher.iter_custom(|n| {
            let fill = |_| {
                let mut queue = Queue::new(Options::default());
                let start = Instant::now();
                add(&mut queue, plugins, &pods);
                start.elapsed()
            };
            (0..n).map(fill).sum()
        });
    });
    add(queue, plugins, &pods);
    let queue = std::cell::RefCell::new(queue);
    let plugins = std::cell::RefCell::new(plugins);
    let queue = || queue.borrow_mut();
    let plugins = || plugins.borrow_mut();
    group.bench_function("a pod is added", |bencher| {
        bencher.iter_custom(|n| {
            let add = |at: usize| _ = queue().add(0, others[at].clone(), 0, &mut **plugins(), 0);
            let delete = || others.iter().for_each(|pod| _ = queue().delete(&pod.uid, &mut **plugins()));
            in_turns(n, others.len(), add, delete)
        });
    });
    group.bench_function("the first is popped and bound, and a pod is added", |bencher| {
        bencher.iter_custom(|n| {
            let turn = |_| {
                let (queue, plugins) = (&mut **queue(), &mut **plugins());
                let Some(attempt) = queue.pop(plugins, 0) else { unreachable!("there are a million") };
                let pod = attempt.pod().clone();
                queue.bound(attempt, plugins);
                let _held = queue.add(0, pod, 0, plugins, 0);
            };
            in_turns(n, usize::MAX, turn, || ())
        });
    });
    group.bench_function("the first is popped, and rejected as unschedulable", |bencher| {
        bencher.iter_custom(|n| {
            let turn = |_| {
                let (queue, plugins) = (&mut **queue(), &mut **plugins());
                let Some(attempt) = queue.pop(plugins, 0) else { unreachable!("there are a million") };
                queue.requeue(attempt, Rejectors::new(["NodeResourcesFit"], []), plugins, 0);
            };
            let wake = || pods.iter().for_each(|pod| _ = queue().activate(&pod.uid, &mut **plugins(), 0));
            in_turns(n, PENDING / 2, turn, wake)
        });
    });
    reject_all(&mut queue(), &mut plugins());
    group.bench_function("all unschedulable; an event that no rejecting plugin registered", |bencher| {
        bencher.iter(|| queue().on_event(black_box("NodeAffinity"), |_| true, &mut **plugins(), 0));
    });
    group.bench_function("all unschedulable; an event that all hints skip", |bencher| {
        bencher.iter(|| queue().on_event(black_box("NodeResourcesFit"), |_| true, &mut **plugins(), 0));
    });
    group.finish();
}

fn gated(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("an event that does not concern gated pods");
    for count in [1, GATED] {
        let mut plugins = Plugins { gates: true, ..Plugins::default() };
        let mut queue = Queue::new(Options::default());
        add(&mut queue, &mut plugins, &pods(0, count));
        group.bench_function(format!("gated pods: {count}"), |bencher| {
            bencher.iter(|| queue.on_event(black_box("NodeResourcesFit"), |_| true, &mut plugins, 0));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    targets = pending, gated
}
criterion_main!(benches);
