# SPDX-License-Identifier: Apache-2.0
"""The cases of bench/identity: what both builds run."""
import os
import pathlib
import random
import typing

import random_scenarios

PROJECT = pathlib.Path(__file__).resolve().parents[1]
REFERENCE = pathlib.Path(os.environ.get("SLUICE_REFERENCE", PROJECT.parent / "shared" / "reference"))
LAWS = ["hpcc", "dcqcn", "timely", "dctcp", "none"]
MODES = [["--mode", "packet"], ["--mode", "hybrid"], ["--mode", "hybrid", "--no-skip"],
         ["--mode", "flow"]]
# The default mode, without what earlier runs have left in the user's cache.
DEFAULT = ["--mode", "wormhole", "--no-memo"]
VARIANTS = [[], ["--set", "network.pfc=false"], ["--set", "network.load_balance=spray"], *MODES[1:]]
SHORT = ["permutation-fattree", "incast", "link-failure"]
JOBS = [PROJECT / "examples" / f"{name}.toml" for name in ("gpt13b-128gpu", "moe8x13b-128gpu")]

# Where a run of 1 ms would last too long, or says nothing yet.
STOP = {"fat-tree-54000": "5us", "tp-16384": "40us", "pp-16384": "200us", "dp-16384-leaf": "50us",
        "ring-allreduce-1024gpu": "100us", "rail-1024": "200us", "tp-1024": "400us",
        "dp-256": "4ms", "dp-256-leaf": "4ms", "dp-64": "10ms", "dp-64-leaf": "10ms",
        "failure-permutation": "9ms", "failure-ring": "12ms", "incast-16": "8ms", "pp-64": "5ms",
        "tp-64": "4ms", "pp-256": "4ms", "collectives-64gpu": "10ms"}
# Jobs that compute for longer than that: their communication, with little computation in between.
HURRY = ["workload.forward_time=10us", "workload.backward_time=20us", "workload.micro_batches=2",
         "workload.sequence=64"]


class Case(typing.NamedTuple):
    group: str
    name: str
    steps: tuple  # the arguments of the program, once per step, in one folder
    files: dict = {}  # written there first
    environment: typing.Optional[dict] = None
    timeout: int = 300


def sets(keys):
    return [word for key in keys for word in ("--set", key)]


def run_case(group, path, more, files=None):
    name = " ".join([pathlib.Path(path).stem, *more])
    return Case(group, f"{group}: {name}", (("run", str(path), *more, "--out", "out", "--quiet"),),
                files or {})


def memo_case(group, path, more, files=None):
    """Twice with one memo: the first run finds it empty, the second as the first has left it."""
    name = " ".join([pathlib.Path(path).stem, *more])
    steps = tuple(("run", str(path), "--mode", "wormhole", "--memo", "memo.sqlite", *more, "--out", out, "--quiet")
                  for out in ("cold", "warm"))
    return Case(group, f"{group}: {name} with a memo", steps, files or {})


def under_every_law(scenarios):
    paths = [pathlib.Path(scenario).resolve() for scenario in scenarios]
    return [run_case("laws", path, [*sets([f"congestion.law={law}"]), *variant])
            for path in paths for law in LAWS for variant in VARIANTS]


def cut_scenarios():
    """Every example and bench, its start only."""
    cases = []
    for folder in ("examples", "bench/scenarios", "bench/hybrid/scenarios"):
        for path in sorted((PROJECT / folder).glob("*.toml")):
            is_training = 'type = "training"' in path.read_text()
            keys = [f"stop={STOP.get(path.stem, '1ms')}", *(HURRY if is_training else [])]
            cases += [run_case(folder, path, [*mode, *sets(keys)]) for mode in [*MODES, DEFAULT]]
            if is_training:
                cases.append(run_case(folder, path, MODES[3]))
    return cases


def random_cases(count, seed):
    cases = []
    for number in range(count):
        files = random_scenarios.make(random.Random(f"{seed}/{number}"), number)
        name = next(iter(files))
        cases += [run_case("random", name, mode, files) for mode in [*MODES, DEFAULT]]
        cases.append(memo_case("random", name, [], files))
    return cases


def default_mode_cases():
    """Mode wormhole as it may be asked for: shares of the audit, threads, a memo, episodes."""
    options = [["--audit", "0%"], ["--audit", "10%"], ["--audit", "100%"],
               *(["--threads", count] for count in ("1", "2", "8")), ["--set", "phases.episodes=true"]]
    cases = []
    for path in (*JOBS, *(PROJECT / "examples" / f"{name}.toml" for name in SHORT)):
        keys = sets(HURRY if path in JOBS else [])
        cases += [run_case("default mode", path, [*DEFAULT, *keys, *more]) for more in options]
        cases.append(memo_case("default mode", path, keys))
        cases.append(memo_case("default mode", path, [*keys, "--set", "phases.episodes=true"]))
    return cases


