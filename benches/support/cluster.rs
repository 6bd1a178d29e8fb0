//! A generated cluster, always equal for the same number of nodes.

use std::sync::Arc;

use schedc_core::cache::{Cache, PodState, State};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    ContainerImage, Effect, HostPort, Node, NonZero, Pod, PodSpec, PodUsage, Protocol, Resources, Taint, Uid, labels,
};
use schedc_core::random::Random;

pub(crate) const GIBIBYTE: i64 = 1 << 30;
const PODS_ON_A_NODE: usize = 5;
const ZONES: usize = 3;
const IMAGES: usize = 60;

/// Returns a cache with nodes of four sizes in three zones, some tainted, some cordoned, every tenth with GPUs, and five
/// pods on every node.
pub(crate) fn cluster<S: State>(nodes: usize) -> Cache<S> {
    let mut cache = Cache::default();
    let mut random = Random::new(42);
    for number in 0..nodes {
        let node = node(number, &mut random, &mut cache.base.interner);
        let (name, milli_cpu) = (node.name, node.allocatable.milli_cpu);
        cache.set_node(node);
        for at in 0..PODS_ON_A_NODE {
            let pod = running_pod(number, at, milli_cpu, &mut random, &mut cache.base.interner);
            cache.add_pod(Arc::new(pod), name, PodState::Bound);
        }
    }
    cache
}

pub(crate) fn zone(number: usize) -> String {
    format!("zone-{}", number % ZONES)
}

pub(crate) fn image(number: usize, interner: &mut Interner) -> Symbol {
    interner.intern(&format!("registry.example.com/team/service-{number}:v1"))
}

pub(crate) fn gpu(interner: &mut Interner) -> Symbol {
    interner.intern("example.com/gpu")
}

pub(crate) fn host_port(port: i32, interner: &mut Interner) -> HostPort {
    HostPort { ip: interner.intern("0.0.0.0"), protocol: Protocol::Tcp, port }
}

fn node(number: usize, random: &mut Random, interner: &mut Interner) -> Node {
    let cores = [8, 16, 32, 64][random.below(4)];
    let hostname = format!("node-{number}");
    let mut taints = Vec::new();
    let mut taint = |key: &str, value: &str, effect| {
        taints.push(Taint { key: interner.intern(key), value: interner.intern(value), effect });
    };
    if number % 20 == 3 {
        taint("dedicated", "batch", Effect::NoSchedule);
    }
    if number % 7 == 2 {
        taint("spot", "true", Effect::PreferNoSchedule);
    }
    let unschedulable = number % 50 == 11;
    if unschedulable {
        taint("node.kubernetes.io/unschedulable", "", Effect::NoSchedule);
    }
    let mut allocatable = Resources {
        milli_cpu: cores * 1000,
        memory: cores * 4 * GIBIBYTE,
        ephemeral_storage: 200 * GIBIBYTE,
        ..Resources::default()
    };
    if number % 10 == 5 {
        *allocatable.scalar_mut(gpu(interner)) = 8;
    }
    let images = (0..12).map(|_| random.below(IMAGES)).map(|number| ContainerImage {
        names: [image(number, interner)].into(),
        size: (50 + number as i64 * 20) << 20,
    });
    let images = images.collect();
    let labels = labels(
        [
            ("kubernetes.io/hostname", &*hostname),
            ("kubernetes.io/arch", "amd64"),
            ("kubernetes.io/os", "linux"),
            ("topology.kubernetes.io/region", "region-1"),
            ("topology.kubernetes.io/zone", &*zone(random.below(ZONES))),
            ("node.kubernetes.io/instance-type", &*format!("standard-{cores}")),
            ("pool", if number.is_multiple_of(4) { "system" } else { "general" }),
            ("disk", if number.is_multiple_of(3) { "ssd" } else { "hdd" }),
        ],
        interner,
    );
    Node {
        name: interner.intern(&hostname),
        labels,
        taints: taints.into(),
        unschedulable,
        allocatable,
        allowed_pods: 110,
        images,
        ..Node::default()
    }
}

/// Returns a pod that requests up to 24 % of its node's CPU, and half to all of that share of its memory. The five pods
/// on one node in twenty request all of its CPU.
fn running_pod(node: usize, at: usize, milli_cpu: i64, random: &mut Random, interner: &mut Interner) -> Pod {
    let is_full = node % 20 == 7;
    let milli_cpu = if is_full { milli_cpu / 5 } else { milli_cpu * (1 + random.below(24) as i64) / 100 };
    let requests = Resources {
        milli_cpu,
        memory: milli_cpu * (2 + random.below(3) as i64) * GIBIBYTE / 1000,
        ephemeral_storage: GIBIBYTE,
        ..Resources::default()
    };
    let host_ports = if at == 0 && node.is_multiple_of(8) { vec![host_port(8080, interner)] } else { Vec::new() };
    let usage = PodUsage {
        non_zero: NonZero { milli_cpu: requests.milli_cpu, memory: requests.memory },
        requests: requests.clone(),
    };
    Pod {
        uid: Uid(format!("uid-{node}-{at}").into()),
        namespace: interner.share(Symbol::EMPTY),
        name: format!("pod-{node}-{at}").into(),
        spec: Arc::new(PodSpec { host_ports: host_ports.into(), requests, ..pod_spec(interner) }),
        usage: Arc::new(usage),
        ..Pod::default()
    }
}

/// Returns the spec of a pod with one container, which has no requests.
pub(crate) fn pod_spec(interner: &mut Interner) -> PodSpec {
    PodSpec {
        namespace: interner.intern("default"),
        scheduler_name: interner.intern("default-scheduler"),
        fit_score_requests: Resources { milli_cpu: 100, memory: 200 << 20, ..Resources::default() },
        containers: 1,
        ..PodSpec::default()
    }
}
