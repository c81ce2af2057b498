#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the key figures of a finished run and where its files are.

usage: show_summary.py RUN_DIR
"""

import json
import pathlib
import sys

FILES = {
    "summary.json": "every figure, with the full configuration",
    "flows.csv": "one line per flow: start, finish, completion time",
    "collectives.csv": "one line per collective operation",
    "ports.csv": "one line per egress port: load, largest queue, marks, pauses",
    "trace.json": "timeline; open it at https://ui.perfetto.dev or chrome://tracing",
}


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    run = pathlib.Path(sys.argv[1])
    try:
        s = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"error: {run / 'summary.json'}: {error}", file=sys.stderr)
        return 2
    fct = s["fct_s"]
    print(f"{s['scenario']} ({s['mode']} mode)")
    print(f"  iteration time         {s['jct_s'] * 1e3:,.3f} ms simulated")
    print(f"  flows                  {s['flows_completed']:,} of {s['flows']:,} completed,"
          f" {s['bytes'] / 1e9:,.2f} GB")
    print(f"  flow completion time   mean {fct['mean'] * 1e3:.3f} ms, p50 {fct['p50'] * 1e3:.3f} ms,"
          f" p99 {fct['p99'] * 1e3:.3f} ms, max {fct['max'] * 1e3:.3f} ms")
    print(f"  drops, pauses, marks   {s['drops']:,}, {s['pfc_pauses']:,}, {s['ecn_marks']:,}")
    print(f"  packet-hops            {s['packet_hops']:,} in {s['user_s']:.1f} s of CPU time:"
          f" {s['packet_hops_per_s'] / 1e6:.1f} million per second")
    print(f"  peak memory            {s['peak_rss_bytes'] / 2**20:,.0f} MiB")
    print("files:")
    for name, what in FILES.items():
        if (run / name).is_file():
            print(f"  {run / name}: {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
