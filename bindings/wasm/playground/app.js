import { load, SchedcError } from "schedc";
import examples from "examples";

const MEMORY_LIMIT = 256 * 1024 * 1024;
const COLORS = ["#3b82f6", "#f59e0b", "#10b981", "#a855f7", "#64748b", "#06b6d4", "#ec4899", "#84cc16", "#6366f1", "#78716c"];
const at = (id) => document.getElementById(id);
const element = (tag, className, ...children) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
};

async function transform(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

function bytesOfBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

// Returns the fragment of the page's address: the state in JSON, compressed.
async function encodeState(state) {
  const bytes = await transform(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function decodeState(fragment) {
  const bytes = bytesOfBase64(fragment.replaceAll("-", "+").replaceAll("_", "/"));
  const state = JSON.parse(new TextDecoder().decode(await transform(bytes, new DecompressionStream("deflate-raw"))));
  if (typeof state?.profile !== "string" || typeof state?.objects !== "string") throw new TypeError("not a state");
  return state;
}

function show(field, badge, problems) {
  const list = at(`${field}-problems`);
  list.hidden = !problems;
  list.textContent = problems ?? "";
  at(field).setAttribute("aria-invalid", String(Boolean(problems)));
  at(`${field}-state`).textContent = badge;
  at(`${field}-state`).className = `badge ${problems ? "bad" : badge ? "good" : ""}`;
}

let module;
let library;

// Returns the result of `work`. If it throws a SchedcError, shows the message below the field, and returns null.
function attempt(field, work) {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SchedcError)) throw error;
    if (error.code === "panicked") library = null;
    show(field, "has problems", error.message);
    return null;
  }
}

async function evaluate() {
  // Each library keeps the texts of all its profiles in memory; a new one starts with little memory.
  if (!library || library.memoryBytes > MEMORY_LIMIT) library = await load(module);
  const profiles = attempt("profile", () => library.profiles({ "profile.toml": at("profile").value }));
  if (!profiles) return fail("the profile has problems");
  const cluster = attempt("profile", () => profiles.cluster("profile"));
  profiles.free();
  if (!cluster) return fail("the profile has problems");
  show("profile", "valid");
  try {
    const applied = attempt("objects", () => cluster.apply(at("objects").value, { defaults: true }));
    if (!applied) return fail("the cluster has problems");
    const ignored = Object.entries(applied.skipped).map(([kind, count]) => `${count} ${kind} ignored`);
    show("objects", [`${applied.nodes} nodes`, `${applied.pods} pods`, ...ignored].join(", "));
    const decisions = attempt("objects", () => decideAll(cluster));
    if (!decisions) return fail("the decision failed");
    showDecisions(decisions);
  } finally {
    if (library) cluster.free();
  }
}

function decideAll(cluster) {
  const pending = Object.entries(cluster.pods()).filter(([, node]) => node === null);
  return pending.map(([pod]) => {
    const decision = cluster.decide(pod);
    if (decision.chosen) cluster.schedule(pod, decision.chosen);
    return decision;
  });
}

function fail(reason) {
  at("summary").textContent = reason;
  at("summary").className = "badge bad";
  at("decisions").replaceChildren();
}

function showDecisions(decisions) {
  const placed = decisions.filter((decision) => decision.chosen).length;
  at("summary").textContent = decisions.length ? `${placed} of ${decisions.length} pods placed` : "no pending pods";
  at("summary").className = `badge ${placed === decisions.length ? "good" : "bad"}`;
  const open = new Set([...document.querySelectorAll("details[open]")].map((details) => details.dataset.pod));
  const isFirst = !document.querySelector("details");
  at("decisions").replaceChildren(...decisions.map((decision) => podCard(decision, isFirst || open.has(decision.pod))));
}

