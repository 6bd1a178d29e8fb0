// Time series and bars.

/** Distances of marks on an axis of seconds. */
const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200,
  86400, 172800, 604800, 1209600, 2419200, 4838400, 9676800, 31536000, 63072000, 157680000, 315360000];
const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3], [12, 4], [4, 2, 1, 2]];

function colour(index) {
  return style("--series-" + ((index % 6) + 1));
}

/** Formats a position of a horizontal axis. */
function position(value, unit, label) {
  return unit === "seconds" ? duration(value) : `${label.toLowerCase()} ${format(value, unit)}`;
}

function linesView(view) {
  const series = view.series.map(([name, values]) => ({ name, values: numbers(values), shown: true }));
  const table = () => [[`${view.xLabel}${view.xUnit === "seconds" ? " (seconds)" : ""}`,
    ...series.map(({ name }) => name + (view.unit === "count" ? "" : ` (${view.unit})`))],
    ...view.x.map((x, row) => [x, ...series.map(({ values }) => values[row])])];
  const frame = section(view, csvButton(view.title, table));
  if (view.x.length < 2 || !series.length) {
    frame.append(el("p", { class: "empty" }, "Nothing changes over time."));
    return frame;
  }
  const canvas = el("div", {
    class: "chart", tabindex: "0", role: "img",
    "aria-label": `${view.title}: ` + series.map(({ name, values }) => {
      const known = values.filter((value) => value !== null);
      return `${name} from ${format(known[0], view.unit)} to ${format(known[known.length - 1], view.unit)}`;
    }).join("; ") + ". Arrow keys move along the axis.",
  });
  const readout = el("p", { class: "readout", "aria-live": "polite" });
  let plot = null;

  const show = (index) => {
    const at = index === null || index === undefined ? view.x.length - 1 : index;
    readout.replaceChildren(el("b", {}, position(view.x[at], view.xUnit, view.xLabel)),
      ...series.filter(({ shown }) => shown).map(({ name, values }) => el("span", {}, `${name} `, el("b", {}, format(values[at], view.unit)))));
  };
  const legend = el("div", { class: "legend" }, ...series.map((of, index) => {
    const key = el("i", { class: `key key-${(index % 6) + 1}`, "aria-hidden": "true" });
    const button = el("button", {
      type: "button", class: "key-button", "aria-pressed": "true",
      onclick: () => {
        of.shown = !of.shown;
        button.setAttribute("aria-pressed", String(of.shown));
        plot.setSeries(index + 1, { show: of.shown });
        show(null);
      },
    }, key, of.name);
    return button;
  }));

  function draw() {
    if (plot) plot.destroy();
    const width = printing ? PAPER_WIDTH : Math.max(240, canvas.clientWidth || 600);
    const line = style("--line");
    const axis = { stroke: style("--muted"), grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui, sans-serif" };
    plot = new uPlot({
      width, height: width < 500 ? 200 : 260, legend: { show: false },
      cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
      scales: {
        x: { time: false },
        y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? (view.unit === "percent" && high <= 100 && high > 60 ? 100 : high * 1.08) : 1] },
      },
      axes: [
        { ...axis, space: width < 500 ? 56 : 70, ...(view.xUnit === "seconds" ? { incrs: SECONDS } : {}), values: (_, values) => values.map((value) => view.xUnit === "seconds" ? duration(value) : counts.format(value)) },
        { ...axis, size: 62, values: (_, values) => values.map((value) => axisValue(value, view.unit)) },
      ],
      series: [{}, ...series.map((of, index) => ({
        label: of.name, stroke: colour(index), width: 2, dash: DASHES[index % 6], show: of.shown, points: { show: false },
      }))],
      hooks: { setCursor: [(chart) => show(chart.cursor.idx)] },
    }, [view.x, ...series.map(({ values }) => values)], canvas);
  }

  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const last = view.x.length - 1;
    const at = Math.max(0, Math.min(last, (plot.cursor.idx ?? last) + step));
    plot.setCursor({ left: plot.valToPos(view.x[at], "x"), top: 10 });
  });
  frame.append(legend, canvas, readout);
  show(null);
  afterLayout(canvas, () => onColours(draw), draw);
  return frame;
}

/** Formats a value of a vertical axis. */
function axisValue(value, unit) {
  if (unit === "percent") return counts.format(value) + " %";
  return value >= 10000 && unit === "count" ? counts.format(value / 1000) + " k" : format(value, unit);
}

/** Calls `first` when an element has its size, and `again` when its width changes. */
function afterLayout(element, first, again) {
  let width = 0;
  const resized = () => {
    if (!element.clientWidth || Math.abs(element.clientWidth - width) < 2) return;
    const isFirst = width === 0;
    width = element.clientWidth;
    (isFirst ? first : again)();
  };
  // Drawing changes the height. In the callback of the observer, that would cause another notification, so drawing waits for the next
  // frame.
  new ResizeObserver(() => requestAnimationFrame(resized)).observe(element);
}

function barsView(view) {
  const table = () => [[view.label, ...view.series.map((name) => name + (view.unit === "count" ? "" : ` (${view.unit})`))],
    ...view.bars.map(([label, values]) => [label, ...values])];
  const frame = section(view, csvButton(view.title, table));
  if (!view.bars.length) {
    frame.append(el("p", { class: "empty" }, view.empty));
    return frame;
  }
  if (view.series.length > 1) {
    frame.append(el("div", { class: "legend" }, ...view.series.map((name, index) =>
      el("span", { class: "key-text" }, el("i", { class: `key solid key-${(index % 6) + 1}`, "aria-hidden": "true" }), name))));
  }
  const max = Math.max(...view.bars.flatMap(([, values]) => values), Number.MIN_VALUE);
  const SHOWN = 12;
  const list = el("ul", { class: "bars" });
  const draw = (all) => list.replaceChildren(...view.bars.slice(0, all ? view.bars.length : SHOWN).map(([label, values, query]) => el("li", {},
    el("span", { class: "label" }, query ? searchLink(label, query) : label),
    el("span", { class: "values" }, ...values.map((value, index) => {
      const bar = el("span", { class: `bar fill-${(index % 6) + 1}` });
      bar.style.width = Math.max(0, (value / max) * 100) + "%";
      return el("span", { class: "value" }, el("span", { class: "track", "aria-hidden": "true" }, bar),
        el("span", { class: "number" }, format(value, view.unit)));
    })))));
  draw(false);
  frame.append(list);
  if (view.bars.length > SHOWN) {
    const more = el("button", { type: "button", class: "quiet", onclick: () => { draw(true); more.remove(); } },
      `Show all ${counts.format(view.bars.length)}`);
    frame.append(more);
  }
  return frame;
}
