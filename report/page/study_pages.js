/* The pages of studies: batches, comparisons, evaluations, and several runs side by side. */
const T_975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042];
const meanInterval = (values) => {
  const n = values.length;
  const mean = values.reduce((a, b) => a + b, 0) / n;
  if (n < 2) return { n, mean, low: null, high: null };
  const half = (T_975[n - 2] || 1.96 + 2.4 / (n - 1)) * Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (n - 1) / n);
  return { n, mean, low: mean - half, high: mean + half };
};

class StudyModel {
  constructor(study) {
    this.study = study;
    this.size = study.status.length;
    this.changing = study.keys.map((key, k) => [key, k]).filter(([key]) => !study.repeats.includes(key));
    this.units = Object.fromEntries(study.figures.map((f) => [f.name, f.unit]));
    this.columns = Object.fromEntries(study.figures.map((f, i) => [f.name, study.results[i] || []]));
    for (const [key, k] of this.changing) {
      const numbers = study.values[k].map((v) => v === "" ? NaN : Number(v));
      if (this.size > 0 && numbers.every(Number.isFinite)) { this.columns[key] = numbers; this.units[key] = ""; }
    }
    /* Figures that all experiments lack, or share, tell nothing. */
    this.figures = Object.keys(this.columns).filter((name) => new Set(this.columns[name].filter((v) => v !== null)).size > 1);
    this.metric = this.figures.includes(study.metric) ? study.metric : this.figures[0];
    this.cost = this.figures.includes(study.cost) && study.cost !== this.metric ? study.cost : this.figures.find((f) => f !== this.metric) || this.metric;
  }
  /* Short ones name values alone; the order is that of shortKeys(). */
  short(row) { return this.changing.map(([, k]) => this.study.values[k][row]).join(" · ") || `experiment ${row}`; }
  shortKeys() { return this.changing.map(([key]) => key.replace(/^.*\./, "")).join(" · "); }
  label(row) { return this.changing.map(([key, k]) => `${key.replace(/^.*\./, "")} ${this.study.values[k][row]}`).join(", ") || `experiment ${row}`; }
  /* For axes, which may span little. */
  ticks(name) { return this.units[name] === "s" ? showTimeWell : this.format(name); }
  format(name) { return (value) => show(value, this.units[name]); }
  /* [{label, rows}], by what changes them. */
  candidates() {
    const found = new Map();
    for (let row = 0; row < this.size; row += 1) {
      const label = this.label(row);
      if (!found.has(label)) found.set(label, { label, short: this.short(row), rows: [] });
      found.get(label).rows.push(row);
    }
    return [...found.values()];
  }
  ranking(name) {
    const given = this.study.intervals.filter((i) => i.figure === name);
    const ranked = given.length > 0 ? given.map((i) => ({ label: i.label, short: i.label, n: i.n, mean: i.estimate, low: i.low, high: i.high }))
      : this.candidates().map(({ label, short, rows }) => ({ label, short, ...this.intervalOf(name, rows) })).filter((c) => c.n > 0);
    return ranked.sort((a, b) => a.mean - b.mean);
  }
  intervalOf(name, rows) {
    const values = rows.map((row) => this.columns[name][row]).filter((v) => v !== null && v !== undefined);
    const interval = meanInterval(values);
    /* Of one run the audit's interval is all that is known. */
    const half = this.columns.jct_error_half;
    if (values.length === 1 && name === "jct_s" && half && !missing(half[rows[0]])) {
      const error = this.columns.jct_error[rows[0]] || 0;
      return { ...interval, low: interval.mean * (1 - error - half[rows[0]]), high: interval.mean * (1 - error + half[rows[0]]) };
    }
    return interval;
  }
}

const SHOWN = 24;
const rankingPlot = (model, name) => {
  const ranked = model.ranking(name).slice(0, SHOWN);
  const format = model.format(name);
  if (ranked.length === 0) return note("There is nothing to rank.");
  return plot(`Ranking by ${name}`, 20 * ranked.length + 86, () => ({
    grid: { left: 230, right: 24, top: 26, bottom: 46 },
    tooltip: { confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") },
      formatter: (p) => { const c = ranked[p.dataIndex]; return `${escaped(c.label)}<br>${escaped(name)} ${format(c.mean)}${missing(c.low) ? "" : `, 95% ${format(c.low)} to ${format(c.high)}`} (${c.n} run${c.n > 1 ? "s" : ""})`; } },
    xAxis: axis("value", name, model.ticks(name), { scale: true, splitNumber: 4 }),
    yAxis: { type: "category", inverse: true, data: ranked.map((c) => c.short), name: model.shortKeys(), nameLocation: "start", nameTextStyle: { color: colour("soft"), align: "right" }, ...axisStyle(), axisLabel: { color: colour("ink"), width: 216, overflow: "truncate", interval: 0, fontSize: 12 } },
    series: [
      { type: "custom", silent: true, data: ranked.map((c, i) => [missing(c.low) ? c.mean : c.low, missing(c.high) ? c.mean : c.high, i]), encode: { x: [0, 1], y: 2 },
        renderItem: (_, api) => {
          const a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(1), api.value(2)]);
          return { type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style: { stroke: colour("c1"), lineWidth: 3, opacity: 0.5 } };
        } },
      { type: "scatter", symbolSize: 9, data: ranked.map((c, i) => ({ value: [c.mean, i], itemStyle: { color: i === 0 ? colour("good") : colour("c1") } })) },
    ],
  }));
};

