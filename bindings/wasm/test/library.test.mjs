// The library in Node. SCHEDC_CORPUS and SCHEDC_EXPECTED name scenarios and the lines of `schedc evaluate` for them.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import * as schedc from "../schedc.js";
import { SchedcError, load } from "../schedc.js";

const FOLDER = new URL("../../../tools/import/tests/profiles/", import.meta.url);
const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "a" }, status: { allocatable: { cpu: "2", pods: "10" } } };
const pod = (name, cpu) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "c", resources: { requests: { cpu } } }] },
});

const library = await load();

function newCluster() {
  return library.profiles({ "default.toml": "" }).cluster("default");
}

test("lines of evaluate have the same bytes", { skip: !process.env.SCHEDC_CORPUS && "SCHEDC_CORPUS is not set" }, () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".toml")).sort();
  const profiles = library.profiles(Object.fromEntries(files.map((name) => [name, readFileSync(new URL(name, FOLDER), "utf8")])));
  const evaluator = profiles.evaluator();
  const scenarios = gunzipSync(readFileSync(process.env.SCHEDC_CORPUS)).toString().trimEnd().split("\n");
  const expected = readFileSync(process.env.SCHEDC_EXPECTED, "utf8").trimEnd().split("\n");
  assert.equal(scenarios.length, expected.length);
  scenarios.forEach((scenario, index) => assert.equal(evaluator.evaluateLine(scenario), expected[index]));
});

test("a cluster answers, and reverts forks", () => {
  const cluster = newCluster();
  assert.equal(cluster.apply([NODE, pod("p", "2"), pod("q", "1")]).pods, 2);
  cluster.fork();
  assert.equal(cluster.schedule("p", "a").code, "Success");
  assert.deepEqual(cluster.check("q", "a"), { code: "Unschedulable", plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] });
  cluster.revert();
  assert.equal(cluster.check("q", "a").code, "Success");
  assert.equal(cluster.decide("q").chosen, "a");
  assert.deepEqual(cluster.pods(), { "default/p": null, "default/q": null });
  assert.deepEqual(cluster.estimate([NODE], ["p", "q"], 5).nodes, 2);
  cluster.free();
  assert.throws(() => cluster.nodes(), TypeError);
});

test("the types declare the methods of each class", () => {
  const declarations = readFileSync(new URL("../schedc.d.ts", import.meta.url), "utf8");
  const instances = { ...schedc, Library: library.constructor };
  for (const name of ["Library", "Profiles", "Cluster", "Evaluator"]) {
    const [, body] = declarations.match(new RegExp(`export (?:class|interface) ${name} \\{\n([^]*?)\n\\}`));
    const declared = [...body.matchAll(/^  (?:readonly )?(\w+)[(:]/gm)].map(([, method]) => method);
    const prototype = instances[name].prototype;
    const own = [prototype, Object.getPrototypeOf(prototype)].filter((type) => type !== Object.prototype);
    const methods = new Set(own.flatMap((type) => Object.getOwnPropertyNames(type)));
    for (const internal of ["constructor", "handle", ...(name === "Library" ? ["call", "free"] : [])]) methods.delete(internal);
    assert.deepEqual(declared.sort(), [...methods].sort(), name);
  }
});

test("objects are read from columns and protobuf", () => {
  const cluster = newCluster();
  const template = { apiVersion: "v1", kind: "Node", status: NODE.status };
  assert.equal(cluster.applyColumns(template, { "/metadata/name": ["a", "b"] }).nodes, 2);
  const message = Uint8Array.from("k8s\0\x0a\x0a\x0a\x02v1\x12\x04Node\x12\x05\x0a\x03\x0a\x01c", (letter) => letter.charCodeAt(0));
  assert.equal(cluster.applyProtobuf([message]).nodes, 1);
  assert.equal(cluster.applyProtobuf([]).nodes, 0);
  assert.deepEqual(cluster.nodes(), ["a", "b", "c"]);
  assert.throws(() => cluster.applyProtobuf([message.slice(0, -1)]), (error) => error.code === "invalid-objects");
});

test("errors have codes, and profiles a remedy", () => {
  const parse = () => library.profiles({ "p.toml": "[plugins.score]\ndisabled = ['ImageLocalty']\n" });
  assert.throws(parse, (error) => error instanceof SchedcError && error.code === "invalid-profile" && /ImageLocality/.test(error.message));
  assert.throws(() => newCluster().check("p", "a"), (error) => error.code === "unknown-pod");
  assert.throws(() => newCluster().apply("kind: ["), (error) => error.code === "invalid-objects");
});

test("arbitrary bytes cause errors or answers", () => {
  const seeds = [
    "{ apiVersion: v1, kind: Node, metadata: { name: a }, status: { allocatable: { cpu: 2, pods: 10 } } }",
    JSON.stringify(pod("p", "1")),
    '{"op": "fork"}\n{"op": "check", "pod": "p", "node": "a"}\n{"op": "revert"}',
    '{"id": "s", "profile": "default", "objects": [], "steps": [{"schedule": {"metadata": {"name": "p"}}}]}',
    "k8s\0\x0a\x0a\x0a\x02v1\x12\x04Node\x12\x05\x0a\x03\x0a\x01c",
    'scheduler-name = "own"\n[args.NodeResourcesFit]\n',
    "[".repeat(20_000),
    '{"a":'.repeat(20_000),
  ].map((text) => new TextEncoder().encode(text));
  let state = 1;
  const below = (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const arbitrary = () => {
    const bytes = [...seeds[below(seeds.length)]];
    for (let changes = below(4); changes > 0; changes -= 1) {
      const at = below(bytes.length);
      if (below(3) === 0) bytes.length = at;
      else if (bytes.length) bytes[at] = below(2) ? below(256) : "{}[]\":,-\n\0".charCodeAt(below(10));
    }
    return Uint8Array.from(bytes);
  };
  const profiles = library.profiles({ "default.toml": "" });
  const [cluster, evaluator] = [profiles.cluster("default"), profiles.evaluator()];
  const calls = [
    (bytes) => library.call("cluster_apply", cluster.handle, bytes, 1),
    (bytes) => cluster.requestLines(bytes),
    (bytes) => cluster.applyProtobuf([bytes]),
    (bytes) => evaluator.evaluateLine(bytes),
    (bytes) => evaluator.hintsLine(bytes),
    (bytes) => evaluator.useProfile(bytes),
    (bytes) => library.profiles({ "p.toml": bytes }).free(),
  ];
  let accepted = 0;
  for (let round = 0; round < 2_000; round += 1) {
    const bytes = arbitrary();
    try {
      calls[below(calls.length)](bytes);
      accepted += 1;
    } catch (error) {
      assert.ok(error instanceof SchedcError && error.code !== "panicked", `${error}: ${bytes.slice(0, 200)}`);
    }
  }
  assert.ok(accepted > 100, `${accepted} calls succeeded`);
});
