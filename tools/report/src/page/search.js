// The search: one text for all tables and heat maps, kept in the address.

const search = { text: "", tables: [], others: [] };

/** Filters the tables, and then calls the listeners that depend on the shown rows. */
function notify() {
  [...search.tables, ...search.others].forEach((listener) => listener());
}

/**
 * Returns a test for texts of all columns, or only of pods (`pod:`) or nodes (`node:`); null without a query. A query in quotes must
 * equal the whole text.
 */
function matcher(query) {
  let text = query.trim().toLowerCase();
  if (!text) return null;
  const kind = ["pod", "node"].find((name) => text.startsWith(name + ":"));
  if (kind) text = text.slice(kind.length + 1).trim();
  const whole = /^".*"$/.test(text) && text.length > 1;
  if (whole) text = text.slice(1, -1);
  return {
    accepts: (column) => !kind || column === kind,
    matches: whole ? (value) => value === text : (value) => value.includes(text),
  };
}

function setSearch(text) {
  if (search.text === text) return;
  search.text = text;
  const address = text ? "#q=" + encodeURIComponent(text) : "#";
  history.replaceState(null, "", address);
  notify();
}

/** Returns the search text of the address. */
function addressSearch() {
  const found = /[#&]q=([^&]*)/.exec(location.hash);
  try {
    return found ? decodeURIComponent(found[1].replaceAll("+", " ")) : "";
  } catch {
    return "";
  }
}

/** Returns a control that searches for a text. */
function searchLink(label, query, attributes) {
  return el("button", {
    type: "button", class: "link", title: `Search for ${query}`, ...attributes,
    onclick: () => {
      setSearch(query);
      document.getElementById("search").value = query;
    },
  }, label);
}

function searchBox() {
  const result = el("output", { id: "found", for: "search" });
  const box = el("input", {
    id: "search", type: "search", placeholder: "Search pods and nodes", autocomplete: "off", spellcheck: "false",
    "aria-label": "Search pods and nodes", title: "pod:NAME and node:NAME restrict the search; quotes ask for the whole name. Shortcut: /",
  });
  let timer = 0;
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => setSearch(box.value), 120);
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
    } else if (event.key === "Escape" && document.activeElement === box) {
      box.value = "";
      setSearch("");
    }
  });
  addEventListener("hashchange", () => {
    box.value = addressSearch();
    setSearch(box.value);
  });
  return el("div", { class: "search", role: "search" }, box, result);
}
