# SPDX-License-Identifier: Apache-2.0
"""Sluice from Python: runs, studies and networks in process.

    import sluice
    run = sluice.run("examples/gpt13b-128gpu.toml", {"congestion.law": "dcqcn"})
    run.summary["jct_s"]
    run.flows()                       # a polars frame
    run.plot.timeline()               # a matplotlib figure

    study = sluice.Study("examples/incast.toml", axes={"workload.senders": [4, 8, 16], "seed": range(10)})
    study.run()
    study.best("fct_p99_s")

Everything is done by the program `sluice`; this package writes its input, starts it and reads its output."""
from sluice.error import Error
from sluice.halving import Halving, successive_halving
from sluice.network import Completion, Network, Transfer
from sluice.network import open_network as open
from sluice.network import open_text
from sluice.executable import program, version
from sluice.runs import Run, run
from sluice.sampling import latin_hypercube, sobol
from sluice.study import Study
from sluice.tuning import tune

__all__ = [
    "Completion", "Error", "Halving", "Network", "Run", "Study", "Transfer", "latin_hypercube", "open", "open_text",
    "program", "run", "sobol", "successive_halving", "tune", "version",
]
