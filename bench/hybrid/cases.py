# SPDX-License-Identifier: Apache-2.0
"""What the study of hybrid mode runs, and the bars it is held to."""

import dataclasses
import pathlib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
# DCQCN and TIMELY up to 128 hosts.
LAWS = ("hpcc", "dctcp", "dcqcn", "timely")
LAWS_LARGE = ("hpcc", "dctcp")


@dataclasses.dataclass(frozen=True)
class Bars:
    """Most error and least speed-up; None: not judged. Fractions."""

    mean: float | None = 0.01
    p99: float | None = 0.03
    jct: float | None = 0.005
    speedup: dict = dataclasses.field(default_factory=dict)  # by law; "": any
    slowdown: float | None = None  # most hybrid / packet wall time


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    path: pathlib.Path
    laws: tuple = LAWS
    bars: Bars = Bars()
    packet: bool = True  # False: too large for packet mode


def ours(name, **settings):
    return Scenario(name, HERE / "scenarios" / f"{name}.toml", **settings)


def example(name, **settings):
    return Scenario(name, PROJECT / "examples" / f"{name}gpu.toml", **settings)


SINGLE = Bars(speedup={"": 15})
# From small to large, so that something is there early.
SCENARIOS = [
    ours("incast-16"),
    ours("incast-64"),
    ours("failure-ring"),
    ours("failure-permutation"),
    ours("websearch-320", laws=LAWS_LARGE, bars=Bars(p99=None, jct=None, slowdown=1.1)),
    example("moe8x13b-128"),
    example("gpt13b-128", bars=Bars(speedup={"hpcc": 50})),
    ours("tp-64", bars=SINGLE),
    ours("pp-64", bars=SINGLE),
    ours("pp-64-crowded", bars=SINGLE),
    ours("dp-64-leaf", bars=SINGLE),
    ours("dp-64", bars=SINGLE),
    ours("pp-256", laws=LAWS_LARGE, bars=SINGLE),
    ours("tp-256", laws=LAWS_LARGE, bars=SINGLE),
    ours("dp-256-leaf", laws=LAWS_LARGE, bars=SINGLE),
    ours("dp-256", laws=LAWS_LARGE, bars=SINGLE),
    ours("pp-1024", laws=LAWS_LARGE, bars=SINGLE),
    ours("tp-1024", laws=LAWS_LARGE, bars=SINGLE),
    ours("dp-1024-leaf", laws=LAWS_LARGE, bars=SINGLE),
    ours("dp-1024", laws=LAWS_LARGE, bars=SINGLE),
    ours("pp-16384", laws=("hpcc",), packet=False),
    ours("tp-16384", laws=("hpcc",), packet=False),
    ours("dp-16384-leaf", laws=("hpcc",), packet=False),
]

# Hybrid mode with another setting, beside the default.
VARIANTS = {
    "maxmin": ["phases.rates=maxmin"],
    "empty": ["phases.restore=empty"],
    "network": ["phases.scope=network"],
    "hygra": ["phases.detector=hygra"],
    "inflight": ["phases.detector=inflight"],
    "queue": ["phases.detector=queue"],
}
# maxmin runs everywhere; the others where they can tell something and cost little.
VARIED = ("incast-16", "failure-ring", "failure-permutation", "moe8x13b-128", "gpt13b-128",
          "tp-64", "pp-64", "dp-64")


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of the program; `name` is its folder."""

    scenario: Scenario
    law: str
    name: str
    mode: str
    sets: tuple = ()


def runs_of(scenario, law):
    """The runs of a case, by name."""
    runs = []
    if scenario.packet:
        runs.append(Run(scenario, law, "packet", "packet"))
    runs.append(Run(scenario, law, "hybrid", "hybrid"))
    runs.append(Run(scenario, law, "flow", "flow"))
    if not scenario.packet:
        return runs
    runs.append(Run(scenario, law, "floor", "packet"))
    for name, sets in VARIANTS.items():
        if name == "maxmin" or (scenario.name in VARIED and law in LAWS_LARGE):
            runs.append(Run(scenario, law, name, "hybrid", tuple(sets)))
    return runs


def all_runs():
    """In the order in which they are worth having."""
    base, floor, variants = ("packet", "hybrid", "flow"), ("floor",), tuple(VARIANTS)
    hpcc, dctcp, others = LAWS[:1], LAWS[1:2], LAWS[2:]
    for laws, stage in ((hpcc, base), (hpcc, floor), (dctcp, base), (hpcc, variants),
                        (dctcp, floor), (others, base), (others, floor), (dctcp, variants),
                        (others, variants)):
        for scenario in SCENARIOS:
            for law in scenario.laws:
                if law in laws:
                    yield from (r for r in runs_of(scenario, law) if r.name in stage)