# --- many runs --------------------------------------------------------------------------------------

# Numbers of rows are given as experiments come to their ends: one at a time.
def batch_cases():
    batch = PROJECT / "examples/batches/incast-laws.toml"
    return [command(f"batch {' '.join(more)}", ("batch", batch, "--threads", 1, "--out", "out", "--quiet", *more))
            for more in (["--mode", "packet"], ["--mode", "wormhole", "--check", "5"], ["--mode", "flow"],
                         ["--mode", "packet", "--device", "blocks"],
                         ["--mode", "packet", "--device", "blocks", "--gang", "2"], ["--mode", "packet", "--folders"])]


def evaluation_cases():
    cases = []
    for name in ("dumbbell", "laws-dumbbell", "tails-dumbbell"):
        path = PROJECT / "examples/evaluations" / f"{name}.toml"
        cases.append(command(f"evaluate {name}", ("evaluate", path, "--max-trials", 8, "--threads", 2, "--out", "out",
                                                  "--quiet")))
    cases.append(command("run --replicas", ("run", PROJECT / "examples/incast.toml", "--replicas", 4, "--threads", 2,
                                            "--out", "out", "--quiet")))
    return cases


# --- other tools' files -----------------------------------------------------------------------------

def command(name, *steps, files=None, environment=None):
    changed = {**os.environ, **environment} if environment else None
    return Case("commands", f"commands: {name}", tuple(tuple(map(str, step)) for step in steps),
                files or {}, changed)


def goal_cases():
    ring = PROJECT / "tests/data/ring4.goal"
    star = {"net.toml": 'name = "net"\n[topology]\ntype = "star"\nhosts = 32\n'}
    cases = [command("goal convert", ("goal", ring, "--to-binary", "a.bin"),
                     ("goal", "a.bin", "--to-text", "a.goal"), ("goal", "a.bin", "--check"))]
    for file in [ring, *sorted((REFERENCE / "samples/goal").glob("*.*"))]:
        cases.append(command(f"goal {file.name}", ("goal", file)))
        cases.append(command(f"goal {file.name} eager", ("goal", file, "-S", 10**8, "-O", 1)))
        cases += [command(f"goal {file.name} {' '.join(mode[1:])}",
                          ("goal", file, "--topology", "net.toml", mode[0], mode[1], "--out", "out",
                           "--quiet"), files=star) for mode in (MODES[0], MODES[1], MODES[3])]
    return cases


def hpcc_cases():
    """ns-3's experiments, with both orders of events, from the tests and the reference."""
    configs = sorted((PROJECT / "tests/data/ns3").glob("*/*/config.txt"))
    configs += [path for path in sorted((REFERENCE / "ns3").glob("*/*/config.txt"))
                if path.parts[-3] in ("a_dumbbell", "b_incast16", "h_single_idle")]
    return [command(f"hpcc {'/'.join(path.parts[-3:-1])}",
                    ("run", "--hpcc", path, "--out", "out", "--quiet")) for path in configs]


def simai_cases():
    answers = REFERENCE / "simai-answers"
    cases = []
    for topology in ("Spectrum-X_8g_8gps_400Gbps_H100", "Spectrum-X_32g_8gps_400Gbps_H100"):
        for workload in sorted((answers / "workload").glob("*.txt")):
            if ("8" in workload.stem) != ("_8g" in topology):
                continue
            common = ("simai", "-w", workload, "-n", answers / "topo" / topology, "-c",
                      answers / "SimAI.conf", "--out", "out", "--quiet")
            cases.append(command(f"simai {workload.stem} {topology}", (*common, "--mode", "flow")))
            cases.append(command(f"simai {workload.stem} {topology} nvls", (*common, "--mode", "flow"),
                                 environment={"AS_SEND_LAT": "12", "AS_NVLS_ENABLE": "1"}))
    if answers.is_dir():
        small = ("simai", "-w", answers / "workload/microAllReduce.txt", "-n",
                 answers / "topo/Spectrum-X_8g_8gps_400Gbps_H100", "-c", answers / "SimAI.conf",
                 "--out", "out", "--quiet")
        cases += [command(f"simai packets {mode}", (*small, "--mode", mode))
                  for mode in ("packet", "hybrid")]
    samples = REFERENCE / "samples/aicb"
    for file in sorted((*samples.glob("*_A100.txt"), *samples.glob("generated/*.txt"))):
        cases.append(command(f"simai analytical {file.name}",
                             ("simai", "--analytical", "-w", file, "-g_type", "H100", "-nic_t", "cx7",
                              "-g", "16", "-r", "r")))
    for model, degrees in (("gpt-7b", ["--tp", 4]), ("gpt-13b", ["--tp", 4, "--pp", 2]),
                           ("mixtral-8x7b", ["--tp", 2, "--ep", 4])):
        cases.append(command(f"aicb {model}",
                             ("workload", "aicb", "--model", model, "--world", 16, *degrees,
                              "--global-batch", 16, "--micro-batch", 1)))
    return cases


