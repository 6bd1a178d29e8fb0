// The playground in Chromium. SCHEDC_PLAYGROUND is the page, CHROMIUM the browser; SCREENSHOTS, a folder, gets pictures.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { open } from "../../../testing/browser.mjs";

const page = pathToFileURL(process.env.SCHEDC_PLAYGROUND).href;
let browser;

before(async () => {
  browser = await open(process.env.CHROMIUM ?? "chromium");
  await browser.call("Page.navigate", { url: page });
  await browser.until(`document.querySelector("details")`);
});
after(() => browser?.close());

async function type(field, text) {
  const set = `at.value = ${JSON.stringify(text)}; at.dispatchEvent(new Event("input"));`;
  await browser.evaluate(`{ const at = document.getElementById("${field}"); ${set} }`);
}

async function screenshot(name, width, height, scheme) {
  if (!process.env.SCREENSHOTS) return;
  await browser.call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  await browser.call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 500 });
  const { data } = await browser.call("Page.captureScreenshot", { captureBeyondViewport: true });
  writeFileSync(join(process.env.SCREENSHOTS, `${name}.png`), Buffer.from(data, "base64"));
}

test("a pending pod shows its reason, and another one its node", async () => {
  const card = (pod) => browser.evaluate(`document.querySelector('[data-pod="default/${pod}"]').innerText`);
  assert.match(await card("train-0"), /waits[^]*0\/3 nodes are available[^]*Insufficient cpu/);
  assert.match(await card("web-1"), /→ (north|south)-1/);
  assert.ok((await browser.evaluate(`document.querySelectorAll(".bar i").length`)) > 2);
  await screenshot("wide-light", 1280, 1100, "light");
  await screenshot("phone-dark", 390, 2200, "dark");
});

test("nothing is wider than a phone", async () => {
  await browser.call("Emulation.setDeviceMetricsOverride", { width: 390, height: 800, deviceScaleFactor: 1, mobile: true });
  assert.equal(await browser.evaluate("document.documentElement.scrollWidth"), 390);
  await browser.call("Emulation.clearDeviceMetricsOverride");
});

test("a typing error in a profile shows its remedy", async () => {
  await type("profile", "[args.NodeResourcesFitt]\n");
  await browser.until(`!document.getElementById("profile-problems").hidden`);
  const problems = await browser.evaluate(`document.getElementById("profile-problems").innerText`);
  assert.match(problems, /did you mean[^]*NodeResourcesFit/);
  await screenshot("error-light", 1280, 1100, "light");
  await type("profile", "");
  await browser.until(`document.getElementById("profile-state").innerText === "valid"`);
});

test("wrong objects show their problem", async () => {
  await type("objects", "apiVersion: v1\nkind: Node\nmetadata: { name: [] }\n");
  await browser.until(`document.getElementById("objects-problems").innerText.includes("name")`);
});

test("the address restores the state", async () => {
  await type("objects", "apiVersion: v1\nkind: Pod\nmetadata: { name: ünique }\nspec: { containers: [{ name: c }] }\n# shared");
  await browser.until(`location.hash.length > 20 && document.getElementById("objects").value.endsWith("# shared")`);
  await browser.evaluate(`new Promise((resolve) => setTimeout(resolve, 500))`);
  const address = await browser.evaluate("location.href");
  await browser.call("Page.navigate", { url: "about:blank" });
  await browser.call("Page.navigate", { url: address });
  await browser.until(`document.getElementById("objects")?.value.endsWith("# shared")`);
});

test("the console has no errors", () => assert.deepEqual(browser.errors, []));
