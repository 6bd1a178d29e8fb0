// Reports in Chromium: the arguments are files. CHROMIUM is the browser; SCREENSHOTS, a folder, gets pictures.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "../../testing/browser.mjs";

const SCREENS = [
  { width: 1280, height: 900, scheme: "light" },
  { width: 1280, height: 900, scheme: "dark" },
  { width: 390, height: 844, scheme: "light" },
  { width: 390, height: 844, scheme: "dark" },
];

// Texts that end outside of the page, and are in no element that scrolls.
const CUT_OFF = `(() => {
  const cut = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(text);
    const { right, width } = range.getBoundingClientRect();
    if (!width || !text.data.trim() || right <= innerWidth + 1) continue;
    let at = text.parentElement;
    while (at && !["auto", "scroll"].includes(getComputedStyle(at).overflowX)) at = at.parentElement;
    if (!at) cut.push(text.data.trim());
  }
  return cut;
})()`;

const browser = await open(process.env.CHROMIUM ?? "chromium");
try {
  for (const file of process.argv.slice(2)) {
    for (const { width, height, scheme } of SCREENS) {
      const screen = `${basename(file, ".html")}-${width}-${scheme}`;
      await browser.call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
      await browser.call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 500 });
      await browser.call("Page.navigate", { url: pathToFileURL(file).href });
      await browser.until(`document.querySelector("[data-state=ready]")`);
      const right = await browser.evaluate("document.documentElement.scrollWidth");
      assert.ok(right <= width, `${screen}: the page is ${right} pixels wide`);
      assert.deepEqual(await browser.evaluate(CUT_OFF), [], `${screen}: texts are cut off`);
      if (process.env.SCREENSHOTS) {
        const { data } = await browser.call("Page.captureScreenshot", { captureBeyondViewport: true });
        writeFileSync(join(process.env.SCREENSHOTS, `${screen}.png`), Buffer.from(data, "base64"));
      }
    }
    const search = await browser.evaluate(`!!document.getElementById("search")`);
    if (search) {
      await browser.evaluate(`{ const box = document.getElementById("search"); box.value = "no such pod";
        box.dispatchEvent(new Event("input", { bubbles: true })); }`);
      await browser.until(`document.getElementById("found").innerText !== ""`);
    }
    assert.deepEqual(browser.errors, [], `${file}: the console has messages`);
    console.log(`${basename(file)} fits on all screens${search ? ", and has a search" : ""}`);
  }
} finally {
  await browser.close();
}
