// Measures the npm package: questions.mjs OBJECTS. benches/workloads/libraries.sh describes the settings and the output.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { load } from "../../bindings/wasm/schedc.js";

const [NODES, CHECKS, FORKS, DECISIONS, THREADS] = ["NODES", "CHECKS", "FORKS", "DECISIONS", "THREADS"].map((name) => Number(process.env[name]));
const names = Array.from({ length: NODES }, (_, at) => `node-${at}`);

async function newCluster(path) {
  const library = await load();
  const cluster = library.profiles({ "default.toml": "" }).cluster("default");
  cluster.apply(readFileSync(path, "utf8"));
  return cluster;
}

function checks(cluster, count) {
  for (let at = 0; at < count; at += 1) {
    if (cluster.check("waiting", names[at % NODES]).code !== "Success") throw new Error("the pod fits on every node");
  }
}

function measure(operation, count, work) {
  const begin = performance.now();
  work();
  report(operation, begin, count);
}

function report(operation, begin, count) {
  console.log(`JavaScript\t${operation}\t${(((performance.now() - begin) * 1e3) / count).toFixed(3)}`);
}

if (isMainThread) {
  const path = process.argv[2];
  const cluster = await newCluster(path);
  measure("check", CHECKS, () => checks(cluster, CHECKS));
  const calls = Math.floor(CHECKS / NODES);
  measure("check-nodes", calls * NODES, () => {
    for (let call = 0; call < calls; call += 1) cluster.checkNodes("waiting", names);
  });
  measure("fork", FORKS, () => {
    for (let at = 0; at < FORKS; at += 1) {
      cluster.fork();
      cluster.schedule("waiting", names[at % NODES]);
      cluster.revert();
    }
  });
  measure("decide", DECISIONS, () => {
    for (let at = 0; at < DECISIONS; at += 1) cluster.decide("waiting");
  });
  const workers = Array.from({ length: THREADS }, () => new Worker(fileURLToPath(import.meta.url), { workerData: path }));
  const next = (worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await Promise.all(workers.map(next));
  const begin = performance.now();
  const ends = workers.map(next);
  for (const worker of workers) worker.postMessage("begin");
  await Promise.all(ends);
  report("threads", begin, CHECKS);
  for (const worker of workers) worker.terminate();
} else {
  const cluster = await newCluster(workerData);
  parentPort.once("message", () => {
    checks(cluster, CHECKS / THREADS);
    parentPort.postMessage("end");
  });
  parentPort.postMessage("ready");
}
