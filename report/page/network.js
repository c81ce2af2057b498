/* The network. Nodes that would be nearer to each other than a few pixels are drawn as one, and so are their links: zoom
   in to take them apart. */
const METRICS = {
  use: ["load", (link, i) => link.use[i], showShare],
  queue: ["largest queue", (link, i) => link.queue[i], showBytes],
  paused: ["time paused", (link, i) => link.paused[i], showTime],
  marks: ["ECN marks", (link, i) => link.marks[i], showCount],
  drops: ["drops", (link, i) => link.drops[i], showCount],
  flows: ["flows", (link, i) => link.flows[i], showCount],
};
const CELL = 7;

class NetworkModel {
  constructor(network) {
    this.data = network;
    this.links = network.links;
    this.reach = network.y.reduce(([low, high], y) => [Math.min(low, y), Math.max(high, y)], [1, 0]);
    this.names = new Array(network.x.length);
    this.prefix = new Array(network.x.length).fill(0);
    network.groups.forEach((group, g) => group.nodes.forEach((node, i) => {
      this.names[node] = `${group.prefix}${i}`;
      this.prefix[node] = g;
    }));
    this.placeOf = new Map(this.links.port.map((port, i) => [port, i]));
    /* A cable is drawn once: its two directions, either of which may have been left out. */
    const cables = new Map();
    this.links.port.forEach((_, i) => {
      const a = Math.min(this.links.from[i], this.links.to[i]);
      const b = Math.max(this.links.from[i], this.links.to[i]);
      const key = a * this.names.length + b;
      if (!cables.has(key)) cables.set(key, { a, b, links: [] });
      cables.get(key).links.push(i);
    });
    this.cables = [...cables.values()];
  }
  name(i) { return `${this.names[this.links.from[i]]} to ${this.names[this.links.to[i]]}`; }
  /* What the hottest colour stands for: of loads a round figure, so that an even load is not drawn as a hot spot. */
  scaleOf(metric) {
    const most = this.links.port.reduce((m, _, i) => Math.max(m, METRICS[metric][1](this.links, i)), 0);
    return metric === "use" ? [0.1, 0.25, 0.5, 1].find((step) => step >= most) || most : most;
  }
  peak(i) { return ((this.data.series || { ports: {} }).ports[this.links.port[i]] || {}).peak; }
  metrics() {
    return Object.keys(METRICS).filter((key) => key === "use" || (key === "flows" ? !this.data.paths_unknown : this.data.queues && this.links[key].some((v) => v > 0)));
  }
}

const mixed = (from, to, share) => {
  const parts = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const a = parts(from), b = parts(to);
  return `rgb(${a.map((v, i) => Math.round(v + (b[i] - v) * share)).join(",")})`;
};
const heat = (share) => {
  const stops = [colour("idle"), "#e8b52a", "#e0672a", "#c4122f"];
  const at = Math.min(0.9999, Math.max(0, share)) * (stops.length - 1);
  return mixed(stops[Math.floor(at)], stops[Math.floor(at) + 1], at % 1);
};

