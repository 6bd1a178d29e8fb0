//! Time of a decision by one plugin alone: 5,000 nodes, 5,000 running pods with an affinity term or a spread constraint
//! each, every node considered, no cached answers. A pod without claims is compiled only once, as in a running
//! scheduler. `cargo bench -p schedc-benches --bench plugins`

use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use schedc_core::cache::{Cache, PodState};
use schedc_core::engine::{Decision, Engine};
use schedc_core::handle::Handle;
use schedc_core::model::Pod;
use schedc_core::profile::Profile;
use schedc_objects::testing;

/// A profile for each plugin: the plugin, and the plugins that every profile needs.
mod alone {
    schedc_macros::profile!(
        "plugins/taint-toleration.toml",
        "plugins/node-affinity.toml",
        "plugins/node-ports.toml",
        "plugins/node-resources-fit.toml",
        "plugins/node-resources-balanced-allocation.toml",
        "plugins/image-locality.toml",
        "plugins/node-declared-features.toml",
        "plugins/pod-topology-spread.toml",
        "plugins/inter-pod-affinity.toml",
        "plugins/volume-binding.toml",
        "plugins/volume-zone.toml",
        "plugins/volume-restrictions.toml",
        "plugins/node-volume-limits.toml",
        "plugins/default-preemption.toml",
    );
}

type Cluster = Cache<alone::state::State>;

const NODES: usize = 5_000;
/// Number of values of the label `app`, which pods have in turn.
const APPS: usize = 20;

fn plugins(criterion: &mut Criterion) {
    let mut bench = Bench { criterion, cluster: cluster() };
    let (zone, node) = ("topology.kubernetes.io/zone", "kubernetes.io/hostname");
    let plain = ("empty spec", String::new());
    bench.cases::<alone::taint_toleration::Pipeline>(&[(
        "one toleration",
        "tolerations: [{key: dedicated, operator: Exists, effect: NoSchedule}]".into(),
    )]);
    bench.cases::<alone::node_affinity::Pipeline>(&[("required and preferred", node_affinity())]);
    bench.cases::<alone::node_ports::Pipeline>(&[(
        "one port",
        "containers: [{name: c, ports: [{containerPort: 80, hostPort: 8080}]}]".into(),
    )]);
    let requests = ("cpu and memory", requests("500m"));
    bench.cases::<alone::node_resources_fit::Pipeline>(std::slice::from_ref(&requests));
    bench.cases::<alone::node_resources_balanced_allocation::Pipeline>(&[requests]);
    bench.cases::<alone::image_locality::Pipeline>(&[(
        "one image",
        "containers: [{name: c, image: 'registry.example.com/app-1:v1'}]".into(),
    )]);
    bench.cases::<alone::node_declared_features::Pipeline>(std::slice::from_ref(&plain));
    bench.cases::<alone::pod_topology_spread::Pipeline>(&[
        ("hard, by zone", spread("DoNotSchedule", &[zone])),
        ("hard, by zone and node", spread("DoNotSchedule", &[zone, node])),
        ("soft, by zone", spread("ScheduleAnyway", &[zone])),
        ("soft, by zone and node", spread("ScheduleAnyway", &[zone, node])),
        plain.clone(),
    ]);
    bench.cases::<alone::inter_pod_affinity::Pipeline>(&[
        ("affinity, by zone", required("podAffinity", zone, "")),
        ("affinity, by node", required("podAffinity", node, "")),
        ("anti-affinity, by node", required("podAntiAffinity", node, "")),
        (
            "anti-affinity, by node, with a namespace selector",
            required("podAntiAffinity", node, ", namespaceSelector: {matchLabels: {team: a}}"),
        ),
        ("preferred affinity, by zone", preferred("podAffinity", zone)),
        ("preferred anti-affinity, by node", preferred("podAntiAffinity", node)),
        plain.clone(),
    ]);
    bench.cases::<alone::volume_binding::Pipeline>(&[("bound", claim("data-1")), ("to be bound", claim("local"))]);
    bench.cases::<alone::volume_zone::Pipeline>(&[("bound", claim("data-1"))]);
    bench.cases::<alone::volume_restrictions::Pipeline>(&[(
        "a disk",
        "volumes: [{name: v, gcePersistentDisk: {pdName: disk-1}}]".into(),
    )]);
    bench.cases::<alone::node_volume_limits::Pipeline>(&[("bound", claim("data-1"))]);
    let urgent = format!("priority: 100\n{}", self::requests("3500m"));
    bench.cases::<alone::default_preemption::Pipeline>(&[("every node full", urgent)]);
}

