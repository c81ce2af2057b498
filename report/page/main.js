/* The page: which result, which question. */
const data = JSON.parse(document.getElementById("data").textContent);
const RUN_PAGES = [["bound", "What bounds it?", boundPage], ["hot", "Where is it hot?", hotPage], ["flows", "How are flows?", flowsPage], ["trust", "How far to trust it?", trustPage]];

const runsOf = (documents) => {
  const runs = documents.filter((d) => d.kind === "run");
  const names = runs.map((d) => d.name);
  return runs.map((d) => ({ label: names.filter((n) => n === d.name).length > 1 ? d.folder.replace(/\/+$/, "").split("/").pop() : d.name, summary: d.summary, flows: d.flows }));
};
const pagesOf = (doc) => {
  if (doc.kind === "run") return RUN_PAGES.map(([id, title, build]) => ({ id, title, answer: doc.answers[id], build: () => build(doc) }));
  if (doc.kind === "side") return [{ id: "side", title: "Which is best?", answer: sideAnswer(doc.runs), build: () => sidePage(doc.runs) }];
  const pages = [{ id: "best", title: "Which is best?", answer: doc.answers.best, build: () => bestPage(doc) }];
  if (doc.runs.length > 1) pages.push({ id: "side", title: "What differs?", answer: sideAnswer(doc.runs), build: () => sidePage(doc.runs) });
  return pages;
};

const documents = [...data.documents];
if (runsOf(documents).length > 1) documents.unshift({ kind: "side", name: `${runsOf(documents).length} runs side by side`, runs: runsOf(documents) });
const get = (id) => document.getElementById(id);
const state = { doc: 0, page: 0 };

const FACT_TITLES = { "PFC pauses": "Priority flow control: a full buffer pauses the sender at the other end of the link", "ECN marks": "Explicit congestion notification: packets that a long queue marked", "p99 flow": "99% of the flows take at most this time" };
const fact = (name, key, value, text) => el("div", { class: "fact", title: FACT_TITLES[name] || null }, el("span", {}, name), el("b", { "data-key": key, "data-value": String(value) }, text));
const factsOf = (doc) => {
  if (doc.kind === "run") {
    const s = doc.summary;
    return [fact("run", "scenario", s.scenario, s.scenario), fact("mode", "mode", s.mode, s.mode), fact("completion time", "jct_s", s.jct_s, showTime(s.jct_s)),
      fact("flows", "flows_completed", s.flows_completed, `${showCount(s.flows_completed)} of ${showCount(s.flows)}`), fact("mean flow", "fct_s.mean", s.fct_s.mean, showTime(s.fct_s.mean)), fact("p99 flow", "fct_s.p99", s.fct_s.p99, showTime(s.fct_s.p99)),
      ...(missing(s.drops) ? [] : [fact("drops", "drops", s.drops, showCount(s.drops)), fact("PFC pauses", "pfc_pauses", s.pfc_pauses, showCount(s.pfc_pauses)), fact("ECN marks", "ecn_marks", s.ecn_marks, showCount(s.ecn_marks))]),
      ...(s.interrupted ? [fact("", "interrupted", true, "interrupted: incomplete")] : [])];
  }
  if (doc.kind === "side") return [fact("runs", "runs", doc.runs.length, String(doc.runs.length))];
  return [fact(doc.source, "name", doc.name, doc.name), fact("experiments", "experiments", doc.status.length + doc.left_out, showCount(doc.status.length + doc.left_out)), doc.left_out > 0 ? fact("drawn here", "drawn", doc.status.length, showCount(doc.status.length)) : fact("done", "done", doc.status.filter((x) => x === "done").length, showCount(doc.status.filter((x) => x === "done").length))];
};
const section = (page) => el("section", { class: "page", id: `page-${page.id}`, role: "tabpanel" }, el("h2", {}, page.title), el("p", { class: "answer" }, typeset(page.answer)), el("div", { class: "cards" }, page.build().filter(Boolean)));

const showPage = () => {
  const doc = documents[state.doc];
  const pages = pagesOf(doc);
  state.page = Math.min(state.page, pages.length - 1);
  get("facts").replaceChildren(...factsOf(doc));
  get("pages").replaceChildren(...pages.map((page, i) => el("button", { type: "button", role: "tab", id: `tab-${page.id}`, "aria-selected": i === state.page ? "true" : "false", tabindex: i === state.page ? 0 : -1, onclick: () => go(state.doc, i) }, page.title)));
  get("main").replaceChildren(section(pages[state.page]));
  redrawAll();
  document.title = `${doc.name} – Sluice report`;
};
const go = (doc, page, focus) => {
  Object.assign(state, { doc, page });
  showPage();
  history.replaceState(null, "", `#${state.doc}/${pagesOf(documents[doc])[state.page].id}`);
  if (focus) get("pages").children[state.page].focus();
};
const fromAddress = () => {
  const [doc, id] = location.hash.slice(1).split("/");
  const d = documents[Number(doc)] ? Number(doc) : 0;
  const page = pagesOf(documents[d]).findIndex((p) => p.id === id);
  Object.assign(state, { doc: d, page: Math.max(0, page) });
};

get("pages").addEventListener("keydown", (event) => {
  const count = pagesOf(documents[state.doc]).length;
  const to = { ArrowRight: (state.page + 1) % count, ArrowLeft: (state.page + count - 1) % count, Home: 0, End: count - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  go(state.doc, to, true);
});
/* Between pages from anywhere: Alt is the browser's own, so these are n and p. */
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
  const count = pagesOf(documents[state.doc]).length;
  if (event.key === "n") go(state.doc, (state.page + 1) % count);
  if (event.key === "p") go(state.doc, (state.page + count - 1) % count);
});

if (documents.length > 1) {
  get("chooser").hidden = false;
  const title = (d) => d.kind === "run" ? `${d.name} (${d.folder})` : d.kind === "study" ? `${d.name}: ${d.source}` : d.name;
  get("documents").append(...documents.map((d, i) => el("option", { value: i }, title(d))));
  get("documents").addEventListener("change", () => go(Number(get("documents").value), 0));
}

const setTheme = (theme) => { document.documentElement.dataset.theme = theme; };
const dark = window.matchMedia("(prefers-color-scheme: dark)");
setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => { setTheme(dark.matches ? "dark" : "light"); redrawAll(); });
get("theme").addEventListener("click", () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); showPage(); });

/* On paper all pages of the result follow each other, in light colours. */
let screenTheme = null;
window.addEventListener("beforeprint", () => {
  screenTheme = document.documentElement.dataset.theme;
  setTheme("light");
  get("main").replaceChildren(...pagesOf(documents[state.doc]).map(section));
  redrawAll();
});
window.addEventListener("afterprint", () => { setTheme(screenTheme || "light"); showPage(); });

get("made").textContent = `Made by sluice ${data.version}. Everything is in this file; it loads nothing.`;
get("licences").textContent = get("notice").textContent + get("apache").textContent;
fromAddress();
if (documents.length > 1) get("documents").value = String(state.doc);
showPage();
document.documentElement.dataset.ready = "yes";