class NetworkView {
  constructor(model, onChoose) {
    this.model = model;
    this.onChoose = onChoose;
    this.metric = "use";
    this.path = new Set();
    this.chosen = null;
    this.canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "The network; plus and minus zoom, arrows move, 0 shows all. The table beside it has the same links." });
    this.tip = el("div", { class: "tip", hidden: "" });
    this.node = el("div", { class: "network" }, this.canvas, this.tip);
    this.node.redraw = () => this.draw();
    this.reset();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.node);
    made.add(this.node);
  }
  reset() { this.scale = 1; this.left = 0; this.top = 0; }
  listen() {
    const canvas = this.canvas;
    let drag = null;
    canvas.addEventListener("pointerdown", (e) => { drag = { x: e.offsetX, y: e.offsetY, moved: false }; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", (e) => {
      if (drag && (drag.moved || Math.hypot(e.offsetX - drag.x, e.offsetY - drag.y) > 4)) {
        this.left += e.offsetX - drag.x;
        this.top += e.offsetY - drag.y;
        drag = { x: e.offsetX, y: e.offsetY, moved: true };
        this.draw();
      } else if (!drag) this.hover(e.offsetX, e.offsetY);
    });
    canvas.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved) {
        const segment = this.at(e.offsetX, e.offsetY);
        if (segment) this.onChoose(segment.link);
      }
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && document.activeElement !== canvas) return;
      e.preventDefault();
      this.zoom(e.deltaY < 0 ? 1.25 : 0.8, e.offsetX, e.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => {
      const step = 60;
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (moves[e.key]) { this.left += moves[e.key][0]; this.top += moves[e.key][1]; this.draw(); }
      else if (e.key === "+" || e.key === "=") this.zoom(1.4);
      else if (e.key === "-") this.zoom(1 / 1.4);
      else if (e.key === "0") { this.reset(); this.draw(); }
      else return;
      e.preventDefault();
    });
  }
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(400, Math.max(1, this.scale * factor));
    const by = scale / this.scale;
    this.left = x - (x - this.left) * by;
    this.top = y - (y - this.top) * by;
    this.scale = scale;
    if (scale === 1) this.reset();
    this.draw();
  }
  place(node) {
    const tiers = this.model.data.layout === "tiers";
    const wide = this.model.data.layout === "circle" ? Math.min(this.width - 80, this.height * 1.1) : this.width - 80;
    const x = 64 + (this.width - 80 - wide) / 2 + this.model.data.x[node] * wide;
    const [top, bottom] = this.model.reach;
    const y = 22 + (this.model.data.y[node] - top) / (bottom - top || 1) * (this.height - 52);
    /* Tiers stay in sight: only their width is zoomed. */
    return [x * this.scale + this.left, tiers ? y : y * this.scale + this.top];
  }
  cells() {
    const cells = new Map();
    const of = new Array(this.model.names.length);
    for (let node = 0; node < of.length; node += 1) {
      if (this.model.names[node] === undefined) continue;
      const [x, y] = this.place(node);
      const key = `${this.model.prefix[node]}/${Math.floor(x / CELL)}/${Math.floor(y / CELL)}`;
      let cell = cells.get(key);
      if (!cell) cells.set(key, cell = { x: 0, y: 0, nodes: [] });
      cell.nodes.push(node);
      cell.x += (x - cell.x) / cell.nodes.length;
      cell.y += (y - cell.y) / cell.nodes.length;
      of[node] = cell;
    }
    return [cells, of];
  }
  segments(of) {
    const value = METRICS[this.metric][1];
    const segments = new Map();
    let number = 0;
    const ids = new Map();
    const id = (cell) => { if (!ids.has(cell)) ids.set(cell, number += 1); return ids.get(cell); };
    for (const cable of this.model.cables) {
      const a = of[cable.a], b = of[cable.b];
      if (a === b) continue;
      if (Math.max(a.x, b.x) < -20 || Math.min(a.x, b.x) > this.width + 20) continue;
      const key = id(a) * 1e6 + id(b);
      let segment = segments.get(key);
      if (!segment) segments.set(key, segment = { a, b, count: 0, value: -1, link: 0, path: false });
      segment.count += cable.links.length;
      for (const i of cable.links) {
        const v = value(this.model.links, i);
        if (v > segment.value) { segment.value = v; segment.link = i; }
        if (this.path.has(i)) segment.path = true;
        if (this.chosen === i) segment.chosen = true;
      }
    }
    return [...segments.values()].sort((s, t) => s.value - t.value);
  }
  bend(s) {
    const far = Math.hypot(s.a.x - s.b.x, s.a.y - s.b.y);
    const wraps = this.model.data.layout === "torus" && far > 0.3 * this.width * this.scale / 2;
    return wraps ? [(s.a.x + s.b.x) / 2 + (s.b.y - s.a.y) * 0.12, (s.a.y + s.b.y) / 2 - (s.b.x - s.a.x) * 0.12] : null;
  }
  draw() {
    if (!this.node.isConnected || this.node.clientWidth === 0) return;
    this.width = this.node.clientWidth;
    this.height = this.model.data.layout === "tiers" ? 330 : 460;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.height = `${this.height}px`;
    const g = this.canvas.getContext("2d");
    g.scale(ratio, ratio);
    const [cells, of] = this.cells();
    this.drawn = this.segments(of);
    this.most = this.model.scaleOf(this.metric);
    const crowd = Math.min(1.8, Math.max(0.4, 260 / this.drawn.length));
    const line = (s, style, width) => {
      const bend = this.bend(s);
      g.strokeStyle = style;
      g.lineWidth = width;
      g.beginPath();
      g.moveTo(s.a.x, s.a.y);
      if (bend) g.quadraticCurveTo(bend[0], bend[1], s.b.x, s.b.y); else g.lineTo(s.b.x, s.b.y);
      g.stroke();
    };
    for (const s of this.drawn) {
      const share = this.most > 0 ? s.value / this.most : 0;
      g.globalAlpha = this.path.size > 0 ? 0.2 : 0.3 + 0.6 * share;
      line(s, heat(share), crowd * (1 + 1.2 * share));
    }
    g.globalAlpha = 1;
    for (const s of this.drawn) {
      if (!s.path && !s.chosen) continue;
      /* A halo, so that its heat stays to be seen. */
      line(s, colour("accent"), 7);
      line(s, colour("card"), 4.4);
      line(s, heat(this.most > 0 ? s.value / this.most : 0), 3.4);
    }
    this.drawNodes(g, cells);
  }
  drawNodes(g, cells) {
    const rows = new Map();
    g.textAlign = "center";
    g.font = "11px system-ui, sans-serif";
    const spacing = new Map();
    for (const cell of cells.values()) {
      const key = this.model.prefix[cell.nodes[0]];
      if (!spacing.has(key)) spacing.set(key, []);
      spacing.get(key).push(cell);
    }
    for (const [group, members] of spacing) {
      members.sort((a, b) => a.x - b.x);
      const seen = members.filter((cell) => cell.x > -30 && cell.x < this.width + 30);
      const room = seen.length > 1 ? (seen[seen.length - 1].x - seen[0].x) / (seen.length - 1) : this.width;
      for (const cell of seen) {
        const size = cell.nodes.length > 1 ? 4 : 3;
        g.fillStyle = colour("ink");
        g.beginPath();
        if (this.model.data.groups[group].prefix === "host") g.arc(cell.x, cell.y, size * 0.8, 0, 7);
        else g.rect(cell.x - size, cell.y - size, 2 * size, 2 * size);
        g.fill();
        const label = this.model.names[cell.nodes[0]];
        if (room > 6 * label.length + 5 && cell.nodes.length === 1) {
          const y = cell.y < this.height / 3 ? cell.y - 8 : cell.y + 16;
          g.strokeStyle = colour("card");
          g.lineWidth = 4;
          g.strokeText(label, cell.x, y);
          g.fillStyle = colour("ink");
          g.fillText(label, cell.x, y);
        }
      }
      if (this.model.data.layout === "tiers" && members.length > 0) rows.set(group, members[0].y);
    }
    g.textAlign = "left";
    for (const [group, y] of rows) {
      const { prefix, nodes } = this.model.data.groups[group];
      g.fillStyle = colour("card");
      g.globalAlpha = 0.85;
      g.fillRect(0, y - 20, 56, 34);
      g.globalAlpha = 1;
      g.fillStyle = colour("soft");
      g.fillText(prefix.replace(/-$/, ""), 4, y - 6);
      g.fillText(showCount(nodes.length), 4, y + 8);
    }
  }
  at(x, y) {
    let best = null, nearest = 7;
    for (const s of this.drawn || []) {
      const bend = this.bend(s) || [(s.a.x + s.b.x) / 2, (s.a.y + s.b.y) / 2];
      for (const [p, q] of [[[s.a.x, s.a.y], bend], [bend, [s.b.x, s.b.y]]]) {
        const length = (q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2 || 1;
        const t = Math.min(1, Math.max(0, ((x - p[0]) * (q[0] - p[0]) + (y - p[1]) * (q[1] - p[1])) / length));
        const away = Math.hypot(x - p[0] - t * (q[0] - p[0]), y - p[1] - t * (q[1] - p[1]));
        if (away <= nearest) { nearest = away; best = s; }
      }
    }
    return best;
  }
  hover(x, y) {
    const s = this.at(x, y);
    this.tip.hidden = !s;
    this.canvas.style.cursor = s ? "pointer" : "grab";
    if (!s) return;
    const [name, , format] = METRICS[this.metric];
    this.tip.textContent = `${this.model.name(s.link)}: ${name} ${format(s.value)}${s.count > 2 ? ` (the most of ${s.count / 2} links drawn here)` : ""}`;
    this.tip.style.left = `${Math.min(x + 12, this.width - 260)}px`;
    this.tip.style.top = `${y + 12}px`;
  }
}

