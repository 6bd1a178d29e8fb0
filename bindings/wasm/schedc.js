// The C library (bindings/c, include/schedc.h) in WebAssembly. docs/libraries.md explains the operations.

const PAGE = 65_536;
const PANICKED = 4;
const CODES = {
  2: "null-pointer", 3: "invalid-utf8", [PANICKED]: "panicked",
  10: "invalid-profile", 11: "unknown-profile", 12: "invalid-objects", 13: "unknown-kind",
  14: "unknown-pod", 15: "unknown-node", 16: "invalid-scenario", 17: "invalid-request",
};
// The argument for the pointer to which a function writes a handle.
const HANDLE = Symbol("handle");

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class SchedcError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "SchedcError";
    this.code = code;
  }
}

/** Compiles `schedc.wasm`, or the given bytes or module, and returns a library. */
export async function load(source) {
  source ??= await readModule(new URL("schedc.wasm", import.meta.url));
  const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
  return new Library(await WebAssembly.instantiate(module, {}));
}

async function readModule(url) {
  if (url.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return readFile(url);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  return response.arrayBuffer();
}

class Library {
  #functions;
  #scratch = { start: 0, size: 0 };
  #failure = null;

  constructor(instance) {
    this.#functions = instance.exports;
  }

  /** The version of the interface. */
  get apiVersion() {
    return this.#functions.schedc_api_version();
  }

  /** The size of the memory in bytes. It never decreases; a new library starts with little memory. */
  get memoryBytes() {
    return this.#functions.memory.buffer.byteLength;
  }

  /** Reads profiles: an object with a text in TOML per file name. */
  profiles(sources) {
    const texts = Object.entries(sources).flat();
    return new Profiles(this, this.call("profiles_parse", texts, texts.length / 2, HANDLE).handle);
  }

  /** Calls `schedc_NAME`. Strings, bytes and arrays of them are passed as pointers to texts. Internal. */
  call(name, ...args) {
    if (this.#failure) {
      throw new SchedcError("panicked", `an earlier call failed (${this.#failure}); load the library again`);
    }
    const frame = this.#frame(args);
    let status;
    try {
      status = this.#functions[`schedc_${name}`](...frame.words, frame.out);
    } catch (error) {
      // A panic is a trap, and a stack overflow a RangeError. Both leave the memory in an unknown state.
      this.#failure = error.message;
      throw new SchedcError("panicked", `schedc failed, please report it: ${error.message}`);
    }
    const { buffer } = this.#functions.memory;
    const [data, length, handle] = new Uint32Array(buffer, frame.out, 3);
    const text = decoder.decode(new Uint8Array(buffer, data, length));
    this.#functions.schedc_buffer_free(frame.out);
    if (status > 1) throw new SchedcError(CODES[status] ?? "other", text);
    return { status, text, handle };
  }

  /** Releases a handle. Internal. */
  free(type, handle) {
    if (!this.#failure && handle) this.#functions[`schedc_${type}_free`](handle);
  }

  // Writes the arguments of a call: the result buffer, the handle, the (data, length) pairs, then their bytes.
  #frame(args) {
    const lists = args.map((arg) => (typeof arg === "number" || arg === HANDLE ? null : [arg].flat().map(bytesOf)));
    const texts = lists.flatMap((list) => list ?? []);
    const headers = 16 + 8 * texts.length;
    const out = this.#reserve(texts.reduce((size, text) => size + text.length, headers));
    const memory = new Uint8Array(this.#functions.memory.buffer);
    const view = new DataView(memory.buffer);
    memory.fill(0, out, out + 16);
    let header = out + 16;
    let next = out + headers;
    const words = args.map((arg, index) => {
      if (arg === HANDLE) return out + 8;
      if (!lists[index]) return arg;
      const pointer = header;
      for (const text of lists[index]) {
        view.setUint32(header, next, true);
        view.setUint32(header + 4, text.length, true);
        memory.set(text, next);
        header += 8;
        next += text.length;
      }
      return pointer;
    });
    return { out, words };
  }

  // Reserves memory in pages that JavaScript adds: the allocator of the library does not use them.
  #reserve(size) {
    if (size > this.#scratch.size) {
      const pages = Math.ceil((2 * size) / PAGE);
      this.#scratch = { start: this.#functions.memory.grow(pages) * PAGE, size: pages * PAGE };
    }
    return this.#scratch.start;
  }
}

function bytesOf(text) {
  return typeof text === "string" ? encoder.encode(text) : text;
}

class Handle {
  #type;
  #handle;

  constructor(library, type, handle) {
    this.library = library;
    this.#type = type;
    this.#handle = handle;
  }

  get handle() {
    if (!this.#handle) throw new TypeError(`this ${this.constructor.name} was freed`);
    return this.#handle;
  }

  free() {
    this.library.free(this.#type, this.#handle);
    this.#handle = 0;
  }
}

export class Profiles extends Handle {
  constructor(library, handle) {
    super(library, "profiles", handle);
  }

  cluster(profile) {
    return new Cluster(this.library, this.library.call("cluster_new", this.handle, profile, HANDLE).handle);
  }

  evaluator() {
    return new Evaluator(this.library, this.library.call("evaluator_new", this.handle, HANDLE).handle);
  }
}

export class Evaluator extends Handle {
  constructor(library, handle) {
    super(library, "evaluator", handle);
  }

  useProfile(name) {
    this.library.call("evaluator_use_profile", this.handle, name);
  }

  /** Returns the line of `schedc evaluate` for a scenario, one JSON object. */
  evaluateLine(scenario) {
    return this.library.call("evaluator_evaluate", this.handle, scenario).text;
  }

  evaluate(scenario) {
    return JSON.parse(this.evaluateLine(JSON.stringify(scenario)));
  }

  /** Returns the line of `schedc evaluate --hints`. */
  hintsLine(scenario) {
    return this.library.call("evaluator_hints", this.handle, scenario).text;
  }
}

export class Cluster extends Handle {
  constructor(library, handle) {
    super(library, "cluster", handle);
  }

  /** Adds or replaces objects: a text in YAML or JSON, an object, or a list of objects. */
  apply(objects, { defaults = false } = {}) {
    const text = typeof objects === "string" ? objects : JSON.stringify({ apiVersion: "v1", kind: "List", items: [objects].flat() });
    return JSON.parse(this.library.call("cluster_apply", this.handle, text, Number(defaults)).text);
  }

  /** Adds or replaces objects of one kind: a template, and for each field that differs its JSON pointer with a list of values. */
  applyColumns(template, columns, { defaults = false } = {}) {
    return this.request("apply-columns", { template, columns, defaults });
  }

  /** Adds or replaces objects in protobuf, as an API server sends them: each message is an object or a list of objects. */
  applyProtobuf(messages) {
    return JSON.parse(this.library.call("cluster_apply_protobuf", this.handle, messages, messages.length).text);
  }

  /** Answers requests, one JSON object per line, with one line per request. */
  requestLines(lines) {
    return this.library.call("cluster_requests", this.handle, lines).text;
  }

  /** Answers many requests with one call: `{ result }` or `{ error }` for each. */
  requests(requests) {
    const lines = requests.map((request) => JSON.stringify(request)).join("\n");
    return this.requestLines(lines).trimEnd().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }

  request(op, fields) {
    const [{ result, error }] = this.requests([{ op, ...fields }]);
    if (error) throw new SchedcError(error.code, error.message);
    return result;
  }

  // If the pod may run on the node, the text is empty, and there is no JSON to parse.
  #answer(name, pod, node) {
    const { status, text } = this.library.call(name, this.handle, pod, node);
    return status ? JSON.parse(text) : { code: "Success" };
  }

  delete(kind, namespace, name) { return this.request("delete", { kind, namespace, name }); }
  clear() { this.request("clear"); }
  fork() { return this.request("fork"); }
  commit() { return this.request("commit"); }
  revert() { return this.request("revert"); }
  forks() { return this.request("forks"); }
  nodes() { return this.request("nodes"); }
  pods() { return this.request("pods"); }
  check(pod, node) { return this.#answer("cluster_check", pod, node); }
  checkNodes(pod, nodes) { return this.request("check-nodes", { pod, nodes }); }
  schedule(pod, node) { return this.#answer("cluster_schedule", pod, node); }
  scheduleOnAny(pod, nodes) { return this.request("schedule-on-any", { pod, nodes }); }
  unschedule(pod) { return this.request("unschedule", { pod }); }
  decide(pod) { return this.request("decide", { pod }); }
  estimate(template, pods, maxNodes) { return this.request("estimate", { template, pods, "max-nodes": maxNodes }); }
}
