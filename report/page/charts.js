/* Charts of ECharts in the page's colours. They are made anew when these change. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const palette = () => [1, 2, 3, 4, 5, 8, 7, 6].map((i) => colour(`c${i}`));
/* Classes that are no communicator take what those leave, by their place among `all`. */
const classColour = (name, all = []) => {
  const own = (one) => CLASS_COLOURS[className(one)];
  if (own(name)) return own(name);
  const others = all.filter((one) => !own(one));
  const free = all.some((one) => COMMUNICATORS[className(one)]) ? ["c7", "c8", "c6", "c1"] : ["c1", "c2", "c3", "c4", "c5", "c8", "c7", "c6"];
  return free[Math.max(0, others.indexOf(name)) % free.length];
};
const made = new Set();

const axisStyle = () => ({
  axisLine: { lineStyle: { color: colour("line") } },
  axisLabel: { color: colour("soft") },
  splitLine: { lineStyle: { color: colour("line"), opacity: 0.6 } },
  nameTextStyle: { color: colour("soft") },
});
const axis = (type, name, format, more = {}) => {
  const style = axisStyle();
  return { type, name, nameLocation: "middle", nameGap: 28, ...style, ...more,
    axisLabel: { ...style.axisLabel, hideOverlap: true, padding: type === "value" ? [0, 5] : 0, alignMaxLabel: type === "value" && more.max !== undefined && more.min !== undefined ? "right" : null, ...(format ? { formatter: format } : {}), ...(more.axisLabel || {}) } };
};

/* option: a function, called again in other colours. Returns the element; .chart is ECharts' own. */
const plot = (label, height, option, renderer = "svg") => {
  const node = el("div", { class: "plot", role: "img", tabindex: 0, "aria-label": label, style: `height:${height}px` });
  const draw = () => {
    if (!node.isConnected || node.clientWidth === 0) return false;
    if (node.chart) node.chart.dispose();
    node.chart = echarts.init(node, null, { renderer });
    const text = { color: colour("ink") };
    node.chart.setOption({ animation: false, backgroundColor: "transparent", color: palette(), textStyle: text,
      tooltip: { confine: true, backgroundColor: colour("card"), borderColor: colour("line"), textStyle: { ...text, fontSize: 12 } },
      ...option() });
    if (node.onDrawn) node.onDrawn(node.chart);
    return true;
  };
  node.redraw = draw;
  node.addEventListener("keydown", (event) => zoomByKey(node.chart, event));
  new ResizeObserver(() => { if (node.chart && node.clientWidth > 0) node.chart.resize(); else draw(); }).observe(node);
  made.add(node);
  return node;
};
const redrawAll = () => { for (const node of made) if (node.isConnected) node.redraw(); else made.delete(node); };

/* Arrows move, + and - zoom, 0 shows all, where a chart can be zoomed. */
const zoomByKey = (chart, event) => {
  if (!chart) return;
  const zoom = (chart.getOption().dataZoom || [])[0];
  if (!zoom) return;
  const width = zoom.end - zoom.start;
  const moves = { ArrowLeft: [-width / 5, 0], ArrowRight: [width / 5, 0], "+": [width / 5, -width * 2 / 5], "=": [width / 5, -width * 2 / 5],
    "-": [-width / 3, width * 2 / 3], 0: [-zoom.start, 100 - width] };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  const length = Math.min(100, Math.max(0.05, width + move[1]));
  const start = Math.min(100 - length, Math.max(0, zoom.start + move[0]));
  chart.dispatchAction({ type: "dataZoom", start, end: start + length });
};
const zooms = (bottom = 4) => [
  { type: "inside", filterMode: "weakFilter", zoomOnMouseWheel: "ctrl", moveOnMouseMove: true },
  { type: "slider", filterMode: "weakFilter", height: 16, bottom, showDetail: false, borderColor: colour("line"), brushSelect: false },
];

/* Parts of a whole as one bar. parts: [[name, value, colour, whether another part has the same colour]]. */
const shareBar = (label, parts, format) => {
  const whole = parts.reduce((sum, part) => sum + part[1], 0) || 1;
  return plot(label, 96, () => ({
    grid: { left: 14, right: 24, top: 34, bottom: 24 },
    legend: { top: 0, left: 0, textStyle: { color: colour("ink") }, itemWidth: 12, itemHeight: 12 },
    tooltip: { confine: true, trigger: "item", backgroundColor: colour("card"), textStyle: { color: colour("ink") },
      formatter: (p) => `${escaped(p.seriesName)}: ${escaped(format(parts[p.seriesIndex][1]))}, ${showShare(p.value)}` },
    xAxis: axis("value", "", showShare, { min: 0, max: 1, splitLine: { show: false } }),
    yAxis: { type: "category", data: [""], show: false },
    series: parts.map(([name, value, key, again]) => ({ name, type: "bar", stack: "all", barWidth: 26, data: [value / whole],
      itemStyle: key ? { color: again ? mixed(colour(key), colour("card"), 0.45) : colour(key) } : {},
      label: { show: value > 0.06 * whole, color: again || key === "idle" ? colour("ink") : colour("card"), formatter: () => format(value) } })),
  }));
};
