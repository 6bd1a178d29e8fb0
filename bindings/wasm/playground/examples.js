const node = (name, zone, cpu, extra = "") => `apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels: { topology.kubernetes.io/zone: ${zone} }
${extra}status:
  allocatable: { cpu: ${cpu}, memory: 16Gi, pods: 110 }
`;
const pod = (name, cpu, { bound = "", extra = "", labels = "app: shop" } = {}) => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  labels: { ${labels} }
spec:
${bound && `  nodeName: ${bound}\n`}${extra}  containers:
  - name: app
    resources: { requests: { cpu: ${cpu}, memory: 1Gi } }
`;
const documents = (...parts) => parts.join("---\n");
const cluster = documents(
  node("north-1", "north", "4"),
  node("north-2", "north", "8", "spec:\n  taints: [{ key: gpu, effect: NoSchedule }]\n"),
  node("south-1", "south", "4"),
  pod("db-0", "3", { bound: "north-1", labels: "app: db" }),
);

/** Profiles and clusters to begin with, by title. */
export default {
  "Default profile": {
    profile: `# kube-scheduler's default profile.
# Change a name or a number: errors appear below.
scheduler-name = "default-scheduler"

[args.NodeResourcesFit.scoring-strategy]
type = "LeastAllocated"
resources = [
    { name = "cpu", weight = 1 },
    { name = "memory", weight = 1 },
]
`,
    objects: documents(cluster, pod("train-0", "6"), pod("web-1", "500m"), pod("web-2", "500m")),
  },
  "Bin packing": {
    profile: `# Fills nodes instead of spreading pods.
scheduler-name = "binpack"

[args.NodeResourcesFit.scoring-strategy]
type = "MostAllocated"
resources = [
    { name = "cpu", weight = 5 },
    { name = "memory", weight = 1 },
]
`,
    objects: documents(cluster, pod("web-1", "500m"), pod("web-2", "500m")),
  },
  "Preemption": {
    profile: "# kube-scheduler's default profile: an empty file.\n",
    objects: documents(
      `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: urgent }
value: 1000
`,
      node("north-1", "north", "4"),
      pod("batch-0", "3", { bound: "north-1", labels: "app: batch" }),
      pod("urgent-0", "3", { extra: "  priorityClassName: urgent\n" }),
    ),
  },
};
