/* The pages of a run. */
const EXPLAIN_CAUSE = "What the job waited for, from its last operation backwards. The parts add up to its time.";
const EXPLAIN_LINKS = " Flows across a class of links: it is the farthest class from the hosts that they cross, not by itself the bottleneck.";

/* A communicator has its colour, which is fainter where it is there again. */
const partsOf = (path) => {
  const used = new Set();
  return path.parts.map(({ label, seconds }) => {
    const key = classColour(label.split(" ")[0]);
    const again = used.has(key);
    used.add(key);
    return [label, seconds, key, again];
  });
};
const pathCard = (job, path) => {
  const { parts } = path;
  const computed = parts.find((part) => part.kind === "compute");
  const most = job.rank_time_s && job.rank_time_s.compute ? job.rank_time_s.compute.most : NaN;
  const longer = computed && computed.seconds > 1.001 * most
    ? ` Computation on it, ${showTime(computed.seconds)}, is more than any rank computes (${showTime(most)}): the path leads through the operations of several ranks.` : "";
  return card(`Critical path of ${job.name}${missing(job.jct_s) ? ", which is not complete" : `: ${showTime(job.jct_s)}`}`, "",
    shareBar("Critical path", partsOf(path), showTime),
    table([["part", (part) => part.label, "text"], ["time", (part) => showTime(part.seconds)], ["share", (part) => showShare(part.share)]], parts),
    note(EXPLAIN_CAUSE, parts.some((part) => part.kind === "network") ? EXPLAIN_LINKS : "", longer), note(spelledOut(parts.map((part) => part.label))));
};

const jobCards = (doc) => (doc.summary.jobs || []).flatMap((job) => {
  const cards = [];
  const path = doc.jobs_time.find((one) => one.name === job.name);
  if (path) cards.push(pathCard(job, path));
  if (job.rank_time_s) {
    const rows = Object.entries(job.rank_time_s);
    const whole = rows.reduce((sum, [, v]) => sum + v.mean, 0);
    const shown = (name) => name === "compute" ? "computation" : name;
    cards.push(card("How a rank spends this time, on average", "two",
      shareBar("Time of a rank", rows.map(([name, value]) => [shown(name), value.mean, classColour(name)]), showTime),
      note("Communication counts where nothing is computed and the next computation waits for it; waiting: for another rank's computation; idle: nothing is left to do.")));
    cards.push(card("Mean, and the rank with the most", "third", table([["", ([name]) => shown(name), "text"], ["mean", ([, v]) => showTime(v.mean)],
      ["share", ([, v]) => showShare(v.mean / whole)], ["most", ([, v]) => showTime(v.most)], ["rank", ([, v]) => v.most_rank]], rows)));
  }
  return cards;
});

const explainTimeline = (timeline, items, end) => {
  if (!timeline.computed) {
    return note("From flows alone: this run has no trace.json, so that computations and communication inside servers are not drawn. ", code("sluice run SCENARIO.toml --set output.trace=true"), " records them.");
  }
  const hidden = items.some((item) => item[5] === 1);
  return note(hidden ? "Full height: computation, or communication that no computation hides; thin strips: communication behind computation. " : "Computation, and communication that no computation hides. ",
    hasGaps(items, end) ? "Gaps: waiting, or nothing left to do. " : "", "Drag or arrows move, Ctrl+wheel or + and - zoom.");
};

