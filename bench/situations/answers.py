# SPDX-License-Identifier: Apache-2.0
"""What other simulators answer, and what was measured on hardware. The inputs and answers are not part of this repository."""
import csv

from lab import near, percent, situation

FORMS = {"a_dumbbell": "two flows of 100 MB, the second 1 ms later", "b_incast16": "incast of 16 x 4 MB",
         "d_a2a16": "all-to-all of 16", "e_fat4_web30": "WebSearch at 30% on a fat-tree",
         "h_single_idle": "lone flows of 1 B to 100 MB"}


def read_fct(path):
    with open(path) as file:
        return {tuple(line.split()[:6]): int(line.split()[6]) for line in file if line.strip()}


def ns3(scenario, law):
    @situation("HPCC ns-3 at 9f4be2a", f"{FORMS[scenario]}, {law.upper()}", "every completion time, to the nanosecond", reference=True)
    def check(lab):
        folder = lab.reference / "ns3" / scenario
        paths = ["--paths", folder / "flow_paths.csv"] if (folder / "flow_paths.csv").exists() else []
        lab.output("run", "--hpcc", folder / law / "config.txt", "--out", "out", "--quiet", *paths)
        ours, theirs = read_fct(lab.folder / "out/fct.txt"), read_fct(folder / law / "fct.txt")
        equal = sum(ours.get(key) == value for key, value in theirs.items())
        return f"{equal} of {len(theirs)} equal", equal == len(theirs) == len(ours)
    check.__name__ = f"ns3_{scenario}_{law}"


for one in FORMS:
    for law in ("hpcc", "dctcp", "timely"):
        ns3(one, law)

SIMAI = ["sweep8", "doc_ring32", "doc_nvls32", "nvls8", "ar_tp32", "a2a_tp32", "dp32_sx", "dp32_hpn", "ag8",
         "aicb32_tp4", "pxn_tp32", "tp16"]


def total(path):
    with open(path, newline="") as file:
        return next(float(row[5]) for row in csv.reader(file) if row[0] == "total exposed comm")


def simai(name):
    @situation("SimAI at b5ff47c9", f"its case {name}", "the end, within 0.3%", reference=True)
    def check(lab):
        folder = lab.reference / "simai-answers"
        with open(folder / "cases.csv", newline="") as file:
            case = next(row for row in csv.DictReader(file) if row["case"] == name)
        environment = dict(pair.split("=", 1) for pair in case["environment"].split())
        lab.output("simai", "-w", folder / "workload" / case["workload"], "-n", folder / "topo" / case["topology"], "-c",
                   folder / "SimAI.conf", "--out", "out", "--quiet", environment=environment)
        ours, theirs = total(lab.folder / "out/ncclFlowModel_EndToEnd.csv"), total(folder / "answers" / f"{name}.csv")
        return f"{ours:.1f} us, SimAI's {theirs:.1f}: {percent(ours, theirs)}", near(ours, theirs, 0.3)
    check.__name__ = "simai_" + name


for case in SIMAI:
    simai(case)


@situation("ASTRA-sim, tests/rt_template", "its regression test: all-reduce of 1 MiB on a ring of 8", "117,780 ns on every rank",
           reference=True)
def astra(lab):
    lab.write("system.json", '{"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1, '
              '"preferred-dataset-splits": 4, "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"], '
              '"reduce-scatter-implementation": ["ring"], "all-to-all-implementation": ["ring"], '
              '"collective-optimization": "localBWAware", "local-mem-bw": 50, "boost-mode": 0}')
    lab.write("network.yml", "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n")
    text = lab.output("astra", "--workload-configuration", lab.reference / "samples/astra-sim/et/all_reduce/8npus_1MB/all_reduce",
                      "--system-configuration", "system.json", "--network-configuration", "network.yml")
    ends = [line.split("finished, ")[1].split(" cycles")[0] for line in text.split("\n") if "finished, " in line]
    return f"{', '.join(sorted(set(ends)))} on {len(ends)} ranks", ends == ["117780"] * 8


def loggops(schedule, nanoseconds):
    @situation("LogGOPSim", f"its schedule {schedule}", f"{nanoseconds:,} ns", reference=True)
    def check(lab):
        end = lab.output("goal", lab.reference / "samples/goal" / schedule).strip().split("\n")[-1]
        got = int(end.split(": ")[1].split()[0])
        return f"{got:,} ns", got == nanoseconds
    check.__name__ = "loggops_" + schedule.split(".")[0]


loggops("mini4.goal", 6_319_432)
loggops("binary_tree_32.goal", 41_500)


def nccl(system, gpu):
    """One row in the middle of the table; docs/measured.md has all of them."""
    @situation("NVIDIA aiconfigurator at 095f58a5", f"NCCL's all-reduce of 64 MB on 8 {gpu}", "the measured time, within 10%", reference=True)
    def check(lab):
        with open(lab.reference / "silicon/nccl.csv", newline="") as file:
            measured = next(float(row["us_median"]) for row in csv.DictReader(file) if row["system"] == system and
                            row["op"] == "all_reduce" and row["gpus"] == "8" and row["bytes"] == str(1 << 26))
        took = lab.collective('name = "s"\n[topology]\ntype = "rail-optimized"\ngpus = 8\n[workload]\ntype = "collective"\n',
                              "--gpu", gpu, "--mode", "flow", "-b", "64M", "-e", "64M")[1 << 26][0]
        return f"{took:.0f} us, measured {measured:.0f}: {percent(took, measured)}", near(took, measured, 10)
    check.__name__ = "nccl_" + gpu


for one, other in (("a100_sxm", "A100"), ("h100_sxm", "H100"), ("b200_sxm", "B200"), ("l40s", "L40S")):
    nccl(one, other)
