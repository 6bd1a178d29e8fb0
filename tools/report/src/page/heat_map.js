// Heat maps: a cell for each node.

const LEVEL = new Map([...data.levels].map((character, level) => [character, level]));
const OVER = data.levels.length - 1;

/** Returns the share of a character in percent: null without the resource, infinite above 100 %. */
function share(character) {
  const level = LEVEL.get(character);
  return level === undefined ? null : level === OVER ? Infinity : (level / (OVER - 1)) * 100;
}

function shareText(percent) {
  return percent === null ? "not available" : percent === Infinity ? "over 100 %" : `about ${Math.round(percent)} %`;
}

/** Returns the nodes of the rows that match the search; null without a search. */
function foundNodes() {
  if (!matcher(search.text)) return null;
  const found = new Set();
  for (const rows of tables) {
    const columns = rows.columns.filter((column) => column.kind === "node");
    for (const row of rows.shown) for (const column of columns) found.add(column.at[row]);
  }
  return found;
}

function heatMapView(view) {
  const names = view.nodes.map((index) => data.strings[index]);
  const state = { layer: 0, moment: view.x.length - 1, order: "name", cells: [], found: null, focus: -1, columns: 1, size: 10 };
  const shares = () => view.layers[state.layer][1][state.moment] || "";
  const canvas = el("canvas", { tabindex: "0", role: "img" });
  const holder = el("div", { class: "heat" }, canvas);
  const readout = el("p", { class: "readout", "aria-live": "polite" });
  const select = (label, options, change) => el("label", {}, el("span", {}, label),
    el("select", { onchange: (event) => change(event.target.value) }, ...options.map(([value, text]) => el("option", { value }, text))));
  const layers = select("Resource", view.layers.map(([name], index) => [index, name]), (value) => { state.layer = Number(value); update(); });
  const orders = select("Order", [["name", "name"], ["share", "share"]], (value) => { state.order = value; update(); });
  const time = el("output", {});
  const slider = el("input", {
    type: "range", min: 0, max: view.x.length - 1, value: view.x.length - 1, "aria-label": view.xLabel,
    oninput: (event) => { state.moment = Number(event.target.value); update(); },
  });
  const table = () => [["Node", ...view.layers.flatMap(([name]) => view.x.map((x) => `${name} at ${position(x, view.xUnit, view.xLabel)} (percent)`))],
    ...names.map((name, node) => [name, ...view.layers.flatMap(([, moments]) => moments.map((text) => {
      const percent = share(text[node]);
      return percent === Infinity ? "over 100" : percent === null ? null : Math.round(percent * 10) / 10;
    }))])];
  const frame = section(view, layers, orders, csvButton(view.title, table));
  if (!names.length) {
    frame.append(el("p", { class: "empty" }, "There are no nodes."));
    return frame;
  }

  function fill(percent) {
    if (percent === null) return style("--absent");
    if (percent === Infinity) return style("--over");
    const [from, to] = [style("--heat-low"), style("--heat-high")].map((text) => text.match(/\d+/g).map(Number));
    const part = percent / 100;
    return `rgb(${from.map((low, channel) => Math.round(low + (to[channel] - low) * part)).join(",")})`;
  }

  function order() {
    state.cells = names.map((_, node) => node);
    if (state.order === "share") {
      const text = shares();
      const value = (node) => share(text[node]) ?? -1;
      state.cells.sort((a, b) => (value(b) === value(a) ? a - b : value(b) - value(a)));
    }
  }

  function draw() {
    const width = printing ? PAPER_WIDTH : holder.clientWidth || 600;
    const wanted = width < 500 ? 380 : 300;
    state.size = Math.max(3, Math.min(28, Math.floor(Math.sqrt((width * wanted) / names.length))));
    state.columns = Math.max(1, Math.floor(width / state.size));
    const rows = Math.ceil(names.length / state.columns);
    const scale = window.devicePixelRatio || 1;
    canvas.width = state.columns * state.size * scale;
    canvas.height = rows * state.size * scale;
    canvas.style.width = state.columns * state.size + "px";
    canvas.style.height = rows * state.size + "px";
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const gap = state.size > 12 ? 2 : state.size > 4 ? 1 : 0;
    const text = shares();
    const colours = new Map();
    state.cells.forEach((node, at) => {
      const character = text[node];
      if (!colours.has(character)) colours.set(character, fill(share(character)));
      const [x, y] = [(at % state.columns) * state.size, Math.floor(at / state.columns) * state.size];
      context.globalAlpha = state.found && !state.found.has(view.nodes[node]) ? 0.15 : 1;
      context.fillStyle = colours.get(character);
      context.fillRect(x, y, state.size - gap, state.size - gap);
    });
    context.globalAlpha = 1;
    if (state.focus >= 0) {
      const [x, y] = [(state.focus % state.columns) * state.size, Math.floor(state.focus / state.columns) * state.size];
      context.strokeStyle = style("--text");
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(3, state.size - gap - 2), Math.max(3, state.size - gap - 2));
    }
  }

  function describe() {
    const text = shares();
    if (state.focus >= 0) {
      const node = state.cells[state.focus];
      readout.replaceChildren(el("b", {}, names[node]), el("span", {}, `${view.layers[state.layer][0]} `, el("b", {}, shareText(share(text[node])))));
      return;
    }
    const known = [...text].map(share).filter((percent) => percent !== null).sort((a, b) => a - b);
    const median = known.length ? known[Math.floor((known.length - 1) / 2)] : null;
    const high = known.filter((percent) => percent > 90).length;
    const empty = known.filter((percent) => percent === 0).length;
    readout.replaceChildren(el("span", {}, plural(known.length, "node")), el("span", {}, "median ", el("b", {}, shareText(median))),
      el("span", {}, "over 90 %: ", el("b", {}, counts.format(high))), el("span", {}, "0 %: ", el("b", {}, counts.format(empty))));
  }

  function update() {
    order();
    time.textContent = view.x.length > 1 ? position(view.x[state.moment], view.xUnit, view.xLabel) : "";
    canvas.setAttribute("aria-label", `${view.layers[state.layer][0]} of ${plural(names.length, "node")}. Arrow keys move between nodes, Enter searches for one.`);
    describe();
    draw();
  }

  function focus(at) {
    state.focus = at >= 0 && at < names.length ? at : -1;
    describe();
    draw();
  }

  function choose() {
    if (state.focus < 0) return;
    const query = `node:"${names[state.cells[state.focus]]}"`;
    setSearch(query);
    document.getElementById("search").value = query;
  }

  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / state.size);
    return column < state.columns ? Math.floor((event.clientY - box.top) / state.size) * state.columns + column : -1;
  };
  canvas.addEventListener("mousemove", (event) => focus(under(event)));
  canvas.addEventListener("mouseleave", () => focus(-1));
  canvas.addEventListener("blur", () => focus(-1));
  canvas.addEventListener("click", (event) => { focus(under(event)); choose(); });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -state.columns, ArrowDown: state.columns }[event.key];
    if (event.key === "Enter") return choose();
    if (step === undefined) return;
    event.preventDefault();
    const at = state.focus < 0 ? 0 : state.focus + step;
    if (at >= 0 && at < names.length) focus(at);
  });
  search.others.push(() => { state.found = foundNodes(); draw(); });

  const scale = el("div", { class: "scale" }, el("span", {}, "0 %"), el("i", { class: "ramp", "aria-hidden": "true" }), el("span", {}, "100 %"),
    el("span", {}, el("i", { class: "swatch over", "aria-hidden": "true" }), "over 100 %"),
    el("span", {}, el("i", { class: "swatch absent", "aria-hidden": "true" }), "not available"));
  if (view.x.length > 1) frame.append(el("div", { class: "time" }, slider, time));
  frame.append(holder, readout, scale);
  afterLayout(holder, () => onColours(update), draw);
  return frame;
}
