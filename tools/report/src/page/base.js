// Data, elements, numbers, files and colours.

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;

/** Creates an element. Strings become text, never markup. */
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== ""));
  return element;
}

/** Decodes a list of numbers. */
function numbers(encoded) {
  return Array.isArray(encoded) ? encoded : encoded.at.map((index) => encoded.distinct[index]);
}

// Numbers

const counts = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const oneDecimal = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const twoDecimals = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const DASH = "–";

/** Formats seconds, for example as 1h30m, 1m30s, 12.5s or 300ms. */
function duration(seconds) {
  if (seconds < 0) return "-" + duration(-seconds);
  if (seconds === 0) return "0s";
  if (seconds < 1) return counts.format(seconds * 1000) + "ms";
  const rounded = seconds < 60 ? Math.round(seconds * 100) / 100 : Math.round(seconds);
  const days = Math.floor(rounded / 86400);
  const hours = Math.floor((rounded % 86400) / 3600);
  const minutes = Math.floor((rounded % 3600) / 60);
  const rest = Math.round((rounded % 60) * 100) / 100;
  if (days) return `${days}d${hours ? hours + "h" : ""}${minutes ? minutes + "m" : ""}`;
  if (hours) return `${hours}h${minutes}m${rest ? rest + "s" : ""}`;
  return minutes ? `${minutes}m${rest}s` : `${rest}s`;
}

/** Formats a number with its unit. */
function format(value, unit) {
  if (value === null || value === undefined) return DASH;
  switch (unit) {
    case "percent": return oneDecimal.format(value) + " %";
    case "seconds": return duration(value);
    case "microseconds": return (value < 10 ? twoDecimals : value < 100 ? oneDecimal : counts).format(
      value < 100 ? value : Math.round(value)) + " µs";
    case "millicores": return counts.format(value / 1000) + (Math.abs(value) === 1000 ? " core" : " cores");
    case "bytes": {
      const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
      let [amount, at] = [value, 0];
      while (Math.abs(amount) >= 1024 && at + 1 < units.length) [amount, at] = [amount / 1024, at + 1];
      return (at ? oneDecimal : counts).format(amount) + " " + units[at];
    }
    default: return counts.format(value);
  }
}

function plural(count, noun) {
  return `${counts.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// Files

/** Formats a cell. A leading quote keeps spreadsheets from reading text as a formula. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText(rows) {
  return rows.map((row) => row.map(csvCell).join(",") + "\r\n").join("");
}

/** Returns a button that saves rows as a file of comma-separated values. */
function csvButton(title, rows) {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") + ".csv";
  return el("button", {
    type: "button", class: "quiet", "data-csv": name, "aria-label": `Save ${title} as CSV`,
    onclick: () => {
      const address = URL.createObjectURL(new Blob(["\ufeff", csvText(rows())], { type: "text/csv" }));
      el("a", { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    },
  }, "CSV");
}

// Colours

/** Width of charts on paper, in CSS pixels. */
const PAPER_WIDTH = 630;
let printing = false;
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  if (printing) return false;
  return root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;
}

/** Returns the value of a style variable. */
function style(name) {
  return getComputedStyle(root).getPropertyValue(name).trim();
}

const redraws = [];

/** Calls a function now, and again when colours change. */
function onColours(draw) {
  redraws.push(draw);
  draw();
}

function redraw() {
  redraws.forEach((draw) => draw());
}

systemDark.addEventListener("change", redraw);

/** Returns the frame of a view. */
function section(view, ...controls) {
  const id = "view-" + section.next++;
  const heading = el("h2", { id }, view.title);
  const bar = el("div", { class: "controls" }, ...controls);
  const frame = el("section", { class: view.half ? "card half" : "card", "aria-labelledby": id },
    el("header", {}, el("div", {}, heading, view.description && el("p", { class: "description" }, view.description)), bar));
  return frame;
}
section.next = 1;