const seriesPlot = (model, i) => {
  const series = model.data.series;
  const found = series && series.ports[model.links.port[i]];
  if (!found) {
    return series ? note("Its load over time is not in the report, which has that of the 200 hottest links whose flows are known.")
      : note(`Its load over time is not known: ${model.data.paths_unknown || "nothing ran"}. `, code("sluice run SCENARIO.toml --mode packet --set output.series=true"), " records it.");
  }
  const points = (values) => values.map((v, k) => [(k + 0.5) * series.step, v]);
  return plot(`Load of ${model.name(i)} over time${series.measured ? "" : ", estimated"}`, 190, () => ({
    grid: { left: 52, right: found.queue ? 60 : 24, top: 26, bottom: 40 },
    legend: found.queue ? { top: 0, textStyle: { color: colour("ink") } } : undefined,
    tooltip: { trigger: "axis", confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink") } },
    xAxis: axis("value", "simulated time", showTime, { min: 0, max: series.step * found.use.length, nameGap: 22 }),
    yAxis: [axis("value", "", showShare, { min: 0, max: (e) => e.max < 1.01 ? 1 : Math.ceil(e.max * 5) / 5 }), ...(found.queue ? [axis("value", "", showBytes, { splitLine: { show: false } })] : [])],
    series: [{ name: "load", type: "line", step: "middle", showSymbol: false, areaStyle: { opacity: 0.25 }, data: points(found.use), tooltip: { valueFormatter: showShare } },
      ...(found.queue ? [{ name: "largest queue", yAxisIndex: 1, type: "line", step: "middle", showSymbol: false, data: points(found.queue), tooltip: { valueFormatter: showBytes } }] : [])],
  }));
};