const timelineCard = (doc) => {
  const { timeline } = doc;
  if (!timeline) return null;
  const end = doc.summary.simulated_s;
  const items = timelineItems(timeline);
  const entries = timeline.lanes.filter((lane, i) => items.some((item) => item[3] === i));
  const several = timeline.rows.some((row) => row.hosts > 1);
  return card(timeline.computed ? "The iteration, rank by rank" : "Communication, rank by rank", "",
    el("div", { class: "controls" }, legend(entries.map((lane) => [lane === "PP" && timeline.computed ? "PP (from its receive's posting: mostly waiting for the other stage)" : lane === "compute" ? "computation" : lane, laneColour(lane, timeline.lanes)]))),
    timelinePlot(timeline, items, end),
    explainTimeline(timeline, items, end),
    note(several ? `A row stands for ranks that do the same (before the colon: how many). Its first rank is drawn; the others differ from it in at most ${showShare(timeline.difference)} of the run. ` : "No two ranks do the same. ", spelledOut(entries)),
    timeline.not_drawn > 0 ? note(`${showCount(timeline.not_drawn)} more hosts are not drawn.`) : null);
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
  return card("The slowest flows, by when they end", "", plot("Slowest flows over time", 20 * flows.length + 60, () => ({
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

const explainSeries = (series) => {
  const peak = `Load and peak count all bytes on the wire, headers and ACKs too; the peak is over ${showTime(series.step)}. It is known for the hottest 200 directions; others have –.`;
  return series.measured ? note(`From series.csv. ${peak}`)
    : note(`${peak} Estimated: each flow at its mean rate, along its path; what would exceed the line's rate is moved to the nearest time with room. ${series.whole ? "The sum is what the link carried. " : "Flows that did not finish are left out. "}`,
      code("sluice run SCENARIO.toml --mode packet --set output.series=true"), " measures it, with queues.");
};

const linkDetails = (model, i, showFlow) => {
  const { links } = model;
  const back = links.port.findIndex((_, k) => links.from[k] === links.to[i] && links.to[k] === links.from[i]);
  const rows = [i, ...(back >= 0 ? [back] : [])];
  const columns = [["link", (k) => model.name(k), "text"], ["carried", (k) => showBytes(links.bytes[k])],
    ["load", (k) => showShare(links.use[k])], ["at peak", (k) => showShare(model.peak(k))]];
  if (model.data.queues) columns.push(["largest queue", (k) => showBytes(links.queue[k])], ["ECN marks", (k) => showCount(links.marks[k])], ["drops", (k) => showCount(links.drops[k])], ["paused", (k) => showTime(links.paused[k])]);
  if (!model.data.paths_unknown) columns.push(["flows", (k) => showCount(links.flows[k])]);
  const crossing = showFlow.flows.filter((f) => f.path && f.path.includes(links.port[i]));
  const { series } = model.data;
  const found = series && series.ports[links.port[i]];
  return [el("h3", {}, `${model.name(i)}, ${model.data.classes[links.class[i]]}, ${showRate(links.rate[i])}${found ? `: load over time, ${series.measured ? "measured" : "estimated"}` : ""}`), table(columns, rows), seriesPlot(model, i), found ? explainSeries(series) : null,
    crossing.length > 0 ? note(`Of the listed flows ${crossing.length} cross it: ${crossing.slice(0, 12).map((f) => f.flow).join(", ")}${crossing.length > 12 ? ` and ${crossing.length - 12} more` : ""}.`) : null];
};

/* The listed flows, in an order and of a class to be chosen. */
const flowCard = (doc, size, columns, onChoose) => {
  const { listed } = doc.flows;
  const orders = { slowdown: ["Largest slowdown", (f) => f.slowdown], time: ["Longest completion time", (f) => f.fct] };
  const known = Object.keys(orders).filter((order) => listed.some(orders[order][1]));
  const classes = [...new Set(listed.map((f) => f.class))];
  const state = { order: known[0] || "time", of: "all" };
  const title = el("h3");
  const holder = el("div");
  const show = () => {
    const [name, value] = orders[state.order];
    const rows = listed.filter((f) => state.of === "all" || f.class === state.of).sort((a, b) => value(b) - value(a) || a.flow - b.flow).slice(0, state.of === "all" ? 60 : 20);
    title.replaceChildren(state.of === "all" ? name : `${name}, ${className(state.of)}`);
    holder.replaceChildren(table(columns, rows, onChoose));
  };
  const pick = (key) => (value) => { state[key] = value; show(); };
  show();
  return card("", size, title, el("div", { class: "controls" },
    known.length > 1 ? choice("Sort by", known.map((order) => [order, order]), state.order, pick("order")) : null,
    classes.length > 1 ? choice("Class", [["all", "all"], ...classes.map((name) => [name, className(name)])], "all", pick("of")) : null), holder);
};

/* Links by what colours them, with what makes a link hot side by side. */
const linkList = (model, metric, onChoose) => {
  const { links } = model;
  const [name, value, format] = METRICS[metric];
  const rows = links.port.map((_, i) => i).sort((a, b) => value(links, b) - value(links, a)).slice(0, 40);
  const columns = [["link", (i) => model.name(i), "text"], ["load", (i) => showShare(links.use[i])], [model.data.series && !model.data.series.measured ? "at peak, estimated" : "at peak", (i) => showShare(model.peak(i))]];
  if (model.data.queues) columns.push(["largest queue", (i) => showBytes(links.queue[i])], ["ECN marks", (i) => showCount(links.marks[i])]);
  if (!columns.some(([title]) => title === name)) columns.splice(1, 0, [name, (i) => format(value(links, i))]);
  return [el("h3", {}, `Links by ${name}`), table(columns, rows, onChoose)];
};

const hotPage = (doc) => {
  const model = new NetworkModel(doc.network);
  const { links } = model;
  const details = el("div");
  const listNode = el("div");
  const legendNode = el("span", { class: "note" });
  const view = new NetworkView(model, (i) => choose(i));
  const choose = (i) => {
    view.chosen = i;
    view.draw();
    details.replaceChildren(...linkDetails(model, i, { flows: doc.flows.listed }).filter(Boolean));
  };
  const showPath = (f) => {
    view.path = new Set((f.path || []).map((port) => model.placeOf.get(port)).filter((i) => i !== undefined));
    view.chosen = null;
    for (const line of listNode.querySelectorAll(".chosen")) line.classList.remove("chosen");
    view.draw();
    details.replaceChildren(el("h3", {}, `Path of flow ${f.flow}`), table([["link", (i) => model.name(i), "text"], ["load", (i) => showShare(links.use[i])], ["flows", (i) => showCount(links.flows[i])]], [...view.path], choose));
  };
  const setMetric = (metric) => {
    view.metric = metric;
    view.draw();
    const [name, , format] = METRICS[metric];
    legendNode.replaceChildren(`${name} 0`, el("i", { class: "scale", style: `background:linear-gradient(90deg,${[0, 0.33, 0.66, 1].map(heat).join(",")})` }), format(model.scaleOf(metric)));
    listNode.replaceChildren(...linkList(model, metric, choose));
  };
  setMetric("use");
  const first = doc.network.hottest.map((port) => model.placeOf.get(port)).find((i) => i !== undefined);
  if (first !== undefined) choose(first);
  const byClass = doc.summary.link_classes || [];
  const flowColumns = [["flow", (f) => f.flow, "text"], ["class", (f) => className(f.class), "text"], ["from", (f) => model.names[f.src], "text"], ["to", (f) => model.names[f.dst], "text"], ["time", (f) => showTime(f.fct)], ["slowdown", (f) => f.slowdown ? rounded(f.slowdown) : "–"]];
  return [
    card("The network", "two", el("div", { class: "controls" },
      choice("Colour by", model.metrics().map((key) => [key, METRICS[key][0]]), "use", setMetric), legendNode,
      el("button", { type: "button", "aria-label": "Zoom in", onclick: () => view.zoom(1.5) }, "+"), el("button", { type: "button", "aria-label": "Zoom out", onclick: () => view.zoom(1 / 1.5) }, "–"),
      el("button", { type: "button", onclick: () => { view.reset(); view.path.clear(); view.draw(); } }, "Show all")),
      view.node,
      note(`${showCount(model.cables.length)} links${model.data.left_out ? `, the hottest ones; ${showCount(model.data.left_out)} more directions are not drawn` : ""}. A line has the colour of the direction with more of the two. Blue outline: the link chosen, or the path of the flow chosen. Click a link for its load over time, a flow for its path. Nodes too near to each other are drawn as one: zoom in.`)),
    card("", "third", listNode),
    card("", "half", details),
    doc.network.paths_unknown ? card("Paths of flows", "half", note(`They are not shown: ${doc.network.paths_unknown}.`)) : flowCard(doc, "half", flowColumns, showPath),
    byClass.length > 0 ? card("Classes of links", "", table([["class", (c) => c.name, "text"], ["links", (c) => showCount(c.links)], ["carried, both directions", (c) => showBytes(c.bytes)], ["mean load of a direction", (c) => showShare(c.mean_utilization)], ["most loaded direction", (c) => showShare(c.most_utilization)]], byClass),
      model.data.queues ? note("ECN: explicit congestion notification, packets marked by long queues. PFC: priority flow control, which pauses the sender of a link before a buffer overflows.") : null) : null,
  ];
};

const FEW = 8;
const classColourAmong = (one, classes) => colour(classColour(one.name, classes.map((other) => other.name)));
const ecdfPlot = (title, classes, figure, format, tail) => plot(title, 300, () => ({
  grid: { left: 58, right: 28, top: 30, bottom: 44 },
  legend: { type: "scroll", top: 0, textStyle: { color: colour("ink") } },
  tooltip: { trigger: "item", confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") },
    formatter: (p) => `${escaped(p.seriesName)}: ${showShare(tail ? 1 - p.value[1] : p.value[1])} of flows within ${format(p.value[0])}` },
  xAxis: axis("log", figure === "fct" ? "flow completion time" : "slowdown", format, { min: "dataMin", max: "dataMax", splitLine: { show: false } }),
  yAxis: tail ? axis("log", "share that takes longer", showShare, { nameGap: 44, max: 1 }) : axis("value", "share of flows", showShare, { nameGap: 42, max: 1 }),
  series: classes.map((c) => ({ name: className(c.name), type: "line", step: "end", showSymbol: false, symbolSize: 5,
    itemStyle: { color: classColourAmong(c, classes) }, lineStyle: { width: c.name === "all flows" ? 2.6 : 1.6, color: classColourAmong(c, classes) },
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
    card("By class", "half", table([["class", (c) => className(c.name), "text"], ["flows", (c) => showCount(c.flows)], ["bytes", (c) => showBytes(c.bytes)], ["mean", (c) => showTime(c.fct.mean)], ["p50", (c) => showTime(c.fct.p50)], ["p99", (c) => showTime(c.fct.p99)], ["max", (c) => showTime(c.fct.max)],
      ["slowdown", (c) => c.slowdown ? rounded(c.slowdown.mean) : "–"], ["p99", (c) => c.slowdown ? rounded(c.slowdown.p99) : "–"]], classes),
      note("Percentiles are by nearest rank. Flows of one run influence each other, so that no interval is given; the page How far to trust it? says how to get one. ", spelledOut(classes.map((c) => c.name)))),
    ...(doc.summary.jobs ? activityCards(doc) : []),
    flowCard(doc, "", [["flow", (f) => f.flow, "text"], ["class", (f) => className(f.class), "text"], ["from host", (f) => f.src], ["to host", (f) => f.dst], ["size", (f) => showBytes(f.size)], ["start", (f) => showTime(f.start)], ["time", (f) => showTime(f.fct)], ["slowdown", (f) => f.slowdown ? rounded(f.slowdown) : "–"]]),
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
  const { phases, hops, audit, replicas, warnings, without_effect, unknown, commands } = doc.trust;
  const cards = doc.jobs_time.map(({ name, parts }) => card(doc.jobs_time.length > 1 ? `What the time of ${name} rests on` : "What the time rests on", "",
    table([["part of the critical path", (part) => part.label, "text"], ["time", (part) => showTime(part.seconds)], ["share", (part) => showShare(part.share)], ["rests on", (part) => part.basis, "text wide"]], parts),
    note(spelledOut(parts.map((part) => part.label)))));
  cards.push(card("What is not known", "", el("ul", {}, unknown.map((text) => el("li", {}, text)))));
  cards.push(card("How to find out more", "",
    commands.flatMap(({ why, command: line }) => [el("p", {}, `${why}.`), command(line)]),
    note(commands.length > 0 ? "SCENARIO.toml is the file that this run was made from; repeat the options that it was run with. " : "", ...(commands.length > 0 ? [code("sluice describe SCENARIO.toml --mode MODE"), " says how long that takes. "] : []), "Means and tails with intervals, over as many trials as a wanted precision takes: ", code("sluice evaluate EVALUATION.toml"), ".")));
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
  cards.push(list("Warnings", warnings), list("Settings of the scenario that changed nothing in this run", without_effect));
  const s = doc.summary;
  cards.push(card("What ran", "half", table([["", ([k]) => k, "text"], ["", ([, v]) => v, "text wide"]],
    [["mode", s.mode], ["version", s.version], ["seed", s.seed], ["folder", doc.folder], ["simulated", showTime(s.simulated_s)], ["took", `${showTime(s.wall_s)} (${showTime(s.user_s)} of CPU)`], ["memory", showBytes(s.peak_rss_bytes)]])));
  return cards;
};
