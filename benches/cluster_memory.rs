//! Memory of the scheduler for nodes and running pods, without an API server:
//! `cargo bench -p schedc-benches --bench cluster_memory -- --nodes 10000 --pods 10`.
//!
//! Each pod has a unique name and uid, and shares its spec with the pods of its template, as pods of a Deployment do. The
//! bytes are those that the scheduler has allocated and not freed. The row `placed pods` has the pods that the scheduler
//! placed itself; the lines after the table are the sizes of its caches.

#[path = "decisions/objects.rs"]
#[allow(dead_code, reason = "another benchmark uses the other pods")]
mod objects;

use schedc_core::minimal_cluster::{InlineTasks, NoopClient};
use schedc_core::model::{Pod, Uid};
use schedc_core::scheduler::{Change, Options, Scheduler};

mod scheduler {
    schedc_macros::profile!("../profiles/default.toml");
}

type ClusterScheduler = Scheduler<scheduler::Profiles, NoopClient>;

/// Returns a pod with a unique name. As after decoding, it does not share its name, namespace and uid with other pods in
/// memory.
fn pod(number: usize, template: &Pod) -> Pod {
    let name = format!("web-5f6b7c8d9-{number:07}");
    let uid = Uid(format!("{number:08x}-0000-4000-8000-000000000000").into());
    Pod { uid, name: name.into(), namespace: (*template.namespace).into(), ..template.clone() }
}

/// Prints the bytes that an action allocates and does not free.
fn print(what: &str, unit: &str, count: usize, action: impl FnOnce()) -> i64 {
    let bytes = allocation_counter::measure(action).bytes_current;
    println!("| {what:<28} | {bytes:>13} | {:>8} {unit:<6} |", bytes / count.max(1) as i64);
    bytes
}

fn main() {
    let given = |option: &str| std::env::args().skip_while(|argument| argument != option).nth(1);
    let number = |option: &str, default| given(option).and_then(|given| given.parse().ok()).unwrap_or(default);
    let nodes: usize = if cfg!(debug_assertions) { 100 } else { number("--nodes", 10_000).max(1) };
    let pods: usize = nodes * number("--pods", 10);
    let placed: usize = number("--placed", 100);
    let mut scheduler = match ClusterScheduler::new(NoopClient, Options::default()) {
        Ok(scheduler) => scheduler,
        Err(errors) => panic!("{errors:?}"),
    };
    let mut tasks = InlineTasks::default();
    println!("| {nodes:>9} nodes, {pods:>8} pods |         bytes |           each  |");
    println!("|------------------------------|--------------:|----------------:|");
    let mut all = print("nodes", "a node", nodes, || {
        for number in 0..nodes {
            let node = objects::node(number, &mut scheduler.cache.base.interner);
            scheduler.on_change(Change::Node(node), &mut tasks);
        }
    });
    let template = objects::plain(&mut scheduler.cache.base.interner);
    let names: Vec<_> = scheduler.cache.base.infos().iter().flat_map(|info| Some(info.node.as_ref()?.name)).collect();
    all += print("running pods", "a pod", pods, || {
        for number in 0..pods {
            let node = names[number % nodes];
            scheduler.on_change(Change::Pod(objects::bound(pod(number, &template), node)), &mut tasks);
        }
    });
    println!("| {:<28} | {all:>13} | {:>8} {:<6} |", "nodes with their pods", all / nodes as i64, "a node");
    print("placed pods", "a pod", placed, || {
        for number in pods..pods + placed {
            scheduler.on_change(Change::Pod(pod(number, &template)), &mut tasks);
            assert!(scheduler.schedule_one(&mut tasks));
            while let Some(completed) = tasks.pop() {
                scheduler.on_completed(completed, &mut tasks);
            }
            drop(scheduler.take_outcomes());
        }
    });
    for size in scheduler.cache_sizes() {
        println!("{}: {}", size.cache, size.size);
    }
}