def astra_cases():
    files = {"system.json": '{"scheduling-policy": "LIFO", "endpoint-delay": 10, '
                            '"active-chunks-per-dimension": 1, "preferred-dataset-splits": 4, '
                            '"all-reduce-implementation": ["ring"], '
                            '"all-gather-implementation": ["direct"], '
                            '"reduce-scatter-implementation": ["ring"], '
                            '"all-to-all-implementation": ["direct"], "local-mem-bw": 50}',
             "ring8.yml": "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\n"
                          "latency: [ 500.0 ]\n",
             "config.txt": "TOPOLOGY_FILE star.txt\nCC_MODE 1\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\n",
             "logical.json": '{"logical-dims": ["8"]}',
             "chakra.toml": '[topology]\ntype = "star"\nhosts = 8\n[workload]\ntype = "chakra"\n'
                            'traces = "ar"\nsystem = "system.json"\n'}
    common = ("--workload-configuration=ar", "--system-configuration=system.json")
    cases = []
    for collective in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
        make = ("chakra", "generate", "--collective", collective, "--ranks", "8", "-o", "ar")
        star = ("topo", "star", "--hosts", "8", "--rate", "400Gbps", "-o", "star.txt")
        for backend in ("congestion-aware", "congestion-unaware"):
            cases.append(command(f"astra {collective} {backend}", make,
                                 ("astra", *common, "--network-configuration=ring8.yml",
                                  f"--network-backend={backend}"), files=files))
        for mode in ("packet", "hybrid", "flow"):
            cases.append(command(f"astra {collective} {mode}", make, star,
                                 ("astra", *common, "--network-configuration=config.txt", "--mode",
                                  mode, "--logical-topology-configuration=logical.json"),
                                 files=files))
            cases.append(command(f"chakra {collective} {mode}", make,
                                 ("run", "chakra.toml", "--mode", mode, "--out", "out", "--quiet"),
                                 ("chakra", "export", "chakra.toml", "-o", "again"), files=files))
    for traces in sorted((REFERENCE / "samples/astra-sim/et").glob("*/8npus_*")):
        sample = REFERENCE / "samples/astra-sim"
        cases.append(command(f"astra sample {traces.parent.name}",
                             ("astra", f"--workload-configuration={traces}",
                              f"--system-configuration={sample}/system/Ring_4chunks.json",
                              f"--network-configuration={sample}/network/Ring_8npus.yml")))
    return cases


def collective_cases():
    path = PROJECT / "examples/collectives-64gpu.toml"
    table = ("-b", "256K", "-e", "1M", "-f", "4", "--csv", "t.csv", "--json", "t.json")
    choices = [("all-reduce", "ring"), ("all-reduce", "tree"), ("all-reduce", "hierarchical"),
               ("all-reduce", "automatic"), ("all-gather", "ring"), ("all-to-all", "pxn"),
               ("all-to-all", "direct"), ("broadcast", "automatic"), ("reduce", "automatic"),
               ("reduce-scatter", "halving-doubling")]
    cases = []
    for kind, algorithm in choices:
        for mode in ("packet", "hybrid", "flow"):
            cases.append(command(f"collective {kind} {algorithm} {mode}",
                                 ("collective", path, "--kind", kind, "--algorithm", algorithm,
                                  "--mode", mode, "--set", "topology.gpus=16", *table)))
    return cases


def other_cases():
    examples = [PROJECT / "examples" / f"{name}.toml" for name in
                ("gpt13b-128gpu", "moe8x13b-128gpu", "collectives-64gpu", "link-failure")]
    cases = [command(f"describe {path.stem}", ("describe", path)) for path in examples]
    cases.append(command("describe files", ("describe", examples[3], "--flows", "flow.txt",
                                            "--topology", "topology.txt")))
    cases.append(command("compare", ("compare", PROJECT / "examples/incast.toml", "--out", "out",
                                     "--quiet")))
    topologies = ["dumbbell", "star", "leaf-spine", "fat-tree", "rail-optimized", "three-tier",
                  "full-mesh", "torus", "dragonfly", "bcube", "dcn-plus", "simai"]
    cases += [command(f"topo {name}", ("topo", name, "-o", "t.txt"),
                      ("topo", "--file", "t.txt", "--check")) for name in topologies]
    return cases


def all_cases(count, seed):
    short = [PROJECT / "examples" / f"{name}.toml" for name in SHORT]
    return [*under_every_law(short), *goal_cases(), *hpcc_cases(), *astra_cases(), *simai_cases(),
            *collective_cases(), *other_cases(), *default_mode_cases(), *batch_cases(), *evaluation_cases(),
            *random_cases(count, seed), *cut_scenarios()]
