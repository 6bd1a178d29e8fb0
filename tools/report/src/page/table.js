// Tables: sorted, searched, in pages, with details for each row.

const PAGE = 50;
/** Tables with pods or nodes, which the search applies to. */
const tables = [];

/** A decoded table. */
class Rows {
  constructor(view) {
    this.view = view;
    this.columns = view.columns.map((column) => ({
      ...column,
      at: column.values.strings,
      values: column.values.strings ? null : numbers(column.values.numbers),
    }));
    this.isSearched = this.columns.some((column) => column.kind === "pod" || column.kind === "node");
    this.order = Array.from({ length: view.rows }, (_, row) => row);
    this.shown = this.order;
  }

  /** Returns the value of a cell. */
  value(column, row) {
    return column.at ? data.strings[column.at[row]] : column.values[row];
  }

  /** Keeps the rows that match the search. */
  filter() {
    const match = this.isSearched ? matcher(search.text) : null;
    if (!match) {
      this.shown = this.order;
      return;
    }
    const columns = this.columns.filter((column) => column.at && match.accepts(column.kind));
    // Each distinct text is compared once.
    const known = new Map();
    const matches = (index) => {
      let found = known.get(index);
      if (found === undefined) known.set(index, (found = match.matches(data.strings[index].toLowerCase())));
      return found;
    };
    this.shown = this.order.filter((row) => columns.some((column) => matches(column.at[row])));
  }

  sort(column, descending) {
    const sign = descending ? -1 : 1;
    const compare = column.at
      ? (a, b) => collator.compare(this.value(column, a), this.value(column, b))
      : (a, b) => (this.value(column, a) ?? -Infinity) - (this.value(column, b) ?? -Infinity) || 0;
    this.order = [...this.order].sort((a, b) => sign * compare(a, b) || a - b);
  }

  csv() {
    const head = this.columns.map((column) => column.name + (column.unit && column.unit !== "count" ? ` (${column.unit})` : ""));
    return [head, ...this.shown.map((row) => this.columns.map((column) => this.value(column, row)))];
  }
}

/** Allows line breaks within names of plugins. */
function breakable(name) {
  return name.replace(/([a-z])([A-Z])/g, "$1\u200b$2");
}

const collator = new Intl.Collator("en", { numeric: true });

function cell(rows, column, row) {
  const value = rows.value(column, row);
  const isNumber = !column.at;
  const attributes = { "data-label": column.name, class: isNumber ? "number" : column.kind };
  if (column.kind === "node" && value) {
    return el("td", attributes, searchLink(value, `node:"${value}"`));
  }
  if (column.kind !== "bar" || value === null) {
    return el("td", attributes, isNumber ? format(value, column.unit) : value || DASH);
  }
  const bar = el("span", { class: "bar" + (value > column.max ? " over" : "") });
  bar.style.width = Math.max(0, Math.min(100, (value / column.max) * 100)) + "%";
  return el("td", { ...attributes, class: "number with-bar" },
    el("span", { class: "track", "aria-hidden": "true" }, bar), el("span", {}, format(value, column.unit)));
}

/** Returns the candidates of a decision, with the weighted scores of their plugins. */
function candidatesOf(decisions, encoded) {
  const candidates = [];
  for (let at = 2; at + 2 < encoded.length; at += 3) {
    const [list, ...normalized] = decisions.scores[encoded[at + 2]];
    const plugins = decisions.plugins[list];
    const parts = new Map(normalized.map((score, index) => [data.strings[plugins[2 * index]],
      { weight: plugins[2 * index + 1], weighted: score * plugins[2 * index + 1] }]));
    const total = [...parts.values()].reduce((sum, { weighted }) => sum + weighted, 0);
    candidates.push({ role: data.strings[encoded[at]], node: data.strings[encoded[at + 1]], parts, total });
  }
  return candidates;
}

/** Returns the scores of the candidates of a decision, a bar for each plugin and node. */
function scores(decisions, encoded) {
  const [feasible, best] = encoded;
  const candidates = candidatesOf(decisions, encoded);
  const ties = best > 1 ? `, of which ${counts.format(best)} have the highest total` : "";
  const frame = el("div", { class: "scores" }, feasible ? el("p", {}, `${plural(feasible, "feasible node")}${ties}.`) : null);
  const plugins = [...new Set(candidates.flatMap(({ parts }) => [...parts.keys()]))];
  if (!plugins.length) return frame;
  const max = Math.max(1, ...candidates.flatMap(({ parts }) => [...parts.values()].map(({ weighted }) => weighted)));
  const head = el("tr", {}, el("th", { scope: "col" }, "Score"), el("th", { scope: "col", class: "number" }, "Weight"),
    ...candidates.map(({ node, role }) => el("th", { scope: "col", class: "number" }, node, el("small", {}, role))));
  const body = plugins.map((plugin) => {
    const parts = candidates.map((candidate) => candidate.parts.get(plugin));
    const weights = [...new Set(parts.filter(Boolean).map(({ weight }) => counts.format(weight)))];
    return el("tr", {}, el("th", { scope: "row" }, breakable(plugin)), el("td", { class: "number" }, weights.join(" / ")),
      ...parts.map((part, of) => {
        if (!part) return el("td", { class: "number" }, DASH);
        const bar = el("span", { class: of ? "bar other" : "bar" });
        bar.style.width = Math.max(0, (part.weighted / max) * 100) + "%";
        return el("td", { class: "number with-bar" }, el("span", { class: "track", "aria-hidden": "true" }, bar),
          el("span", {}, counts.format(part.weighted)));
      }));
  });
  const total = el("tr", { class: "total" }, el("th", { scope: "row" }, "Total"), el("td"),
    ...candidates.map((candidate) => el("td", { class: "number" }, counts.format(candidate.total))));
  frame.append(el("table", { class: "inner" }, el("thead", {}, head), el("tbody", {}, ...body, total)));
  return frame;
}

