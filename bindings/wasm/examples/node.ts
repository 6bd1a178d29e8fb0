// Node: the decisions of two profiles about the same pod.
import { type Decision, type KubernetesObject, SchedcError, load } from "schedc";

const PACKED = `
scheduler-name = "packed"
[args.NodeResourcesFit]
scoring-strategy = { type = "MostAllocated", resources = [{ name = "cpu", weight = 1 }] }
`;

const pod = (name: string, cpu: string, nodeName?: string): KubernetesObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { nodeName, containers: [{ name: "main", resources: { requests: { cpu } } }] },
});

const schedc = await load();
const profiles = schedc.profiles({ "default.toml": "", "packed.toml": PACKED });
for (const profile of ["default", "packed"]) {
  const cluster = profiles.cluster(profile);
  const template = { apiVersion: "v1", kind: "Node", status: { allocatable: { cpu: "4", pods: "110" } } };
  cluster.applyColumns(template, { "/metadata/name": ["busy", "free"] });
  cluster.apply([pod("first", "2", "busy"), pod("web", "1"), pod("large", "9")]);
  const { chosen, nodes }: Decision = cluster.decide("web");
  const total = (node: string): number => nodes[node]?.total ?? 0;
  console.log(`${profile}: web runs on ${chosen}, with ${total("busy") > total("free") ? "more" : "fewer"} points for busy`);
  console.log(`${profile}: ${cluster.decide("large").message}`);
  cluster.free();
}
try {
  profiles.cluster("other");
} catch (error) {
  if (!(error instanceof SchedcError)) throw error;
  console.log(error.code);
}