const front = (points) => {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const best = [];
  for (const p of sorted) if (best.length === 0 || p[1] < best[best.length - 1][1]) best.push(p);
  return best;
};
const paretoPlot = (model, x, y) => {
  const points = model.candidates().map(({ label, rows }) => [model.intervalOf(x, rows).mean, model.intervalOf(y, rows).mean, label]).filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
  const best = front(points);
  return plot("Pareto front", 320, () => ({
    grid: { left: 82, right: 20, top: 30, bottom: 46 },
    legend: { top: 0, textStyle: { color: colour("ink") } },
    tooltip: { confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") }, formatter: (p) => `${escaped(p.value[2])}<br>${escaped(x)} ${model.format(x)(p.value[0])}, ${escaped(y)} ${model.format(y)(p.value[1])}` },
    xAxis: axis("value", x, model.ticks(x), { scale: true }),
    yAxis: axis("value", y, model.ticks(y), { scale: true, nameGap: 58 }),
    series: [{ name: "experiments", type: "scatter", progressive: 0, symbolSize: 6, itemStyle: { color: colour("c6"), opacity: 0.7 }, data: points },
      { name: "none is better in both", type: "line", step: "end", symbolSize: 9, itemStyle: { color: colour("good") }, lineStyle: { color: colour("good") }, data: best }],
  }), points.length > 3000 ? "canvas" : "svg");
};

const parallelPlot = (model, metric) => {
  const axes = [...model.changing.map(([key, k]) => ({ name: key.replace(/^.*\./, ""), values: model.study.values[k], category: true })),
    ...model.figures.filter((f) => f !== metric && !model.changing.some(([key]) => key === f)).slice(0, Math.max(0, 7 - model.changing.length)).map((f) => ({ name: f, values: model.columns[f], format: model.format(f) })),
    { name: metric, values: model.columns[metric], format: model.format(metric) }];
  let rows = [...Array(model.size).keys()].filter((row) => !missing(model.columns[metric][row]));
  const step = Math.ceil(rows.length / 1500);
  rows = rows.filter((_, i) => i % step === 0);
  const values = rows.map((row) => model.columns[metric][row]);
  return plot("Parallel coordinates", 330, () => ({
    parallel: { left: 60, right: 80, top: 34, bottom: 26 },
    parallelAxis: axes.map((a, dim) => ({ dim, name: a.name, nameTextStyle: { color: colour("ink") }, axisLine: { lineStyle: { color: colour("soft") } }, axisLabel: { color: colour("soft"), formatter: a.format },
      ...(a.category ? { type: "category", data: [...new Set(a.values)] } : { scale: true }) })),
    visualMap: { show: false, dimension: axes.length - 1, min: Math.min(...values), max: Math.max(...values), inRange: { color: [colour("good"), colour("c2"), colour("bad")] } },
    tooltip: { show: false },
    series: [{ type: "parallel", progressive: 0, lineStyle: { width: 1, opacity: rows.length > 300 ? 0.25 : 0.6 }, data: rows.map((row) => axes.map((a) => a.values[row])) }],
  }), "canvas");
};

const inOrder = (values) => {
  const list = [...new Set(values)];
  return list.every((v) => Number.isFinite(Number(v))) ? list.sort((a, b) => a - b) : list;
};
const heatPlot = (model, x, y, metric) => {
  const column = (key) => model.study.values[model.study.keys.indexOf(key)];
  const xs = inOrder(column(x)), ys = inOrder(column(y));
  const cells = new Map();
  for (let row = 0; row < model.size; row += 1) {
    const value = model.columns[metric][row];
    if (missing(value)) continue;
    const key = `${xs.indexOf(column(x)[row])}/${ys.indexOf(column(y)[row])}`;
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(value);
  }
  const data = [...cells].map(([key, values]) => [...key.split("/").map(Number), meanInterval(values).mean]);
  const means = data.map((d) => d[2]);
  const format = model.format(metric);
  return plot("Heat map", Math.max(200, Math.min(480, 34 * ys.length + 100)), () => ({
    grid: { left: 110, right: 20, top: 10, bottom: 50 },
    tooltip: { confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") }, formatter: (p) => `${escaped(x)} ${escaped(xs[p.value[0]])}, ${escaped(y)} ${escaped(ys[p.value[1]])}<br>mean ${escaped(metric)} ${format(p.value[2])}` },
    xAxis: axis("category", x, null, { data: xs, splitLine: { show: false } }),
    yAxis: axis("category", "", null, { data: ys, splitLine: { show: false }, axisLabel: { width: 96, overflow: "truncate" } }),
    visualMap: { show: false, min: Math.min(...means), max: Math.max(...means), inRange: { color: ["#2a8f6a", "#f0cf65", "#c4352f"] } },
    series: [{ type: "heatmap", data, label: { show: data.length <= 60, color: "#10151c", formatter: (p) => format(p.value[2]) } }],
  }));
};

const failuresCard = (study) => {
  const groups = new Map();
  study.status.forEach((status, row) => {
    if (status === "done") return;
    const key = `${status}: ${study.reasons[row]}`;
    groups.set(key, (groups.get(key) || 0) + 1);
  });
  const counts = {};
  for (const status of study.status) counts[status] = (counts[status] || 0) + 1;
  return card("What was done, and what was not, and why", "", el("p", {}, Object.entries(counts).map(([status, n]) => `${showCount(n)} ${status}`).join(", ") || "nothing"),
    groups.size > 0 ? table([["why", ([why]) => why, "text wide"], ["experiments", ([, n]) => showCount(n)]], [...groups].sort((a, b) => b[1] - a[1]).slice(0, 50)) : note("All experiments came to their ends."));
};

const changeable = (title, size, controls, draw) => {
  const holder = el("div");
  const state = {};
  const redraw = () => holder.replaceChildren(draw(state));
  const bar = el("div", { class: "controls" }, controls.map(([label, name, options, chosen]) => { state[name] = chosen; return choice(label, options.map((o) => [o, o]), chosen, (v) => { state[name] = v; redraw(); }); }));
  redraw();
  return card(title, size, bar, holder);
};

const trialsCard = (model, metric) => {
  const groups = model.candidates().map(({ label, rows }) => ({ name: label, values: rows.map((row) => model.columns[metric][row]).filter((v) => !missing(v)).sort((a, b) => a - b) })).filter((g) => g.values.length > 2).slice(0, FEW);
  if (groups.length === 0) return null;
  return card(`Distribution of ${metric} over repetitions`, "half", plot("Distribution over repetitions", 280, () => ({
    grid: { left: 54, right: 16, top: 30, bottom: 44 },
    legend: { type: "scroll", top: 0, textStyle: { color: colour("ink") } },
    tooltip: { confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") }, formatter: (p) => `${escaped(p.seriesName)}: ${showShare(p.value[1])} within ${model.format(metric)(p.value[0])}` },
    xAxis: axis("value", metric, model.format(metric), { scale: true }), yAxis: axis("value", "", showShare, { max: 1 }),
    series: groups.map((g) => ({ name: g.name, type: "line", step: "end", showSymbol: false, data: g.values.map((v, i) => [v, (i + 1) / g.values.length]) })),
  })));
};

const bestPage = (doc) => {
  const model = new StudyModel(doc);
  const cards = doc.notes.map((text) => card("", "", note(text)));
  if (doc.left_out > 0) cards.push(card("", "", note(`${showCount(doc.left_out)} more experiments are not in this page: those in it were drawn at random. The ranking by ${doc.metric} is of all.`)));
  const intervals = [...new Set(doc.intervals.map((i) => i.figure))];
  const ranked = [...new Set([...intervals, ...model.figures])];
  if (ranked.length > 0) {
    const start = ranked.includes(model.metric) ? model.metric : ranked[0];
    cards.push(changeable("Ranking (less is better; bars are 95% intervals of repetitions, or the audit's)", "half", [["By", "metric", ranked, start]], (s) => el("div", {}, rankingPlot(model, s.metric), model.ranking(s.metric).length > SHOWN ? note(`The best ${SHOWN} of ${showCount(model.ranking(s.metric).length)}.`) : null)));
  }
  if (model.figures.length > 1) cards.push(changeable("Trade-off", "half", [["Across", "x", model.figures, model.cost], ["upwards", "y", model.figures, model.metric]], (s) => paretoPlot(model, s.x, s.y)));
  if (model.metric) cards.push(trialsCard(model, model.metric));
  const keys = model.changing.map(([key]) => key).filter((key) => new Set(doc.values[doc.keys.indexOf(key)]).size > 1);
  if (model.metric && keys.length > 1) {
    cards.push(changeable("Over two axes", "half", [["Across", "x", keys, keys[0]], ["upwards", "y", keys, keys[1]], ["colour", "metric", model.figures, model.metric]], (s) => s.x === s.y ? note("Choose two different axes.") : heatPlot(model, s.x, s.y, s.metric)));
  }
  if (model.metric && model.size > 2 && model.changing.length + model.figures.length > 2) {
    cards.push(changeable("All axes (green: less of the last one)", keys.length > 1 ? "half" : "", [["Last axis", "metric", model.figures, model.metric]], (s) => parallelPlot(model, s.metric)));
  }
  cards.push(failuresCard(doc));
  return cards;
};

const flatten = (value, prefix = "", into = {}) => {
  if (value && typeof value === "object" && !Array.isArray(value)) for (const [key, inner] of Object.entries(value)) flatten(inner, prefix ? `${prefix}.${key}` : key, into);
  else into[prefix] = typeof value === "string" ? value : JSON.stringify(value);
  return into;
};
const SIDE_FIGURES = [["completion time", (s) => s.jct_s, showTime], ["mean flow", (s) => s.fct_s.mean, showTime], ["p50 flow", (s) => s.fct_s.p50, showTime], ["p99 flow", (s) => s.fct_s.p99, showTime], ["longest flow", (s) => s.fct_s.max, showTime],
  ["flows completed", (s) => s.flows_completed, showCount], ["ECN marks", (s) => s.ecn_marks, showCount], ["PFC pauses", (s) => s.pfc_pauses, showCount], ["drops", (s) => s.drops, showCount], ["packet-hops", (s) => s.packet_hops, showCount], ["wall time", (s) => s.wall_s, showTime]];

/* runs: [{label, summary, flows or nothing}] */
const sidePage = (runs) => {
  const shown = runs.slice(0, 8);
  const rows = SIDE_FIGURES.filter(([, of]) => runs.some((r) => !missing(of(r.summary))));
  for (const name of new Set(runs.flatMap((r) => (r.summary.link_classes || []).map((c) => c.name)))) {
    rows.push([`mean load of ${name}`, (s) => ((s.link_classes || []).find((c) => c.name === name) || {}).mean_utilization, showShare]);
  }
  for (const name of new Set(runs.flatMap((r) => (r.summary.jobs || []).flatMap((j) => Object.keys(j.critical_path_s || {}))))) {
    rows.push([`critical path: ${name}`, (s) => ((s.jobs || [])[0] || {}).critical_path_s?.[name], showTime]);
  }
  const ratio = (of, r) => {
    const a = of(shown[0].summary), b = of(r.summary);
    if (missing(a) || missing(b) || a === b || a === 0) return "";
    return b / a > 10 ? ` (${showCount(Number((b / a).toPrecision(3)))} times)` : ` (${b > a ? "+" : ""}${rounded((b / a - 1) * 100)}%)`;
  };
  const flat = shown.map((r) => flatten({ mode: r.summary.mode, seed: r.summary.seed, ...r.summary.config }));
  const keys = [...new Set(flat.flatMap(Object.keys))].filter((key) => key !== "output.dir" && new Set(flat.map((f) => f[key])).size > 1);
  const withFlows = shown.filter((r) => r.flows && r.flows.classes.length > 0);
  return [
    card("Side by side, changes against the first", "", table([["", ([name]) => name, "text"], ...shown.map((r, i) => [r.label, ([, of, format]) => `${format(of(r.summary))}${i > 0 ? ratio(of, r) : ""}`])], rows)),
    card("What differs in their configuration", withFlows.length > 1 ? "half" : "", keys.length > 0 ? table([["key", (key) => key, "text"], ...shown.map((r, i) => [r.label, (key) => flat[i][key] ?? "–", "text"])], keys) : note("Nothing.")),
    withFlows.length > 1 ? card("Their flows", "half", ecdfPlot("Flow completion times of all runs", withFlows.map((r) => ({ ...r.flows.classes[0], name: r.label })), "fct", showTime, false)) : null,
  ];
};
const sideAnswer = (runs) => {
  const known = runs.filter((r) => !missing(r.summary.jct_s));
  if (known.length < 2) return "Fewer than two runs are complete, so that nothing can be compared.";
  const sorted = [...known].sort((a, b) => a.summary.jct_s - b.summary.jct_s);
  const [best, worst] = [sorted[0], sorted[sorted.length - 1]];
  if (best.summary.jct_s === worst.summary.jct_s) return `All ${known.length} runs complete in ${showTime(best.summary.jct_s)}.`;
  const ratio = worst.summary.jct_s / best.summary.jct_s;
  const longer = ratio < 1.1 ? `${showShare(ratio - 1)} longer` : `${rounded(ratio)} times as long`;
  return `${best.label} completes first, in ${showTime(best.summary.jct_s)}; ${worst.label} takes ${longer}. Each is one run, one sample.`;
};
