/* What ranks did over time. At full height what a rank did alone: its computation, or communication that nothing hides;
   on a thin strip below communication behind a computation. */
const laneColour = (lane, lanes) => colour(classColour(lane, lanes));

const uncovered = (from, to, cover) => {
  const parts = [];
  let at = from;
  for (const [begin, end] of cover) {
    if (end <= at) continue;
    if (begin >= to) break;
    if (begin > at) parts.push([at, begin]);
    at = Math.max(at, end);
  }
  if (at < to) parts.push([at, to]);
  return parts;
};
const hiddenParts = (from, to, open) => uncovered(from, to, open);

const timelineItems = (timeline) => {
  const items = [];
  timeline.rows.forEach((row, r) => {
    const computing = [];
    for (let i = 0; i < row.spans.length; i += 4) {
      if (timeline.lanes[row.spans[i]] === "compute") computing.push([row.spans[i + 2], row.spans[i + 3]]);
    }
    computing.sort((a, b) => a[0] - b[0]);
    const order = [];
    for (let i = 0; i < row.spans.length; i += 4) order.push(i);
    /* A rank waits for its pipeline's messages while it does other things: these are drawn over that. */
    order.sort((a, b) => (timeline.lanes[row.spans[b]] === "PP") - (timeline.lanes[row.spans[a]] === "PP"));
    for (const i of order) {
      const [lane, name, from, to] = row.spans.slice(i, i + 4);
      if (timeline.lanes[lane] === "compute" || !timeline.computed) {
        items.push([r, from / 1e9, to / 1e9, lane, name, 0]);
        continue;
      }
      const open = uncovered(from, to, computing);
      for (const [a, b] of open) items.push([r, a / 1e9, b / 1e9, lane, name, 0]);
      for (const [a, b] of hiddenParts(from, to, open)) items.push([r, a / 1e9, b / 1e9, lane, name, 1]);
    }
  });
  return items;
};

/* Whether a row has times in which nothing is drawn. */
const hasGaps = (items, end) => {
  const until = new Map();
  return [...items].sort((a, b) => a[0] - b[0] || a[1] - b[1]).some(([r, from, to]) => {
    const at = until.get(r) || 0;
    until.set(r, Math.max(at, to));
    return from - at > end / 300;
  }) || [...until.values()].some((at) => end - at > end / 300);
};

const timelinePlot = (timeline, items, end) => {
  const rows = timeline.rows;
  const rowHeight = Math.max(9, Math.min(30, 380 / rows.length));
  const labels = rows.map((row) => row.hosts > 1 ? `${showCount(row.hosts)}: ${row.label}` : row.label);
  const node = plot("Timeline of ranks", Math.round(rows.length * rowHeight + 74), () => ({
    grid: { left: 230, right: 24, top: 6, bottom: 62 },
    xAxis: axis("value", "simulated time", showTime, { min: 0, max: end, nameGap: 22 }),
    yAxis: { type: "category", inverse: true, data: labels, ...axisStyle(), axisTick: { show: false },
      axisLabel: { color: colour("soft"), width: 216, overflow: "truncate", interval: rows.length > 30 ? 1 : 0, fontSize: 12 } },
    dataZoom: zooms(2),
    tooltip: { confine: true, backgroundColor: colour("card"), textStyle: { color: colour("ink"), fontSize: 12 },
      formatter: (p) => {
        const [r, from, to, lane, name, hidden] = p.value;
        return `${escaped(timeline.lanes[lane])}: ${escaped(timeline.names[name])}${hidden ? ", behind computation" : ""}<br>` +
          `${showTime(from)} to ${showTime(to)} (${showTime(to - from)})<br>${escaped(labels[r])}`;
      } },
    /* Drawn at once: in steps ECharts 5.5.1 never comes to an end where the chart can be zoomed. */
    series: [{ type: "custom", encode: { x: [1, 2], y: 0 }, data: items, progressive: 0, clip: true,
      renderItem: (params, api) => {
        const [left, y] = api.coord([api.value(1), api.value(0)]);
        const right = api.coord([api.value(2), api.value(0)])[0];
        const full = api.size([0, 1])[1] * 0.84;
        const hidden = api.value(5) === 1;
        const box = echarts.graphic.clipRectByRect(
          { x: left, y: hidden ? y + full / 2 - full * 0.26 : y - full / 2, width: Math.max(0.6, right - left), height: hidden ? full * 0.26 : full },
          params.coordSys);
        return box && { type: "rect", shape: box, style: { fill: laneColour(timeline.lanes[api.value(3)], timeline.lanes) } };
      } }],
  }), "canvas");
  return node;
};