function podCard(decision, isOpen) {
  const name = decision.pod.replace(/^default\//, "");
  const badge = decision.chosen
    ? element("span", "badge good", `→ ${decision.chosen}`)
    : element("span", "badge bad", decision.preenqueue ? "held" : "waits");
  const summary = element("summary", "", element("strong", "", name), badge);
  const why = reasonOf(decision);
  if (why) summary.append(element("span", "why", why));
  const details = element("details", "", summary, nodeTable(decision));
  details.dataset.pod = decision.pod;
  details.open = isOpen;
  return details;
}

function reasonOf(decision) {
  if (decision.preenqueue) return reasonsOf(decision.preenqueue);
  if (decision.chosen) return "";
  const outcomes = decision.preemption?.outcomes ?? [];
  const evictions = outcomes.map(({ node, victims }) => `Preemption: deletes ${victims.join(", ")} on ${node}.`);
  return [decision.message, ...evictions].filter(Boolean).join(" ");
}

const reasonsOf = ({ code, plugin, reasons }) => `${(reasons ?? []).join(", ") || code}${plugin ? ` (${plugin})` : ""}`;

function nodeTable(decision) {
  const nodes = Object.entries(decision.nodes ?? {});
  nodes.sort(([, a], [, b]) => (b.total ?? -1) - (a.total ?? -1));
  const highest = Math.max(1, ...nodes.map(([, node]) => node.total ?? 0));
  const plugins = [...new Set(nodes.flatMap(([, node]) => Object.keys(node.scores ?? {})))].sort();
  const colorOf = (plugin) => COLORS[plugins.indexOf(plugin) % COLORS.length];
  const rows = nodes.map(([name, node]) => {
    const row = element("div", name === decision.chosen ? "node chosen" : "node", element("span", "", name));
    if (node.code !== "Success") {
      row.append(element("span", "reasons", reasonsOf(node)));
      return row;
    }
    const scores = plugins.map((plugin) => [plugin, node.scores?.[plugin] ?? 0]).filter(([, score]) => score > 0);
    const bar = element("span", "bar");
    bar.setAttribute("role", "img");
    bar.setAttribute("aria-label", scores.map(([plugin, score]) => `${plugin} ${score}`).join(", ") || "feasible");
    for (const [plugin, score] of scores) {
      const part = element("i", "");
      part.style.cssText = `width: ${(100 * score) / highest}%; background: ${colorOf(plugin)}`;
      part.title = `${plugin}: ${score}`;
      bar.append(part);
    }
    row.append(bar, element("span", "total", String(node.total ?? "")));
    return row;
  });
  const legend = plugins.filter((plugin) => nodes.some(([, node]) => node.scores?.[plugin])).map((plugin) => {
    const color = element("i", "");
    color.style.background = colorOf(plugin);
    return element("li", "", color, plugin);
  });
  return element("div", "detail", ...rows, element("ul", "legend", ...legend));
}

const state = () => ({ profile: at("profile").value, objects: at("objects").value });

async function update() {
  await evaluate();
  history.replaceState(null, "", `#${await encodeState(state())}`);
}

function setState({ profile, objects }) {
  at("profile").value = profile;
  at("objects").value = objects;
}

let timer;
function updateSoon() {
  clearTimeout(timer);
  timer = setTimeout(update, 250);
}

async function restore() {
  const fragment = location.hash.slice(1);
  const restored = fragment && (await decodeState(fragment).catch(() => null));
  setState(restored || Object.values(examples)[0]);
  if (restored) at("example").selectedIndex = -1;
  await update();
}

at("example").append(...Object.keys(examples).map((title) => new Option(title)));
at("example").addEventListener("change", () => {
  setState(examples[at("example").value]);
  update();
});
for (const field of ["profile", "objects"]) at(field).addEventListener("input", updateSoon);
at("share").addEventListener("click", async () => {
  await update();
  const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  at("shared").textContent = copied ? "Copied" : "The address of this page is the link";
});
addEventListener("hashchange", restore);
module = await WebAssembly.compile(await transform(bytesOfBase64(at("module").textContent), new DecompressionStream("gzip")));
at("module").remove();
await restore();