struct Bench<'c> {
    criterion: &'c mut Criterion,
    cluster: Cluster,
}

impl Bench<'_> {
    /// Measures decisions. Each case has a name, and the lines of the pod's spec.
    fn cases<P: Profile<State = alone::state::State>>(&mut self, cases: &[(&str, String)]) {
        let mut engine = Engine::<P>::new(&Handle::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
        // By default, later decisions about a pod only update its cached answer.
        engine.cache_answers = false;
        let mut group = self.criterion.benchmark_group(P::INFO.name);
        for (name, spec) in cases {
            let spec = if spec.is_empty() { "{}".to_string() } else { format!("\n  {}", spec.replace('\n', "\n  ")) };
            let manifest = format!("metadata: {{name: new, labels: {{app: app-1}}}}\nspec: {spec}");
            let pod = Arc::new(testing::pod(&manifest, &mut self.cluster.base.interner));
            let decision = engine.decide(&pod, &mut self.cluster, 0, |_| 0);
            assert!(!matches!(decision, Decision::Error(_)), "{}, {name}: {decision:?}", P::INFO.name);
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                bencher.iter(|| engine.decide(&pod, &mut self.cluster, 0, |_| 0));
            });
        }
        group.finish();
    }
}

fn node_affinity() -> String {
    "affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd, nvme]}]}]
    preferredDuringSchedulingIgnoredDuringExecution:
    - {weight: 5, preference: {matchExpressions: [{key: disk, operator: In, values: [nvme]}]}}"
        .into()
}

fn requests(cpu: &str) -> String {
    format!("containers: [{{name: c, resources: {{requests: {{cpu: {cpu}, memory: 1Gi}}}}}}]")
}

const APP: &str = "labelSelector: {matchLabels: {app: app-1}}";

fn spread(when_unsatisfiable: &str, keys: &[&str]) -> String {
    let constraint =
        |key: &&str| format!("\n- {{maxSkew: 5, topologyKey: {key}, whenUnsatisfiable: {when_unsatisfiable}, {APP}}}");
    format!("topologySpreadConstraints:{}", keys.iter().map(constraint).collect::<String>())
}

fn required(kind: &str, key: &str, more: &str) -> String {
    format!(
        "affinity:
  {kind}:
    requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {key}, {APP}{more}}}]"
    )
}

fn preferred(kind: &str, key: &str) -> String {
    format!(
        "affinity:
  {kind}:
    preferredDuringSchedulingIgnoredDuringExecution:
    - {{weight: 10, podAffinityTerm: {{topologyKey: {key}, {APP}}}}}"
    )
}

fn claim(name: &str) -> String {
    format!("volumes: [{{name: v, persistentVolumeClaim: {{claimName: {name}}}}}]")
}

/// Creates nodes in three zones, with one pod each. The pod requests three of four cores, and has an affinity term or a
/// spread constraint. Every second pod has a volume.
fn cluster() -> Cluster {
    let mut cluster = Cluster::default();
    let interner = &mut cluster.base.interner;
    let mut objects =
        vec![testing::object("{kind: Namespace, metadata: {name: default, labels: {team: a}}}", interner)];
    objects.extend(classes().iter().map(|class| testing::object(class, interner)));
    objects.extend((0..NODES).filter(|n| n % 10 == 0).map(|n| testing::object(&local_volume(n), interner)));
    objects.push(testing::object(
        "{kind: PersistentVolumeClaim, metadata: {name: local}, spec: {storageClassName: local, accessModes: [ReadWriteOnce],
          resources: {requests: {storage: 1Gi}}}}",
        interner,
    ));
    for n in 0..NODES {
        objects.push(testing::object(&csi_node(n), interner));
        if n % 2 == 1 {
            objects.extend(bound_volume(n).iter().map(|object| testing::object(object, interner)));
        }
    }
    for object in objects {
        cluster.set_object(object);
    }
    for n in 0..NODES {
        let node = testing::node(&node(n), &mut cluster.base.interner);
        cluster.set_node(node);
    }
    for n in 0..NODES {
        let pod: Pod = testing::pod(&running_pod(n), &mut cluster.base.interner);
        let node = cluster.base.interner.intern(&format!("node-{n}"));
        cluster.add_pod(Arc::new(pod), node, PodState::Bound);
    }
    cluster
}

