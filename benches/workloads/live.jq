# The objects of live.sh. Each line of the output is an object.
#
# $what: first | nodes | needs | pods, where `needs` are the claims and volumes of the pods; $from, $count: numbers of the objects.

def range_of: range($from; $from + $count);
def requests($cpu; $memory): { resources: { requests: { cpu: $cpu, memory: $memory } } };

def node:
    . as $i
    | "node-\($i)" as $name
    | (if $i % 10 == 0 then { "example.com/gpu": "4" } else {} end) as $gpus
    # A few small nodes are full soon, so pods with a higher priority evict others there.
    | (if $i % 50 == 7 then "small" else "large" end) as $pool
    | ({ cpu: (if $pool == "small" then "2" else "\(8 + $i % 3 * 4)" end), memory: "\(16 + $i % 4 * 8)Gi", pods: "40",
         "ephemeral-storage": "100Gi" } + $gpus) as $capacity
    | {
        apiVersion: "v1", kind: "Node",
        metadata: { $name, labels: {
            "kubernetes.io/hostname": $name, "topology.kubernetes.io/zone": "zone-\($i % 5)", "topology.kubernetes.io/region": "region-\($i % 2)",
            disk: (if $i % 3 == 0 then "ssd" else "hdd" end), rank: "\($i % 100)", $pool
        } },
        spec: (
            if $i % 50 == 7 then { taints: [{ key: "pool", value: "small", effect: "NoSchedule" }] }
            elif $i % 20 == 3 then { taints: [{ key: "dedicated", value: "batch", effect: "NoSchedule" }] }
            elif $i % 20 == 4 then { taints: [{ key: "slow", value: "yes", effect: "PreferNoSchedule" }] }
            else {} end),
        status: { allocatable: $capacity, $capacity,
            images: (if $i % 4 == 0 then [{ names: ["registry.example.com/web:1"], sizeBytes: 900000000 }] else [] end) }
      };

def slice:
    "node-\(.)" as $nodeName
    | { apiVersion: "resource.k8s.io/v1", kind: "ResourceSlice", metadata: { name: "\($nodeName)-devices" },
        spec: { driver: "gpu.example.com", $nodeName, pool: { name: $nodeName, generation: 1, resourceSliceCount: 1 },
            devices: [range(4) | { name: "gpu-\(.)", attributes: { model: { string: (if . % 2 == 0 then "a100" else "t4" end) } } }] } };

def device_class($more):
    { apiVersion: "resource.k8s.io/v1", kind: "DeviceClass",
      spec: { selectors: [{ cel: { expression: "device.driver == \"gpu.example.com\"" } }] } } * $more;

def app($name):
    { apiVersion: "v1", kind: "Service", metadata: { $name, namespace: "default" }, spec: { selector: { app: $name }, ports: [{ port: 80 }] } };

def priority($name; $value): { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { $name }, $value };

