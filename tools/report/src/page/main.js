// The page.

const DRAW = { lines: linesView, bars: barsView, heatMap: heatMapView, table: tableView };

function themeButton() {
  const modes = ["auto", "light", "dark"];
  const stored = () => {
    try { return localStorage.getItem("schedc-report-theme"); } catch { return null; }
  };
  const button = el("button", { type: "button", class: "quiet", onclick: () => set(modes[(modes.indexOf(button.value) + 1) % 3]) });
  function set(mode) {
    button.value = mode;
    button.textContent = `Theme: ${mode}`;
    if (mode === "auto") delete root.dataset.theme;
    else root.dataset.theme = mode;
    try { localStorage.setItem("schedc-report-theme", mode); } catch { /* Some browsers store nothing for files. */ }
    redraw();
  }
  const wanted = /[#&]theme=(light|dark)/.exec(location.hash);
  set(wanted ? wanted[1] : modes.includes(stored()) ? stored() : "auto");
  return button;
}

function failed(error) {
  root.dataset.state = "failed";
  document.body.prepend(el("p", { class: "failure", role: "alert" }, `The report cannot be drawn: ${error}`));
}

function draw() {
  const initial = addressSearch();
  const facts = el("dl", { class: "facts" }, ...data.facts.map(({ label, value }) => el("div", {}, el("dt", {}, label), el("dd", {}, value))));
  const notes = data.notes.length ? el("details", { class: "notes" }, el("summary", {}, `Assumptions and limits (${data.notes.length})`),
    el("ul", {}, ...data.notes.map((note) => el("li", {}, note)))) : "";
  const main = el("main", {}, facts, notes);
  const searched = searchBox();
  document.body.append(
    el("header", { class: "top" },
      el("div", { class: "title" }, el("h1", {}, data.title), el("p", {}, data.subtitle)),
      el("div", { class: "tools" }, searched, themeButton(),
        el("button", { type: "button", class: "quiet", onclick: () => print() }, "Print"))),
    main,
    el("footer", {}, `schedc ${data.version}. This file contains all of its data and makes no connections.`));
  for (const view of data.views) main.append(DRAW[view.view](view));
  if (!data.views.some((view) => view.view === "heatMap" || tables.length)) searched.hidden = true;
  const found = document.getElementById("found");
  search.others.push(() => {
    const rows = tables.reduce((sum, table) => sum + table.shown.length, 0);
    found.textContent = search.text ? (rows ? plural(rows, "row") : "nothing found") : "";
  });
  if (initial) {
    document.getElementById("search").value = initial;
    search.text = initial;
    notify();
  }
  addEventListener("beforeprint", () => { printing = true; root.dataset.print = ""; redraw(); });
  addEventListener("afterprint", () => { printing = false; delete root.dataset.print; redraw(); });
  root.dataset.state = "ready";
}

addEventListener("error", (event) => failed(event.message));
try {
  draw();
} catch (error) {
  failed(error);
  throw error;
}
