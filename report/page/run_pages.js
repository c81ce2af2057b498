/* The pages of a run. */
const EXPLAIN_CAUSE = "What the job waited for, from its last operation backwards. The parts add up to its time.";

const jobCards = (doc) => (doc.summary.jobs || []).flatMap((job) => {
  const cards = [];
  if (job.critical_path_s) {
    /* A communicator has its colour; where it is there twice, one that nobody has. */
    const free = ["c8", "c7", "c6", "c4", "c5"];
    const used = new Set();
    const parts = Object.entries(job.critical_path_s).map(([name, value]) => {
      let key = name === "compute" ? "c1" : LANE_COLOURS[name.split(" ")[0]];
      if (!key || used.has(key)) key = free.find((c) => !used.has(c)) || "c6";
      used.add(key);
      return [name, value, key];
    });
    cards.push(card(`Critical path of ${job.name}${missing(job.jct_s) ? ", which is not complete" : `: ${showTime(job.jct_s)}`}`, "", shareBar("Critical path", parts, showTime), note(EXPLAIN_CAUSE)));
  }
  if (job.rank_time_s) {
    const rows = Object.entries(job.rank_time_s);
    const whole = rows.reduce((sum, [, v]) => sum + v.mean, 0);
    const colours = { ...LANE_COLOURS, waiting: "c6", idle: "idle" };
    cards.push(card("How a rank spends this time, on average", "two",
      shareBar("Time of a rank", rows.map(([name, value]) => [name, value.mean, colours[name] || null]), showTime),
      note("Communication counts where nothing is computed and the next computation waits for it; waiting: for another rank's computation; idle: nothing is left to do.")));
    cards.push(card("Mean, and the rank with the most", "third", table([["", ([name]) => name, "text"], ["mean", ([, v]) => showTime(v.mean)],
      ["share", ([, v]) => showShare(v.mean / whole)], ["most", ([, v]) => showTime(v.most)], ["rank", ([, v]) => v.most_rank]], rows)));
  }
  return cards;
});

const timelineCard = (doc) => {
  const { timeline } = doc;
  if (!timeline) return null;
  const entries = timeline.lanes.filter((lane, i) => timeline.rows.some((row) => { for (let k = 0; k < row.spans.length; k += 4) if (row.spans[k] === i) return true; return false; }));
  return card(timeline.computed ? "The iteration, rank by rank" : "Communication, rank by rank", "",
    el("div", { class: "controls" }, legend(entries.map((lane) => [lane === "PP" && timeline.computed ? "PP (from its receive's posting: mostly waiting for the other stage)" : lane, laneColour(lane)]))),
    timelinePlot(timeline, doc.summary.simulated_s),
    note(timeline.computed
      ? "A row is ranks that do the same. Full height: computation, or communication that no computation hides; the strip below: hidden communication. White: waiting. Drag or arrows move, Ctrl+wheel or + and - zoom."
      : "From flows alone: this run has no trace.json, so that computations and communication inside servers are not drawn. sluice run --set output.trace=true records them."),
    note(timeline.difference > 0 ? `Ranks of a row do different things in at most ${showShare(timeline.difference)} of the time; its first one is drawn.` : "No two ranks are alike."),
    timeline.not_drawn > 0 ? note(`${timeline.not_drawn} more hosts are not drawn.`) : null);
};

