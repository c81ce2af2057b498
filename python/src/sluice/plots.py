# SPDX-License-Identifier: Apache-2.0
"""Pictures of a run by matplotlib. Each returns its axes; a notebook shows them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sluice import arguments

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sluice.runs import Run

_MOST_ROWS = 32


class RunPlots:
    """`run.plot`: what a picture is of is read from the run's files."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def timeline(self, rows: int = _MOST_ROWS, ax: Axes | None = None) -> Axes:
        """What hosts do over time, from trace.json: computation and, in a strip below it, communication by kind. At most
        `rows` hosts, at equal distances. A message counts from the time at which it was posted."""
        rows = arguments.whole("rows", rows)
        events = self._run.trace()
        names = {event["pid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "process_name"}
        hosts = sorted((pid for pid, name in names.items() if name.startswith("host ")),
                       key=lambda pid: int(names[pid].split()[1].rstrip(":")))
        shown = hosts[::max(1, -(-len(hosts) // rows))]
        spans: dict[str, dict[int, list[tuple[float, float]]]] = {}
        for event in events:
            if event["ph"] == "X" and event["pid"] in names:
                by_host = spans.setdefault(event["cat"], {})
                by_host.setdefault(event["pid"], []).append((event["ts"] / 1e3, event["dur"] / 1e3))
        at = {pid: row for row, pid in enumerate(shown)}
        kinds = [kind for kind in sorted(spans, key=lambda kind: (kind != "compute", kind)) if at.keys() & spans[kind]]
        if set(kinds) - {"compute", "flows"}:
            # The messages of which the others are made.
            kinds = [kind for kind in kinds if kind != "flows"]
        ax = ax or _axes(height=1.5 + 0.22 * max(4, len(shown)))
        for number, kind in enumerate(kinds):
            top, height = (-0.4, 0.5) if kind == "compute" else (0.12, 0.28)
            for pid in at.keys() & spans[kind].keys():
                ax.broken_barh(spans[kind][pid], (at[pid] + top, height), color=f"C{number}")
            ax.plot([], [], color=f"C{number}", linewidth=6, label=kind)
        ax.set_yticks(range(len(shown)), [names[pid] for pid in shown], fontsize="small")
        ax.invert_yaxis()
        ax.set_xlabel("simulated time (ms)")
        ax.set_title(f"{self._run.summary['scenario']}: {len(shown)} of {len(hosts)} hosts")
        if kinds:
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return ax

    def links(self, top: int = _MOST_ROWS, ax: Axes | None = None) -> Axes:
        """The `top` busiest links, from ports.csv: how busy each was, coloured by its largest queue."""
        from matplotlib import colormaps

        top = arguments.whole("top", top)
        ports = self._run.ports().sort("utilization", "port", descending=[True, False]).head(top)
        queues = [queue or 0 for queue in ports["max_queue_bytes"]]
        most = max(queues, default=0)
        colours = colormaps["viridis_r"]
        ax = ax or _axes(height=1.5 + 0.22 * max(4, len(ports)))
        ax.barh(range(len(ports)), [100 * share for share in ports["utilization"]],
                color=[colours(queue / most if most else 0.0) for queue in queues])
        names = [f"{kind} {node}.{interface} to {peer}" for kind, node, interface, peer
                 in ports.select("kind", "node", "interface", "peer").iter_rows()]
        ax.set_yticks(range(len(ports)), names, fontsize="small")
        ax.invert_yaxis()
        ax.set_xlabel("busy (% of the line rate)")
        ax.set_title(f"{self._run.summary['scenario']}: the busiest links")
        if most:
            _colour_bar(ax, most)
        return ax


def _axes(height: float) -> Axes:
    from matplotlib import pyplot

    axes: Any = pyplot.subplots(figsize=(9, height), layout="constrained")[1]
    result: Axes = axes
    return result


def _colour_bar(ax: Axes, most: int) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    ax.get_figure(root=True).colorbar(  # type: ignore[union-attr]
        ScalarMappable(Normalize(0, most / 1e3), "viridis_r"), ax=ax, label="largest queue (KB)")