# A volume for nodes of one zone, and its claim. The claim is created as a bound one, because no controller would bind it.
def volume:
    . as $i
    | { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "volume-\($i)" },
        spec: { capacity: { storage: "5Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "local", local: { path: "/disk" },
            claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: "default", name: "data-\($i)" },
            nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [
                { key: "topology.kubernetes.io/zone", operator: "In", values: ["zone-\($i % 5)"] },
                { key: "disk", operator: "In", values: ["ssd"] }] }] } } } },
      { apiVersion: "v1", kind: "PersistentVolumeClaim",
        metadata: { name: "data-\($i)", namespace: "default", annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
        spec: { accessModes: ["ReadWriteOnce"], storageClassName: "local", volumeName: "volume-\($i)", resources: { requests: { storage: "5Gi" } } } };

def claim:
    { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata: { name: "device-\(.)", namespace: "default" },
      spec: { devices: { requests: [{ name: "gpu", exactly: ({ deviceClassName: "gpu.example.com", allocationMode: "ExactCount", count: 1 }
        + if . % 32 == 12 then { selectors: [{ cel: { expression: "device.attributes[\"gpu.example.com\"].model == \"a100\"" } }] } else {} end) }] } } };

def labels($app): { labelSelector: { matchLabels: { $app } } };

# Sixteen sorts of pods.
def pod:
    . as $i | ($i % 16) as $sort | "app-\($sort)-\($i / 320 | floor)" as $app
    | [
        {},
        { spec: { nodeSelector: { disk: "ssd" } } },
        { spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [
            { key: "topology.kubernetes.io/zone", operator: "In", values: ["zone-1", "zone-2"] }, { key: "rank", operator: "Gt", values: ["40"] }] }] } } } } },
        { spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 30, preference: { matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] } },
            { weight: 10, preference: { matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "NotIn", values: ["zone-0"] }] } }] } } } },
        { spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [
            labels($app) + { topologyKey: "kubernetes.io/hostname" }] } } } },
        { spec: { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 50, podAffinityTerm: (labels("app-0-\($i / 320 | floor)") + { topologyKey: "topology.kubernetes.io/zone" }) }] } } } },
        { spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [
            labels($app) + { topologyKey: "topology.kubernetes.io/zone" }] } } } },
        { spec: { topologySpreadConstraints: [
            labels($app) + { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" }] } },
        { spec: { topologySpreadConstraints: [
            labels($app) + { maxSkew: 2, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" }] } },
        { spec: { tolerations: [{ key: "dedicated", operator: "Equal", value: "batch", effect: "NoSchedule" }],
            affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 20, podAffinityTerm: (labels($app) + { topologyKey: "topology.kubernetes.io/zone" }) }] } } } },
        { spec: { containers: [{ ports: [{ containerPort: 80, hostPort: (8000 + $i / 16 % 4), protocol: "TCP" }] }] } },
        { spec: { nodeSelector: { pool: "small" }, tolerations: [{ key: "pool", operator: "Exists" }],
            priorityClassName: (if $i / 16 % 3 == 2 then "high" else "low" end),
            containers: [requests("900m"; "1Gi")] } },
        { spec: { resourceClaims: [{ name: "gpu", resourceClaimName: "device-\($i)" }], containers: [{ resources: { claims: [{ name: "gpu" }] } }] } },
        { spec: { containers: [{ resources: (if $i % 32 == 13
            then { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "1" } }
            else { requests: { "example.com/device": "1" }, limits: { "example.com/device": "1" } } end) }] } },
        { spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-\($i)" } }] } },
        (if $i % 80 == 15 then { spec: { nodeSelector: { disk: "tape" } } }
         elif $i % 80 == 31 then { spec: { containers: [requests("64"; "1Gi")] } }
         else { metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: $app, uid: "uid-\($app)", controller: true }] } } end)
      ][$sort] as $more
    | ({ name: "app", image: "registry.example.com/\(if $i % 2 == 0 then "web:1" else "api:2" end)" } * requests("\(100 + $i % 7 * 50)m"; "\(128 + $i % 5 * 64)Mi")
        * ($more.spec.containers[0] // {})) as $container
    | { apiVersion: "v1", kind: "Pod", metadata: { name: "pod-\($i)", namespace: "default", labels: { $app, sort: "\($sort)" } } }
      * $more * { spec: { containers: [$container] } };

if $what == "nodes" then range_of | node
elif $what == "first" then
    priority("low"; 10), priority("high"; 1000),
    { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: { name: "local" }, provisioner: "kubernetes.io/no-provisioner",
      volumeBindingMode: "WaitForFirstConsumer" },
    device_class({ metadata: { name: "gpu.example.com" } }),
    device_class({ metadata: { name: "device.example.com" }, spec: { extendedResourceName: "example.com/device" } }),
    (range(0; 1000; 10) | slice), (range(16) | app("app-\(.)-0"))
elif $what == "needs" then range_of | if . % 16 == 12 then claim elif . % 16 == 14 then volume else empty end
else range_of | pod end