const activityCards = (doc) => {
  const { activity } = doc.flows;
  const points = (values) => values.map((v, i) => [(i + 0.5) * activity.step, v]);
  const end = activity.step * activity.flows.length;
  const curve = (title, values, format) => card(title, "half", plot(title, 200, () => ({
    grid: { left: 62, right: 28, top: 12, bottom: 42 },
    tooltip: { trigger: "axis", confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") } },
    xAxis: axis("value", "simulated time", showTime, { min: 0, max: end, nameGap: 24 }),
    yAxis: axis("value", "", format),
    series: [{ type: "line", step: "middle", showSymbol: false, areaStyle: { opacity: 0.25 }, data: points(values), tooltip: { valueFormatter: format } }],
  })));
  return doc.flows.classes.length === 0 ? [] : [curve("Flows under way", activity.flows, showCount),
    curve("Payload rate of all flows, each at its mean rate", activity.rate, showRate)];
};

const slowestCard = (doc) => {
  const flows = [...doc.flows.listed].sort((a, b) => b.start + b.fct - a.start - a.fct).slice(0, 24);
  if (flows.length === 0) return null;
  const label = (f) => `${f.flow}: ${f.src} to ${f.dst}`;
  return card("The slowest flows, the last one first", "", plot("Slowest flows over time", 20 * flows.length + 60, () => ({
    grid: { left: 130, right: 28, top: 4, bottom: 44 },
    xAxis: axis("value", "simulated time", showTime, { min: 0, nameGap: 24 }),
    yAxis: { type: "category", inverse: true, data: flows.map(label), ...axisStyle(), axisLabel: { color: colour("soft"), interval: 0, fontSize: 11 } },
    tooltip: { confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") },
      formatter: (p) => { const f = flows[p.dataIndex]; return `flow ${escaped(label(f))}<br>${showBytes(f.size)} in ${showTime(f.fct)}${f.slowdown ? `, ${rounded(f.slowdown)} times its time alone` : ""}`; } },
    series: [{ type: "bar", stack: "t", silent: true, itemStyle: { color: "transparent" }, data: flows.map((f) => f.start) },
      { type: "bar", stack: "t", barWidth: "62%", data: flows.map((f) => f.fct) }],
  })));
};

const boundPage = (doc) => {
  const jobs = jobCards(doc);
  return jobs.length > 0 ? [...jobs.slice(0, 1), timelineCard(doc), ...jobs.slice(1)] : [slowestCard(doc), ...activityCards(doc)];
};

const linkDetails = (model, i, showFlow) => {
  const { links } = model;
  const back = links.port.findIndex((_, k) => links.from[k] === links.to[i] && links.to[k] === links.from[i]);
  const rows = [i, ...(back >= 0 ? [back] : [])];
  const columns = [["link", (k) => model.name(k), "text"], ["rate", (k) => showRate(links.rate[k])], ["carried", (k) => showBytes(links.bytes[k])],
    ["load", (k) => showShare(links.use[k])]];
  if (model.data.queues) columns.push(["queue", (k) => showBytes(links.queue[k])], ["marks", (k) => showCount(links.marks[k])], ["drops", (k) => showCount(links.drops[k])], ["paused", (k) => showTime(links.paused[k])]);
  if (!model.data.paths_unknown) columns.push(["flows", (k) => showCount(links.flows[k])]);
  const crossing = showFlow.flows.filter((f) => f.path && f.path.includes(links.port[i]));
  const series = model.data.series;
  return [el("h3", {}, model.name(i)), table(columns, rows), seriesPlot(model, i),
    series ? note(series.measured ? "Measured (series.csv)." : "Estimated: each flow at its mean rate. sluice run --mode packet --set output.series=true measures it, with queues.") : null,
    crossing.length > 0 ? note(`Of the slowest flows ${crossing.length} cross it: ${crossing.slice(0, 12).map((f) => f.flow).join(", ")}${crossing.length > 12 ? ", ..." : ""}.`) : null];
};

const hotPage = (doc) => {
  const model = new NetworkModel(doc.network);
  const { links } = model;
  const details = el("div");
  const legendNode = el("span", { class: "note" });
  const view = new NetworkView(model, (i) => choose(i));
  const flows = doc.flows.listed;
  const choose = (i) => {
    view.chosen = i;
    view.draw();
    details.replaceChildren(...linkDetails(model, i, { flows }).filter(Boolean));
  };
  const showLegend = () => {
    const [name, , format] = METRICS[view.metric];
    legendNode.replaceChildren(`${name} 0`, el("i", { class: "scale", style: `background:linear-gradient(90deg,${[0, 0.33, 0.66, 1].map(heat).join(",")})` }), format(model.scaleOf(view.metric)));
  };
  const listNode = el("div");
  const showList = () => {
    const [name, value, format] = METRICS[view.metric];
    const rows = links.port.map((_, i) => i).sort((a, b) => value(links, b) - value(links, a)).slice(0, 40);
    listNode.replaceChildren(table([["link", (i) => model.name(i), "text"], ["class", (i) => model.data.classes[links.class[i]], "text"], [name, (i) => format(value(links, i))]], rows, choose));
  };
  const setMetric = (metric) => { view.metric = metric; view.draw(); showLegend(); showList(); };
  const flowTable = doc.network.paths_unknown ? note(`Ways of flows are not shown: ${doc.network.paths_unknown}.`)
    : table([["flow", (f) => f.flow, "text"], ["class", (f) => f.class, "text"], ["from", (f) => model.names[f.src], "text"], ["to", (f) => model.names[f.dst], "text"], ["time", (f) => showTime(f.fct)], ["slowdown", (f) => f.slowdown ? rounded(f.slowdown) : "–"]],
      flows, (f) => {
        view.path = new Set((f.path || []).map((port) => model.placeOf.get(port)).filter((i) => i !== undefined));
        view.draw();
        details.replaceChildren(el("h3", {}, `Way of flow ${f.flow}`), table([["link", (i) => model.name(i), "text"], ["load", (i) => showShare(links.use[i])], ["flows", (i) => showCount(links.flows[i])]], [...view.path], choose));
      });
  showLegend();
  showList();
  const first = doc.network.hottest.map((port) => model.placeOf.get(port)).find((i) => i !== undefined);
  if (first !== undefined) choose(first);
  const byClass = doc.summary.link_classes || [];
  return [
    card("The network", "two", el("div", { class: "controls" },
      choice("Colour by", model.metrics().map((key) => [key, METRICS[key][0]]), "use", setMetric), legendNode,
      el("button", { type: "button", "aria-label": "Zoom in", onclick: () => view.zoom(1.5) }, "+"), el("button", { type: "button", "aria-label": "Zoom out", onclick: () => view.zoom(1 / 1.5) }, "–"),
      el("button", { type: "button", onclick: () => { view.reset(); view.path.clear(); view.draw(); } }, "Show all")),
      view.node,
      note(`${showCount(links.port.length)} directed links${model.data.left_out ? `, the hottest ones; ${showCount(model.data.left_out)} more are not drawn` : ""}. Click a link for its load over time, a flow for its way. Nodes too near to each other are drawn as one: zoom in.`)),
    card("Hottest links", "third", listNode),
    card("", "half", details),
    card("The slowest flows", "half", flowTable),
    byClass.length > 0 ? card("Classes of links", "", table([["class", (c) => c.name, "text"], ["links", (c) => showCount(c.links)], ["carried", (c) => showBytes(c.bytes)], ["mean load", (c) => showShare(c.mean_utilization)], ["most loaded", (c) => showShare(c.most_utilization)]], byClass)) : null,
  ];
};

const FEW = 8;
const ecdfPlot = (title, classes, figure, format, tail) => plot(title, 300, () => ({
  grid: { left: 58, right: 28, top: 30, bottom: 44 },
  legend: { type: "scroll", top: 0, textStyle: { color: colour("ink") } },
  tooltip: { trigger: "item", confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") },
    formatter: (p) => `${escaped(p.seriesName)}: ${showShare(tail ? 1 - p.value[1] : p.value[1])} of flows within ${format(p.value[0])}` },
  xAxis: axis("log", figure === "fct" ? "flow completion time" : "slowdown", format, { min: "dataMin", max: "dataMax", splitLine: { show: false } }),
  yAxis: tail ? axis("log", "share that takes longer", showShare, { nameGap: 44, max: 1 }) : axis("value", "share of flows", showShare, { nameGap: 42, max: 1 }),
  series: classes.map((c) => ({ name: c.name, type: "line", step: "end", showSymbol: false, symbolSize: 5, lineStyle: { width: c.name === "all flows" ? 2.6 : 1.6 },
    data: c[figure].quantiles.map(([share, value]) => [value, tail ? 1 - share : share]).filter(([value, share]) => value > 0 && share > 0) })),
}));

const flowsPage = (doc) => {
  const classes = doc.flows.classes;
  if (classes.length === 0) return [card("", "", note("No flow finished."))];
  const shown = classes.slice(0, FEW);
  const slow = shown.filter((c) => c.slowdown);
  const holder = el("div");
  const sizes = classes[0].sizes.filter((s) => s.slowdown || s.fct);
  const figure = sizes.some((s) => s.slowdown) ? "slowdown" : "fct";
  const format = figure === "fct" ? showTime : (v) => rounded(v);
  const setTail = (kind) => holder.replaceChildren(el("div", { class: "cards" },
    el("div", { class: "card half", style: "border:0;padding:0" }, ecdfPlot("Flow completion times", shown, "fct", showTime, kind === "tail")),
    slow.length > 0 ? el("div", { class: "card half", style: "border:0;padding:0" }, ecdfPlot("Slowdowns", slow, "slowdown", (v) => rounded(v), kind === "tail")) : null));
  setTail("ecdf");
  return [
    card("Distributions by class", "", el("div", { class: "controls" }, choice("Show", [["ecdf", "share of flows within a time"], ["tail", "tail: share that takes longer"]], "ecdf", setTail)), holder),
    card(figure === "slowdown" ? "Slowdown by size of flow" : "Completion time by size of flow", "half", plot("By size", 260, () => ({
      grid: { left: 54, right: 28, top: 30, bottom: 44 },
      legend: { top: 0, textStyle: { color: colour("ink") } },
      tooltip: { trigger: "axis", confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") }, valueFormatter: format },
      xAxis: axis("category", "size, from", null, { data: sizes.map((s) => showBytes(s.low)) }),
      yAxis: axis(figure === "fct" ? "log" : "value", "", format),
      series: ["p50", "p95", "p99"].map((name) => ({ name, type: "line", symbolSize: 6, data: sizes.map((s) => s[figure] ? s[figure][name] : null) })),
    }))),
    card("By class", "half", table([["class", (c) => c.name, "text"], ["flows", (c) => showCount(c.flows)], ["bytes", (c) => showBytes(c.bytes)], ["mean", (c) => showTime(c.fct.mean)], ["p50", (c) => showTime(c.fct.p50)], ["p99", (c) => showTime(c.fct.p99)], ["max", (c) => showTime(c.fct.max)],
      ["slowdown", (c) => c.slowdown ? rounded(c.slowdown.mean) : "–"], ["p99", (c) => c.slowdown ? rounded(c.slowdown.p99) : "–"]], classes),
      note("Percentiles are by nearest rank. Flows of one run influence each other, so that no interval is given: sluice evaluate estimates one over trials.")),
    ...(doc.summary.jobs ? activityCards(doc) : []),
    card("The slowest flows", "", table([["flow", (f) => f.flow, "text"], ["class", (f) => f.class, "text"], ["from host", (f) => f.src], ["to host", (f) => f.dst], ["size", (f) => showBytes(f.size)], ["start", (f) => showTime(f.start)], ["time", (f) => showTime(f.fct)], ["slowdown", (f) => f.slowdown ? rounded(f.slowdown) : "–"]], doc.flows.listed)),
  ];
};

const replicaCards = (replicas) => Object.entries(replicas || {}).filter(([, values]) => values.length > 0).map(([name, values]) => {
  const { mean, low, high } = meanInterval(values);
  return card(`Replicas: ${name}`, "half", plot(`Replicas ${name}`, 130, () => ({
    grid: { left: 20, right: 20, top: 10, bottom: 44 },
    xAxis: axis("value", `mean ${showTimeWell(mean)}, 95% interval ${showTimeWell(low)} to ${showTimeWell(high)}`, showTimeWell, { scale: true, splitNumber: 4 }),
    yAxis: { type: "value", show: false, min: -1, max: 1 },
    series: [{ type: "scatter", symbolSize: 9, data: values.map((v, i) => [v, ((i % 5) - 2) / 6]),
      markArea: { silent: true, itemStyle: { color: colour("c2"), opacity: 0.25 }, data: [[{ xAxis: low }, { xAxis: high }]] },
      markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: colour("c2"), type: "solid" }, data: [{ xAxis: mean }] } }],
  })));
});