function details(rows, row) {
  const list = el("dl");
  for (const column of rows.columns.filter((column) => column.hidden)) {
    const value = rows.value(column, row);
    if (value === "" || value === null) continue;
    list.append(el("div", {}, el("dt", {}, column.name), el("dd", {}, column.at ? value : format(value, column.unit))));
  }
  const { decisions } = rows.view;
  const decision = decisions && decisions.rows[row];
  const parts = [list.childElementCount ? list : null, decision ? scores(decisions, decision) : null].filter(Boolean);
  return parts.length ? parts : [el("p", {}, "No more details.")];
}

function tableView(view) {
  const rows = new Rows(view);
  const visible = rows.columns.filter((column) => !column.hidden);
  const hasDetails = visible.length < rows.columns.length || Boolean(view.decisions);
  const state = { page: 0, sorted: null, descending: false };
  const body = el("tbody");
  const pages = el("nav", { class: "pages", "aria-label": `Pages of ${view.title}` });
  const heads = visible.map((column) => el("th", { scope: "col", class: column.at ? column.kind : "number", "aria-sort": "none" },
    el("button", { type: "button", class: "sort", onclick: () => sortBy(column) }, breakable(column.name))));

  function sortBy(column) {
    state.descending = state.sorted === column ? !state.descending : !column.at;
    state.sorted = column;
    rows.sort(column, state.descending);
    heads.forEach((head, index) => head.setAttribute("aria-sort",
      visible[index] !== column ? "none" : state.descending ? "descending" : "ascending"));
    update();
  }

  function line(row) {
    const cells = visible.map((column) => cell(rows, column, row));
    const line = el("tr", {}, ...cells);
    if (!hasDetails) return [line];
    let extra = null;
    const button = el("button", {
      type: "button", class: "expand", "aria-expanded": "false", "aria-label": `Details of ${rows.value(visible[0], row)}`,
      onclick: () => {
        if (extra) extra.remove();
        extra = extra ? null : el("tr", { class: "details" }, el("td", { colspan: visible.length }, ...details(rows, row)));
        if (extra) line.after(extra);
        button.setAttribute("aria-expanded", String(Boolean(extra)));
      },
    });
    cells[0].prepend(button);
    return [line];
  }

  function draw() {
    const last = Math.max(0, Math.ceil(rows.shown.length / PAGE) - 1);
    state.page = Math.min(state.page, last);
    const from = state.page * PAGE;
    const shown = rows.shown.slice(from, from + PAGE);
    body.replaceChildren(...shown.flatMap(line));
    if (!shown.length) {
      const text = rows.order.length ? `No row matches “${search.text}”.` : view.empty || "No rows.";
      body.append(el("tr", { class: "empty" }, el("td", { colspan: visible.length }, text)));
    }
    const turn = (label, page, text) => el("button", {
      type: "button", class: "quiet", "aria-label": label, disabled: page < 0 || page > last || page === state.page,
      onclick: () => { state.page = page; draw(); },
    }, text);
    const all = rows.shown.length < rows.order.length ? ` (${counts.format(rows.order.length)} in all)` : "";
    const range = shown.length && (last > 0 || all) ? `${counts.format(from + 1)}–${counts.format(from + shown.length)} of ${counts.format(rows.shown.length)}${all}` : "";
    pages.replaceChildren(el("span", {}, range));
    if (last > 0) {
      pages.append(el("span", { class: "turn" }, turn("First page", state.page ? 0 : -1, "«"), turn("Previous page", state.page - 1, "‹"),
        turn("Next page", state.page + 1, "›"), turn("Last page", last, "»")));
    }
    // If the search finds a single row, its details are opened.
    if (hasDetails && search.text && rows.isSearched && rows.shown.length === 1) body.querySelector(".expand").click();
  }

  function update() {
    rows.filter();
    state.page = 0;
    draw();
  }

  if (rows.isSearched) {
    tables.push(rows);
    search.tables.push(update);
  }
  const frame = section(view, csvButton(view.title, () => rows.csv()));
  frame.append(el("div", { class: "scroll" },
    el("table", { class: hasDetails ? "rows expandable" : "rows" }, el("thead", {}, el("tr", {}, ...heads)), body)), pages);
  update();
  return frame;
}