fn node(n: usize) -> String {
    let taints = if n.is_multiple_of(10) { "[{key: dedicated, effect: NoSchedule}]" } else { "[]" };
    let (zone, disk) = (n % 3, ["ssd", "nvme", "hdd"][n % 3]);
    format!(
        "metadata: {{name: node-{n}, labels: {{topology.kubernetes.io/zone: zone-{zone}, kubernetes.io/hostname: node-{n},
           disk: {disk}}}}}
spec: {{taints: {taints}}}
status:
  allocatable: {{cpu: 4, memory: 16Gi, pods: 110}}
  images: [{{names: ['registry.example.com/app-{}:v1'], sizeBytes: 400000000}}]",
        n % APPS
    )
}

fn running_pod(n: usize) -> String {
    let app = n % APPS;
    let own = format!("labelSelector: {{matchLabels: {{app: app-{app}}}}}");
    let term = match n / APPS % 4 {
        0 => format!(
            "affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution:
               [{{topologyKey: kubernetes.io/hostname, {own}}}]}}}}"
        ),
        1 => format!(
            "affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution:
               [{{topologyKey: topology.kubernetes.io/zone, {own}}}]}}}}"
        ),
        2 => format!(
            "affinity: {{podAffinity: {{preferredDuringSchedulingIgnoredDuringExecution:
               [{{weight: 10, podAffinityTerm: {{topologyKey: topology.kubernetes.io/zone, {own}}}}}]}}}}"
        ),
        _ => format!(
            "topologySpreadConstraints:
               [{{maxSkew: 5, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, {own}}}]"
        ),
    };
    let volumes = if n % 2 == 1 { claim(&format!("data-{n}")) } else { "volumes: []".into() };
    format!(
        "metadata: {{name: app-{app}-{n}, labels: {{app: app-{app}}}}}
spec:
  containers: [{{name: c, resources: {{requests: {{cpu: 3, memory: 4Gi}}}}}}]
  {term}
  {volumes}
status: {{startTime: '2026-01-01T00:00:00Z'}}"
    )
}

fn classes() -> [String; 2] {
    let class = |name: &str, provisioner: &str| {
        format!(
            "{{kind: StorageClass, metadata: {{name: {name}}}, provisioner: {provisioner},
               volumeBindingMode: WaitForFirstConsumer}}"
        )
    };
    [class("local", "kubernetes.io/no-provisioner"), class("csi", "csi.example.com")]
}

fn csi_node(n: usize) -> String {
    format!(
        "{{kind: CSINode, metadata: {{name: node-{n}}},
           spec: {{drivers: [{{name: csi.example.com, nodeID: node-{n}, allocatable: {{count: 24}}}}]}}}}"
    )
}

fn local_volume(n: usize) -> String {
    format!(
        "{{kind: PersistentVolume, metadata: {{name: local-{n}}}, spec: {{storageClassName: local,
           capacity: {{storage: 10Gi}}, accessModes: [ReadWriteOnce], local: {{path: /mnt}}, nodeAffinity: {{required:
           {{nodeSelectorTerms: [{{matchExpressions: [{{key: kubernetes.io/hostname, operator: In, values: [node-{n}]}}]}}]}}}}}}}}"
    )
}

fn bound_volume(n: usize) -> [String; 2] {
    let zone = n % 3;
    [
        format!(
            "{{kind: PersistentVolume, metadata: {{name: pv-{n}, labels: {{topology.kubernetes.io/zone: zone-{zone}}}}},
               spec: {{storageClassName: csi, capacity: {{storage: 10Gi}}, accessModes: [ReadWriteOnce],
               csi: {{driver: csi.example.com, volumeHandle: v-{n}}}, claimRef: {{namespace: default, name: data-{n}}}}}}}"
        ),
        format!(
            "{{kind: PersistentVolumeClaim, metadata: {{name: data-{n}, annotations: {{pv.kubernetes.io/bind-completed: 'yes'}}}},
               spec: {{storageClassName: csi, volumeName: pv-{n}, accessModes: [ReadWriteOnce],
               resources: {{requests: {{storage: 1Gi}}}}}}}}"
        ),
    ]
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = plugins
}
criterion_main!(benches);
