//! A synthetic cluster, and the pods to evaluate.

use std::sync::Arc;

use schedc_core::cache::PodState;
use schedc_core::engine::Decision;
use schedc_core::erased::AnyCluster;
use schedc_core::intern::Interner;
use schedc_core::model::{Node, Pod};
use schedc_objects::{AnyObject, convert_node, convert_object, convert_pod};

use crate::Error;
use crate::template::{ObjectFactory, Template};

/// Number of pods per node.
const PODS_PER_NODE: usize = 5;

const NODE: &str = "
kind: Node
metadata:
  name: node-{{.Index}}
  labels:
    kubernetes.io/hostname: node-{{.Index}}
    topology.kubernetes.io/zone: zone-{{ Mod .Index 3 }}
    disk: kind-{{ Mod .Index 2 }}
spec:
  taints:
  - { key: dedicated, value: \"{{ Mod .Index 10 }}\", effect: PreferNoSchedule }
status:
  allocatable: { cpu: \"32\", memory: 128Gi, ephemeral-storage: 200Gi, pods: \"110\" }
  images:
  - { names: [\"registry.example.com/app-{{ Mod .Index 20 }}:1.0\"], sizeBytes: 300000000 }
";

const CSI_NODE: &str = "
kind: CSINode
metadata: { name: node-{{.Index}} }
spec:
  drivers:
  - { name: disk.example.com, nodeID: node-{{.Index}}, allocatable: { count: 30 } }
";

const RUNNING_POD: &str = "
kind: Pod
metadata:
  name: running-{{.Index}}
  namespace: default
  uid: running-{{.Index}}
  labels: { app: app-{{ Mod .Index 20 }} }
spec:
  nodeName: node
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 1
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector: { matchLabels: { app: app-{{ Mod .Index 20 }} } }
  containers:
  - { name: main, resources: { requests: { cpu: 500m, memory: 1Gi } } }
";

const VOLUME: &str = "
kind: PersistentVolume
metadata:
  name: volume
  labels: { topology.kubernetes.io/zone: zone-1 }
spec:
  accessModes: [ReadWriteOnce]
  capacity: { storage: 1Gi }
  csi: { driver: disk.example.com, volumeHandle: volume }
  claimRef: { namespace: default, name: claim, uid: claim }
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions:
        - { key: topology.kubernetes.io/zone, operator: In, values: [zone-1] }
status: { phase: Bound }
";

const CLAIM: &str = "
kind: PersistentVolumeClaim
metadata:
  name: claim
  namespace: default
  uid: claim
  annotations: { pv.kubernetes.io/bind-completed: \"yes\" }
spec:
  accessModes: [ReadWriteOnce]
  volumeName: volume
  resources: { requests: { storage: 1Gi } }
status: { phase: Bound }
";

const PLAIN_POD: &str = "
kind: Pod
metadata: { name: plain, namespace: default, uid: plain, labels: { app: app-1 } }
spec:
  containers:
  - { name: main, image: \"registry.example.com/app-1:1.0\", resources: { requests: { cpu: 500m, memory: 1Gi } } }
";

const DEMANDING_POD: &str = "
kind: Pod
metadata: { name: demanding, namespace: default, uid: demanding, labels: { app: app-1 } }
spec:
  tolerations:
  - { key: dedicated, operator: Equal, value: \"1\" }
  nodeSelector: { disk: kind-1 }
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - { key: topology.kubernetes.io/zone, operator: In, values: [zone-0, zone-1] }
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 5
        preference:
          matchExpressions:
          - { key: topology.kubernetes.io/zone, operator: In, values: [zone-1] }
    podAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 5
        podAffinityTerm:
          topologyKey: topology.kubernetes.io/zone
          labelSelector: { matchLabels: { app: app-2 } }
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: { matchLabels: { app: app-1 } }
  topologySpreadConstraints:
  - topologyKey: topology.kubernetes.io/zone
    maxSkew: 1
    whenUnsatisfiable: DoNotSchedule
    labelSelector: { matchLabels: { app: app-1 } }
  - topologyKey: kubernetes.io/hostname
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { app: app-1 } }
  containers:
  - name: main
    image: \"registry.example.com/app-1:1.0\"
    ports: [{ containerPort: 80, hostPort: 80 }]
    resources: { requests: { cpu: 500m, memory: 1Gi } }
  volumes:
  - { name: data, persistentVolumeClaim: { claimName: claim } }
  - { name: disk, gcePersistentDisk: { pdName: disk } }
";

/// The synthetic cluster.
pub(super) struct Cluster {
    pub(super) cluster: Box<dyn AnyCluster>,
    pub(super) nodes: usize,
    /// Pod that requests cpu and memory only.
    pub(super) plain: Arc<Pod>,
    /// Pod for which most plugins have work.
    pub(super) demanding: Arc<Pod>,
    /// Allocated bytes per node; `None` if the binary does not count.
    pub(super) bytes_per_node: Option<f64>,
    /// Allocated bytes per running pod.
    pub(super) bytes_per_pod: Option<f64>,
}

impl Cluster {
    pub(super) fn new(mut cluster: Box<dyn AnyCluster>, count: usize) -> Result<Self, Error> {
        for object in objects(VOLUME, 1)?.into_iter().chain(objects(CLAIM, 1)?).chain(objects(CSI_NODE, count)?) {
            if let Some(object) = convert_object(&object, &mut cluster.base_mut().interner) {
                cluster.set_object(object);
            }
        }
        let nodes = converted(NODE, count, |object| match object {
            AnyObject::Node(node) => Some(convert_node(node, &mut cluster.base_mut().interner)),
            _ => None,
        })?;
        let names: Vec<_> = nodes.iter().map(|node| node.name).collect();
        let running = pods(RUNNING_POD, count * PODS_PER_NODE, &mut cluster.base_mut().interner)?;
        let plain = pods(PLAIN_POD, 1, &mut cluster.base_mut().interner)?.remove(0);
        let demanding = pods(DEMANDING_POD, 1, &mut cluster.base_mut().interner)?.remove(0);
        let bytes_per_node = bytes_for_each(nodes, |node: Node| cluster.set_node(node));
        let mut number = 0;
        let bytes_per_pod = bytes_for_each(running, |pod| {
            // The five pods of a node have different labels, and every app is on every fourth node.
            cluster.add_pod(pod, names[number / PODS_PER_NODE], PodState::Bound);
            number += 1;
        });
        Ok(Cluster { cluster, nodes: count, plain, demanding, bytes_per_node, bytes_per_pod })
    }

    /// Decides `count` times about a pod. After each decision, the pod runs on its node and ends.
    pub(super) fn decide(&mut self, profile: usize, pod: &Arc<Pod>, count: usize) {
        for _ in 0..count {
            // In a small cluster, the demanding pod may have no node.
            let Decision::Node(node) = self.cluster.decide(profile, pod) else { continue };
            let name = self.cluster.base().infos()[node.get()].node.as_ref().map(|node| node.name);
            if let Some(name) = name {
                self.cluster.add_pod(pod.clone(), name, PodState::Bound);
                self.cluster.remove_pod(&pod.uid);
            }
        }
    }
}

/// Passes every item to `take`. Returns the allocated bytes per item, without the item's own memory.
fn bytes_for_each<T>(items: Vec<T>, mut take: impl FnMut(T)) -> Option<f64> {
    let (count, list_bytes) = (items.len().max(1) as f64, items.len() * size_of::<T>());
    let before = schedc_allocator::allocated_bytes();
    items.into_iter().for_each(&mut take);
    // The list of items is freed by now, so its memory is added again.
    let held = schedc_allocator::allocated_bytes().wrapping_sub(before).wrapping_add(list_bytes as u64);
    crate::measure::is_counting().then(|| held as i64 as f64 / count)
}

fn pods(template: &str, count: usize, interner: &mut Interner) -> Result<Vec<Arc<Pod>>, Error> {
    converted(template, count, |object| match object {
        AnyObject::Pod(pod) => Some(Arc::new(convert_pod(pod, interner))),
        _ => None,
    })
}

fn converted<T>(
    template: &str,
    count: usize,
    mut convert: impl FnMut(&AnyObject) -> Option<T>,
) -> Result<Vec<T>, Error> {
    Ok(objects(template, count)?.iter().filter_map(&mut convert).collect())
}

fn objects(template: &str, count: usize) -> Result<Vec<AnyObject>, Error> {
    let template = Template::parse("an object of the cluster", template)?;
    match ObjectFactory::new(&template, count, None)? {
        Some(factory) => (0..count).map(|index| factory.make(index)).collect(),
        None => Ok(Vec::new()),
    }
}