const trustPage = (doc) => {
  const { phases, hops, audit, replicas, warnings, without_effect } = doc.trust;
  const cards = [];
  if (hops) {
    cards.push(card("Packet-hops of this run", "", shareBar("Packet-hops", [["executed", hops.executed, "c1"], ["copies of identical parts (exact)", hops.copies, "c3"], ["replaced by equations", hops.equations, "c2"]], showCount)));
  }
  if (audit) {
    const interval = (title, a) => a && [title, a];
    const rows = [interval("completion time", audit.jct), interval("mean flow", audit.fct)].filter(Boolean);
    cards.push(card("The audit", "half", rows.length > 0
      ? table([["", ([t]) => t, "text"], ["simulated", ([, a]) => showTimeWell(a.value)], ["error", ([, a]) => `${showShare(a.error)} ± ${showShare(a.half_width)}`], ["with packets, 95%", ([, a]) => `${showTimeWell(a.low)} to ${showTimeWell(a.high)}`]], rows) : note("Too few skips were drawn for an estimate."),
      note(`A random share of what was skipped is simulated with packets, too: ${showCount(audit.audited)} of ${showCount(audit.skips)} skips.`)));
  }
  if (phases) {
    const points = (values) => values.map((v, i) => [(i + 0.5) * phases.step, v]);
    const kinds = [["by packets", phases.unsteady, "c1"], ["by equations", phases.steady, "c2"], ["from the memo of episodes", phases.memoized, "c4"]].filter(([, values]) => values.some((v) => v > 0));
    cards.push(card("Flows by how they were simulated, over time", audit ? "half" : "", plot("Phases over time", 230, () => ({
      grid: { left: 56, right: 28, top: 30, bottom: 42 },
      legend: { top: 0, textStyle: { color: colour("ink") } },
      tooltip: { trigger: "axis", confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") },
        formatter: (found) => `${showTime(found[0].value[0])}<br>${kinds.map(([name, values]) => `${name}: ${showCount(values[found[0].dataIndex])}`).join("<br>")}` },
      xAxis: axis("value", "simulated time", showTime, { min: 0, max: phases.step * phases.unsteady.length, nameGap: 24 }),
      yAxis: axis("value", "", showCount),
      series: kinds.map(([name, , key], k) => ({ name, type: "line", step: "middle", showSymbol: false, z: 10 - k, lineStyle: { width: 0 }, areaStyle: { opacity: 1, color: colour(key) }, itemStyle: { color: colour(key) },
        data: points(kinds[0][1].map((_, i) => kinds.slice(0, k + 1).reduce((sum, [, values]) => sum + values[i], 0))) })),
    }))));
    cards.push(card(`What ended the ${showCount(phases.count)} phases`, "half", table([["event", ([name]) => name, "text"], ["phases", ([, n]) => showCount(n)]], Object.entries(phases.ended_by).sort((a, b) => b[1] - a[1]))));
  }
  cards.push(...replicaCards(replicas));
  const list = (title, texts) => texts.length > 0 ? card(title, "half", el("ul", {}, texts.map((text) => el("li", {}, text)))) : null;
  cards.push(list("Warnings", warnings), list("Keys of the scenario without effect", without_effect));
  const s = doc.summary;
  cards.push(card("What ran", "half", table([["", ([k]) => k, "text"], ["", ([, v]) => v, "text wide"]],
    [["mode", s.mode], ["version", s.version], ["seed", s.seed], ["folder", doc.folder], ["simulated", showTime(s.simulated_s)], ["in", `${showTime(s.wall_s)} (${showTime(s.user_s)} of CPU)`], ["memory", showBytes(s.peak_rss_bytes)]])));
  return cards;
};
