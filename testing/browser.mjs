// Chromium without a window, over the pipe of the DevTools protocol.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function open(program) {
  const folder = mkdtempSync(join(tmpdir(), "schedc-browser-"));
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe", `--user-data-dir=${folder}`];
  const child = spawn(program, [...flags, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const waiting = new Map();
  const errors = [];
  let last = 0;
  let rest = "";
  child.stdio[4].on("data", (data) => {
    const messages = (rest + data).split("\0");
    rest = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) receive(message);
  });
  const failAll = (reason) => waiting.forEach(({ reject }) => reject(new Error(reason)));
  child.on("error", (error) => failAll(error.message));
  child.on("exit", (code) => failAll(`${program} ended with ${code}`));

  function receive({ id, result, error, method, params }) {
    if (id) {
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (error) reject(new Error(error.message));
      else resolve(result);
    } else if (method === "Runtime.exceptionThrown") {
      errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    } else if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type)) {
      errors.push(JSON.stringify(params.args));
    } else if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) {
      errors.push(params.entry.text);
    }
  }

  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });

  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const call = (method, params) => send(method, params, sessionId);
  for (const domain of ["Page", "Runtime", "Log"]) await call(`${domain}.enable`);

  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  return {
    call,
    errors,
    evaluate,
    /** Waits until an expression is true in the page. */
    async until(expression) {
      for (let attempts = 0; attempts < 600; attempts += 1) {
        if (await evaluate(expression).catch(() => false)) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`never true: ${expression}; errors: ${errors.join("\n")}; page: ${await evaluate("document.body.innerText")}`);
    },
    async close() {
      const ended = new Promise((resolve) => child.on("exit", resolve));
      await send("Browser.close").catch(() => child.kill());
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
