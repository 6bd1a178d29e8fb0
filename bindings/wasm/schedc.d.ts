/** An instance of the library, with separate memory and objects. */
export interface Library {
  readonly apiVersion: number;
  readonly memoryBytes: number;
  /** Reads profiles: a text in TOML for each file name, such as `packed.toml`. An empty text is the default profile. */
  profiles(sources: Record<string, string>): Profiles;
}

/** Compiles `schedc.wasm` next to this file, or the given bytes or module. */
export function load(source?: BufferSource | WebAssembly.Module): Promise<Library>;

export type ErrorCode =
  | "null-pointer" | "invalid-utf8" | "panicked" | "invalid-profile" | "unknown-profile" | "invalid-objects"
  | "unknown-kind" | "unknown-pod" | "unknown-node" | "invalid-scenario" | "invalid-request" | "other";

export class SchedcError extends Error {
  readonly code: ErrorCode;
}

export class Profiles {
  /** Creates a cluster for the profile of this name or scheduler name. */
  cluster(profile: string): Cluster;
  evaluator(): Evaluator;
  /** Releases the profiles. Clusters and evaluators are not affected. */
  free(): void;
}

export type KubernetesObject = Record<string, unknown>;
export type Code = "Success" | "Unschedulable" | "UnschedulableAndUnresolvable" | "Error" | "Skip";

export interface Answer {
  code: Code;
  plugin?: string;
  reasons?: string[];
}

export interface NodeResult extends Answer {
  scores?: Record<string, number>;
  raw?: Record<string, number>;
  total?: number;
}

/** A decision in the format of `schedc evaluate`. */
export interface Decision {
  pod: string;
  preenqueue?: Answer;
  skipped?: string;
  prefilter: (Answer & { nodes?: string[]; skip?: string[] }) | null;
  nodes: Record<string, NodeResult>;
  feasible: string[];
  best: string[];
  chosen: string | null;
  chosenBy?: string;
  message: string | null;
  messages?: string[];
  reason?: string;
  unschedulablePlugins?: string[];
  preemption: Preemption | null;
  allocations?: Record<string, unknown[]>;
}

export interface Preemption {
  code: Code;
  plugin?: string;
  nominating?: "set" | "clear" | "keep";
  outcomes?: { node: string; victims: string[] }[];
  candidates?: { node: string; victims: string[]; pdbViolations: number }[];
  deallocates?: string[];
  deletes?: string[];
}

export interface Applied {
  nodes: number;
  pods: number;
  others: number;
  skipped: Record<string, number>;
  warnings?: string[];
}

export interface Placement {
  node: string | null;
  rejection?: Answer;
}

export interface Estimate {
  nodes: number;
  placed: string[];
  left: { pod: string; rejection: Answer | null }[];
}

export type Response = { result: unknown } | { error: { code: ErrorCode; message: string } };

/** A cluster. A pod is `namespace/name`, or a name in the namespace `default`. */
export class Cluster {
  /** Adds or replaces objects: a text in YAML or JSON, an object, or a list of objects. */
  apply(objects: string | KubernetesObject | KubernetesObject[], options?: { defaults?: boolean }): Applied;
  /**
   * Adds or replaces objects of one kind, which differ from the template in the values of columns. A column is named by the JSON pointer of
   * its field, such as `/metadata/name`; for `null`, the field is as in the template.
   */
  applyColumns(template: KubernetesObject, columns: Record<string, unknown[]>, options?: { defaults?: boolean }): Applied;
  /** Adds or replaces objects in protobuf, as an API server sends them: each message is an object or a list of objects. */
  applyProtobuf(messages: Uint8Array[]): Applied;
  delete(kind: string, namespace: string, name: string): boolean;
  clear(): void;
  fork(): number;
  commit(): number;
  revert(): number;
  forks(): number;
  nodes(): string[];
  pods(): Record<string, string | null>;
  check(pod: string, node: string): Answer;
  checkNodes(pod: string, nodes?: string[]): Record<string, Answer>;
  schedule(pod: string, node: string): Answer;
  scheduleOnAny(pod: string, nodes?: string[]): Placement;
  unschedule(pod: string): boolean;
  decide(pod: string): Decision;
  estimate(template: KubernetesObject[], pods: string[], maxNodes: number): Estimate;
  /** Answers one request; docs/libraries.md describes the requests. */
  request(op: string, fields?: Record<string, unknown>): unknown;
  /** Answers many requests with one call. An error does not prevent the requests after it. */
  requests(requests: ({ op: string } & Record<string, unknown>)[]): Response[];
  /** Answers requests as texts, one JSON object per line. */
  requestLines(lines: string | Uint8Array): string;
  free(): void;
}

export class Evaluator {
  /** Lets this profile decide, regardless of the profiles that scenarios name. */
  useProfile(name: string): void;
  evaluate(scenario: object): { id: string; profile: string; results: Decision[] };
  /** Returns the line that `schedc evaluate` writes for a scenario. */
  evaluateLine(scenario: string | Uint8Array): string;
  hintsLine(scenario: string | Uint8Array): string;
  free(): void;
}
