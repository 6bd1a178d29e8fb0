// Browsers: shows where the pods of a text area would run. A bundler adds schedc.wasm to the page, or the page names its address.
import { type Cluster, type Library, load } from "schedc";

async function library(address: string): Promise<Library> {
  const response = await fetch(address);
  return load(await response.arrayBuffer());
}

function place(cluster: Cluster, manifests: string): string[] {
  cluster.clear();
  cluster.apply(manifests, { defaults: true });
  return Object.entries(cluster.pods()).map(([pod, node]) => {
    const { chosen, message } = node === null ? cluster.decide(pod) : { chosen: node, message: null };
    return `${pod}: ${chosen ?? message}`;
  });
}

const input = document.querySelector<HTMLTextAreaElement>("#manifests");
const output = document.querySelector<HTMLPreElement>("#answers");
if (input && output) {
  const schedc = await library("schedc.wasm");
  const cluster = schedc.profiles({ "default.toml": "" }).cluster("default");
  const show = (): void => {
    try {
      output.textContent = place(cluster, input.value).join("\n");
    } catch (error) {
      output.textContent = String(error);
    }
  };
  input.addEventListener("input", show);
  show();
}
