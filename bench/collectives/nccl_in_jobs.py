#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Iteration times of three jobs without NCCL's choice, with it inside servers, and with it between them, too: the
table of docs/measured.md.

usage: nccl_in_jobs.py [SLUICE]

All run in mode flow: examples/gpt13b-128gpu.toml on A100, Llama 3 405B on 8,192 H100 as bench/trainings has it, and
examples/deepseek-v3-skew.toml on H100 in place of H800, which has no table. Gradients are reduced after the last
backward."""
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSIDE = ["workload.interconnect=nvlink"]
BETWEEN = [f"workload.algorithms.{kind}=nccl" for kind in ("all_reduce", "reduce_scatter", "all_gather")]
VARIANTS = ([], INSIDE, INSIDE + BETWEEN)


def llama():
    loader = importlib.machinery.SourceFileLoader("trainings", str(ROOT / "bench/trainings"))
    trainings = importlib.util.module_from_spec(importlib.util.spec_from_loader("trainings", loader))
    sys.modules["trainings"] = trainings  # where dataclasses look for the module
    loader.exec_module(trainings)
    return next(training for training in trainings.TRAININGS if "8,192" in training.name).scenario()


def iteration(program, folder, text, sets):
    """Seconds."""
    (folder / "job.toml").write_text(text)
    options = [option for key in ["output.trace=false", "output.flows=false", *sets] for option in ("--set", key)]
    subprocess.run([program, "run", "job.toml", "--mode", "flow", "--quiet", "--out", "out", *options], cwd=folder,
                   check=True)
    return json.loads((folder / "out/summary.json").read_text())["jobs"][0]["jct_s"]


def main():
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/cli/sluice").resolve()
    examples = ROOT / "examples"
    jobs = {
        "GPT-3 13B, 128 A100": (examples / "gpt13b-128gpu.toml").read_text(),
        "Llama 3 405B, 8,192 H100": llama(),
        "DeepSeek-V3, 4 layers, 64 H100": (examples / "deepseek-v3-skew.toml").read_text().replace("H800", "H100"),
    }
    print("| job | without, s | inside servers | and between them |")
    print("| --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in jobs.items():
            times = [iteration(program, pathlib.Path(folder), text, sets) for sets in VARIANTS]
            changes = [f"{time:.4g} ({100 * (time / times[0] - 1):+.1f}%)" for time in times[1:]]
            print(f"| {name} | {times[0]:.4g} | " + " | ".join(changes) + " |", flush=True)


if __name__ == "__main__":
    main()
