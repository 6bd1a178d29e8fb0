// Builds schedc.wasm for the npm package and target/playground/index.html: `node bindings/wasm/build.mjs`.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const LIMIT = 3 * 1024 * 1024;
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");

// The default stack of a module is 1 MiB; deeply nested input needs more.
execFileSync(
  process.env.CARGO ?? "cargo",
  ["rustc", "--package", "schedc-c", "--lib", "--crate-type", "cdylib", "--target", "wasm32-unknown-unknown",
    "--profile", "wasm", "--", "-C", "link-arg=-zstack-size=4194304"],
  { cwd: root, stdio: "inherit" },
);
const library = join(target, "wasm32-unknown-unknown/wasm/schedc_c.wasm");
copyFileSync(library, join(here, "schedc.wasm"));
copyFileSync(join(root, "LICENSE"), join(here, "LICENSE"));

const read = (name) => readFileSync(join(here, name), "utf8");
const url = (name) => `data:text/javascript;base64,${readFileSync(join(here, name)).toString("base64")}`;
const imports = { schedc: url("schedc.js"), examples: url("playground/examples.js") };
const parts = {
  STYLE: read("playground/style.css"),
  IMPORTS: JSON.stringify({ imports }),
  MODULE: gzipSync(readFileSync(library), { level: 9 }).toString("base64"),
  SCRIPT: read("playground/app.js"),
};
const page = read("playground/index.html").replace(/\{\{(\w+)\}\}/g, (_, part) => parts[part]);
const folder = join(target, "playground");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "index.html"), page);
const size = gzipSync(page, { level: 9 }).length;
console.log(`${join(folder, "index.html")}: ${(size / 1024 / 1024).toFixed(2)} MiB compressed`);
if (size > LIMIT) throw new Error(`the page has ${size} bytes compressed, more than ${LIMIT}`);
