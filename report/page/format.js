/* Figures for people, and elements of the page. Names in the data come from files: they only ever become text. */
const rounded = (value, digits = 3) => {
  if (value === 0) return "0";
  const text = Number(value.toPrecision(digits));
  return Math.abs(text) >= 1e6 || Math.abs(text) < 1e-4 ? text.toExponential() : String(text);
};
const prefixed = (value, unit, steps, digits = 3) => {
  const size = Math.abs(value);
  for (const [least, prefix] of steps) if (size >= least) return `${rounded(value / least, digits)} ${prefix}${unit}`.trim();
  return `${rounded(value, digits)} ${unit}`.trim();
};
const DECIMAL = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const missing = (value) => value === null || value === undefined || Number.isNaN(value);
const SMALL = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];
const showTime = (s) => missing(s) ? "–" : s === 0 ? "0 s" : prefixed(s, "s", SMALL);
const showTimeWell = (s) => missing(s) ? "–" : prefixed(s, "s", SMALL, 5);
const showBytes = (b) => missing(b) ? "–" : prefixed(b, "B", DECIMAL);
const showRate = (r) => missing(r) ? "–" : prefixed(r, "b/s", DECIMAL);
const showCount = (n) => missing(n) ? "–" : Math.abs(n) < 1e5 ? (Number.isInteger(n) ? n.toLocaleString("en") : rounded(n, 4)) : prefixed(n, "", DECIMAL);
const showShare = (x) => missing(x) ? "–" : `${rounded(x * 100)}%`;
const show = (value, unit) => unit === "s" ? showTime(value) : unit === "B" ? showBytes(value) : unit === "b/s" ? showRate(value) : unit === "share" ? showShare(value) : showCount(value);
/* Sentences of the terminal have plain letters. A figure and its unit stay on one line. */
const typeset = (text) => text.replace(/\+-/g, "±").replace(/(\d) us\b/g, "$1 µs").replace(/(\d) ([kMGTnmµ]?[sB])\b/g, "$1\u00a0$2");
const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) node.append(child);
  return node;
};
const card = (title, size, ...children) => el("section", { class: `card ${size}` }, title ? el("h3", {}, title) : null, children);
const note = (...parts) => el("p", { class: "note" }, parts);
/* Never broken: a browser would break after the dashes of an option. */
const code = (text) => el("code", {}, text);
/* A click selects the whole of it. */
const command = (text) => el("pre", { class: "command", tabindex: 0 }, text);

/* One name and one colour for a class of flows, whichever file it comes from. */
const COMMUNICATORS = { TP: "tensor parallelism", CP: "context parallelism", EP: "expert parallelism", DP: "data parallelism", PP: "pipeline parallelism" };
const CLASS_COLOURS = { compute: "c1", computation: "c1", TP: "c3", CP: "c8", EP: "c4", DP: "c2", PP: "c5", waiting: "c6", idle: "idle", "all flows": "ink" };
const className = (label) => COMMUNICATORS[label.toUpperCase()] ? label.toUpperCase() : label;
const spelledOut = (labels) => {
  const found = Object.keys(COMMUNICATORS).filter((name) => labels.some((label) => label.split(" ")[0].toUpperCase() === name));
  return found.length > 0 ? `${found.map((name) => `${name}: ${COMMUNICATORS[name]}`).join("; ")}.` : "";
};
const choice = (label, options, chosen, onChange) => {
  const select = el("select", { onchange: () => onChange(select.value) },
    options.map(([value, text]) => el("option", { value, selected: value === chosen ? "" : null }, text)));
  return el("label", {}, `${label} `, select);
};
const legend = (entries) => el("div", { class: "legend" }, entries.map(([name, colour]) =>
  el("span", {}, el("i", { style: `background:${colour}` }), name)));

/* columns: [title, value of a row, "text" or nothing]. Rows can be chosen by click or Enter if onChoose is given. */
const table = (columns, rows, onChoose) => {
  const body = el("tbody");
  const choose = (line, row) => {
    for (const other of body.children) other.classList.remove("chosen");
    line.classList.add("chosen");
    onChoose(row);
  };
  for (const row of rows) {
    const line = el("tr", onChoose ? { tabindex: 0 } : {},
      columns.map(([, value, kind]) => el("td", { class: kind || null }, String(value(row)))));
    if (onChoose) {
      line.addEventListener("click", () => choose(line, row));
      line.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(line, row); }
        const next = event.key === "ArrowDown" ? line.nextSibling : event.key === "ArrowUp" ? line.previousSibling : null;
        if (next) { event.preventDefault(); next.focus(); }
      });
    }
    body.append(line);
  }
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, columns.map(([title, , kind]) => el("th", { class: kind || null }, title)))), body));
};
