# SPDX-License-Identifier: Apache-2.0
"""`sluice simai`, `sluice workload aicb` and scenarios of type "aicb"."""
import csv
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support import CliTest  # noqa: E402

REFERENCE = pathlib.Path(os.environ.get("SLUICE_REFERENCE", "")) / "samples"
HAVE_REFERENCE = bool(os.environ.get("SLUICE_REFERENCE")) and REFERENCE.is_dir()

COLUMNS = (
    "layer_name,test1,fwd compute,wg compute,ig compute,fwd exposed comm,wg exposed comm,"
    "ig exposed comm,fwd total comm,algbw,busbw,wg total comm,algbw,busbw,ig total comm,algbw,"
    "busbw,workload finished at"
)

CONF = """\
ENABLE_QCN 1
PACKET_PAYLOAD_SIZE 9000
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
RP_TIMER 900
EWMA_GAIN 0.00390625
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
L2_ACK_INTERVAL 1
HAS_WIN 1
GLOBAL_T 0
SIMULATOR_STOP_TIME 40000000000000.00
KMAX_MAP 1 400000000000 3200
KMIN_MAP 1 400000000000 800
PMAX_MAP 1 400000000000 0.2
BUFFER_SIZE 32
"""


def header(**keys):
    degrees = {"tp": 4, "ep": 1, "pp": 1, "ga": 1, "gpus": 8, "pp_comm": 0}
    degrees.update(keys)
    return (
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tp} ep: {ep} pp: {pp} vpp: 1 "
        "ga: {ga} all_gpus: {gpus} checkpoints: 0 checkpoint_initiates: 0 pp_comm: {pp_comm}\n"
    ).format(**degrees)


def workload(layers, **keys):
    return header(**keys) + f"{len(layers)}\n" + "".join(line + "\n" for line in layers)


GRADIENTS = "grad_param_comm -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 4000000 100"
LAYER = "mlp_layer -1 5000 ALLREDUCE 1000000 5000 ALLREDUCE 1000000 5000 NONE 0 100"
SMALL = workload([GRADIENTS, LAYER, LAYER])


class SimaiTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("conf", CONF)
        self.topology(8)

    def topology(self, gpus, name="topo"):
        """Spectrum-X with servers of 4 GPUs."""
        self.succeed("topo", "spectrum-x", "--gpus", gpus, "--gpus_per_server", 4, "--psws", 2,
                     "-o", name)

    def simai(self, *more, text=SMALL, topo="topo"):
        self.write("w.txt", text)
        return ("simai", "-w", "w.txt", "-n", topo, "-c", "conf", "--out", "out", *more)

    def table(self, folder="out"):
        text = (self.folder / folder / "ncclFlowModel_EndToEnd.csv").read_text()
        return text.splitlines()

    def test_table_of_a_small_run(self):
        self.succeed(*self.simai("-t", "8"))
        lines = self.table()
        self.assertEqual(lines[0], COLUMNS)
        rows = list(csv.reader(lines[1:4]))
        self.assertEqual([row[0] for row in rows], ["grad_param_comm", "mlp_layer", "mlp_layer"])
        for row in rows:
            self.assertEqual(len(row), 18)
            [float(value) for value in row[2:]]
        # Two layers of 5 us forward, input and weight gradient, and gradients of 1 ns thrice.
        self.assertEqual(rows[1][2:5], ["5.000000"] * 3)
        self.assertTrue(lines[4].startswith("SUM,test1,10.001000,10.001000,10.001000,"))
        match = re.fullmatch(r"total exposed comm,(.*),total comp,30.003000,total time,(.*)",
                             lines[5])
        self.assertAlmostEqual(float(match[1]) + 30.003, float(match[2]), places=3)
        self.assertEqual(lines[6].split(", ")[0], "File name")
        self.assertEqual(len(lines[6].split(", ")), len(lines[7].split(", ")))
        self.assertEqual(len(lines), 8)
        for name in ("flows.csv", "collectives.csv", "summary.json"):
            self.assertTrue((self.folder / "out" / name).exists(), name)

    def test_modes_agree(self):
        times = {}
        for mode in ("packet", "hybrid", "flow"):
            self.succeed(*self.simai("--mode", mode, "--quiet"))
            times[mode] = float(self.table()[5].rsplit(",", 1)[1])
        for mode, time in times.items():
            self.assertAlmostEqual(time / times["packet"], 1, delta=0.15, msg=mode)

    def total(self, *more, text=SMALL, **environment):
        """Microseconds of a run in flow mode, with only these of SimAI's variables, and what it
        tells."""
        result = self.sluice(*self.simai("--mode", "flow", *more, text=text), env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return float(self.table()[-3].rsplit(",", 1)[1]), result.stderr

    def test_send_latency(self):
        # Four all-reduces of 6 steps in servers of 4, and a reduce-scatter of 1 step across: 25
        # steps. AS_SEND_LAT is microseconds up to SimAI 1.6, nanoseconds in 1.7.
        new = ("--simai-version", "1.7")
        base = self.total(AS_SEND_LAT="1")[0]
        self.assertAlmostEqual(self.total(AS_SEND_LAT="2")[0] - base, 25, delta=0.5)
        for same in ("2us", "2000ns"):
            self.assertEqual(self.total(AS_SEND_LAT=same)[0], self.total(AS_SEND_LAT="2")[0])
        self.assertEqual(self.total(*new, AS_SEND_LAT="2000")[0], self.total(AS_SEND_LAT="2")[0])
        # Not set: 6 ms, which is said; 1.7 has 11.8 us inside servers and 22.4 us across.
        unset, told = self.total()
        self.assertAlmostEqual(unset - base, 25 * 5999, delta=1)
        self.assertIn("AS_SEND_LAT is not set: every message waits 6 ms", told)
        self.assertAlmostEqual(self.total(*new)[0] - base, 24 * 10.8 + 21.4, delta=0.5)
        self.assertNotIn("AS_SEND_LAT", self.total(*new)[1])
        # Hardly meant so.
        for latency, version, doubt in (("2000", (), "2000 us before every message"),
                                        ("2", (), ""), ("2000ns", (), ""), ("2ms", (), ""),
                                        ("2", new, "AS_SEND_LAT=2 is 2 ns"), ("2us", new, "")):
            told = self.total(*version, AS_SEND_LAT=latency)[1]
            self.assertEqual(bool(doubt), "AS_SEND_LAT" in told, told)
            self.assertIn(doubt, told)
        self.refuse(*self.simai("--simai-version", "1.5"), says="allowed are 1.6, 1.7")

    def test_nvls(self):
        """Chosen as SimAI does: H100 or H800, tensor parallelism of 8 or more inside a server."""
        self.succeed("topo", "spectrum-x", "--gpus", 16, "--gpus_per_server", 8, "--psws", 2,
                     "-o", "topo")
        one = "m -1 1000 ALLREDUCE 14400000 0 NONE 0 0 NONE 0 0"
        ring = self.total(text=workload([one], tp=8, gpus=16), AS_SEND_LAT="2")[0]
        nvls, told = self.total(text=workload([one], tp=8, gpus=16), AS_SEND_LAT="2",
                                AS_NVLS_ENABLE="1")
        self.assertEqual(told, "")
        # S x 5 / 4 in packets of 9048 B for 9000, at 2880 Gb/s, and five times 2 us; ACKs and
        # delays on top.
        wire = 1.25 * 14.4e6 * 9048 / 9000 * 8 / 2880e9 * 1e6
        self.assertAlmostEqual(nvls, 1 + wire + 5 * 2, delta=0.03 * nvls)
        self.assertGreater(ring, nvls)
        with open(self.folder / "out" / "flows.csv", newline="") as file:
            sizes = [row["size_bytes"] for row in csv.DictReader(file)]
        self.assertEqual(sizes, ["3600000"] * (2 * 4 * 8 * 2))
        # Elsewhere rings, which is said; SimAI ends without a table where a group spans servers.
        for tp, reason in ((4, "at least 8; here are H100 and 4: rings"),
                           (16, "spans servers of 8: SimAI ends without a table there")):
            text = workload([one], tp=tp, gpus=16)
            time, told = self.total(text=text, AS_SEND_LAT="2", AS_NVLS_ENABLE="1")
            self.assertIn(reason, told)
            self.assertEqual(time, self.total(text=text, AS_SEND_LAT="2")[0])

    def test_nvswitches_mark_nothing_whatever_their_rate_is(self):
        """GPU 0's NVLink is as slow as its NIC, and slower than the others': what comes for it waits in the NVSwitch."""
        links = "".join(f"{gpu} {switch} {'25Gbps' if gpu == 0 else '100Gbps'} 0.0005ms 0\n"
                        for switch in (4, 5) for gpu in range(4))
        self.write("slow.topo", "6 4 1 1 8 A100\n4 5\n" + links)
        maps = {"KMAX_MAP": "40 100000000000 160", "KMIN_MAP": "10 100000000000 40", "PMAX_MAP": "0.2 100000000000 0.2"}
        conf = "\n".join(line for line in CONF.splitlines() if "_MAP" not in line)
        self.write("conf", conf + "".join(f"\n{key} 2 25000000000 {value}" for key, value in maps.items()) + "\n")
        layer = "mlp_layer -1 5000 ALLTOALL 64000000 5000 NONE 0 5000 NONE 0 100"
        for mode in ("packet", "hybrid"):
            with self.subTest(mode=mode):
                words = self.simai("--mode", mode, text=workload([layer], gpus=4), topo="slow.topo")
                self.assertIn(" 0 ECN marks", self.succeed(*words).stdout)

    def test_pxn(self):
        """Rings of all-reduce and reduce-scatter cross servers on a rail; all-to-alls do not."""
        def off_rail(kind, pxn):
            text = workload([f"m -1 1 {kind} 8000000 0 NONE 0 0 NONE 0 0"], tp=8)
            self.total(text=text, AS_SEND_LAT="1", AS_PXN_ENABLE=pxn)
            with open(self.folder / "out" / "flows.csv", newline="") as file:
                pairs = [(int(row["src"]), int(row["dst"])) for row in csv.DictReader(file)]
            across = [(a, b) for a, b in pairs if a // 4 != b // 4]
            return len(across), sum(a % 4 != b % 4 for a, b in across)

        # 8 GPUs in servers of 4: 4 channels, 14 or 7 steps, 2 crossings each.
        for kind, steps in (("ALLREDUCE", 14), ("REDUCESCATTER", 7)):
            self.assertEqual(off_rail(kind, "0"), (4 * steps * 2, 4 * steps * 2))
            self.assertEqual(off_rail(kind, "1"), (4 * steps * 2, 0))
        # SimAI's all-gather never sees the variable.
        self.assertEqual(off_rail("ALLGATHER", "1"), (4 * 7 * 2, 4 * 7 * 2))
        self.assertEqual(off_rail("ALLTOALL", "1"), (2 * 16, 2 * 12))

    def test_all_gpus_of_the_topology_take_part(self):
        for gpus in (4, 16):
            text = workload([GRADIENTS], gpus=gpus)
            told = self.total(text=text, AS_SEND_LAT="1")[1]
            self.assertIn(f"all_gpus is {gpus}; all 8 GPUs of the topology take part", told)
            with open(self.folder / "out" / "flows.csv", newline="") as file:
                self.assertEqual(len(list(csv.DictReader(file))), 8)

    def test_pipeline_is_a_formula(self):
        """As in SimAI: no traffic, stages are replicas, and a bubble that is no part of the time."""
        layers = ["embedding_layer -1 1000 NONE 0 1000 NONE 0 1000 NONE 0 100", LAYER]
        text = workload(layers, tp=2, pp=2, ga=4, pp_comm="2000000.0")
        time, told = self.total(text=text, AS_SEND_LAT="1")
        self.assertIn("pp is 2: as SimAI has it a bubble by formula and no traffic", told)
        self.assertEqual(time, self.total(text=workload(layers, tp=2, ga=4), AS_SEND_LAT="1")[0])
        self.total(text=text, AS_SEND_LAT="1")
        row = next(csv.reader(self.table()[2:3]))
        values = self.table()[-1].split(", ")
        stage = sum(float(row[column]) for column in (2, 3, 4, 5, 7))
        self.assertAlmostEqual(float(values[6].split(" ")[0]), stage / 4, delta=0.51)
        self.assertEqual(float(values[9]), round(time))

    def test_pipeline_is_traffic(self):
        block = ["embedding_layer -1 1000 NONE 0 1000 NONE 0 1000 NONE 0 100", LAYER]
        text = workload([GRADIENTS] + block * 4, pp=2, ga=4, pp_comm="2000000.0")
        result = self.sluice(*self.simai("--mode", "flow", "--pipeline", "traffic", text=text),
                             env={"AS_SEND_LAT": "1"})
        self.assertIn("PP", result.stdout)
        values = self.table()[-1].split(", ")
        pp, bubble = (float(value.split(" ")[0]) for value in values[5:7])
        self.assertGreater(pp, 0)
        self.assertGreater(bubble, 0)
        with open(self.folder / "out" / "flows.csv", newline="") as file:
            boundary = [row for row in csv.DictReader(file) if row["label"] == "pp"]
        # 4 micro-batches, forward and back, from each of 4 ranks.
        self.assertEqual(len(boundary), 4 * 2 * 4)
        self.assertEqual({row["size_bytes"] for row in boundary}, {"2000000"})
        check = self.succeed(*self.simai("--check", "--pipeline", "traffic", text=text)).stdout
        self.assertIn("4 micro-batches of 2 layers each, from layer 1 on", check)
        self.assertIn("in the order of 1f1b", check)

    def test_check_lists_what_does_not_fit(self):
        bad = SMALL.replace("ALLREDUCE 1000000", "ALLREDUCE_XY 1000000", 1)
        result = self.sluice(*self.simai("--check", text=bad))
        self.assertEqual(result.returncode, 0)  # as a run, which tells it, too
        self.assertIn("w.txt:4: doubtful", result.stdout)
        self.assertIn("conf: skipped", result.stdout)
        result = self.sluice("simai", "-w", "no", "-n", "nope", "-c", "conf", "--check")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no: does not fit: no such file", result.stdout.splitlines())
        self.assertIn("nope: does not fit: no such file", result.stdout.splitlines())
        # Whether the whole file is refused or one line of it: file:line comes first.
        for more in ((), ("--analytical", "-nv", "360")):
            result = self.sluice(*self.simai("--check", *more, text="FOO\n1\n"))
            self.assertIn("w.txt:1: does not fit: unknown policy", result.stdout)
        self.assertEqual(self.succeed(*self.simai("--check")).returncode, 0)

    def test_lost_link_is_work_left(self):
        """LINK_DOWN counts from 2 s on, where HPCC's flows begin: rank 0 computes until then, loses
        its only cable 10 us into 12 ms of all-reduce, and nobody gets on."""
        self.write("topo", "5 2 0 1 4 NONE\n4\n" +
                   "".join(f"{host} 4 100Gbps 0.0005ms 0\n" for host in range(4)))
        self.write("conf", CONF + "LINK_DOWN 10 0 4\n")
        lost = "DATA\n1\nm -1 1 NONE 0 1 NONE 0 2000000000 ALLREDUCE 100000000 1\n"
        for mode in ("packet", "hybrid", "flow"):
            result = self.sluice(*self.simai("--mode", mode, text=lost))
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertRegex(result.stderr, r'the job "simai" stopped with \d+ of \d+')
            self.assertIn('rank 0 recv "m wg"', result.stderr)
            self.assertIn("waits for flow 0 (12500000 bytes, rank 1 to rank 0)", result.stderr)

    def test_mistakes(self):
        self.refuse("simai", says="-w FILE is missing")
        self.refuse("simai", "-w", "w.txt", says="-n FILE is missing")
        self.refuse("simai", "-w", "w.txt", "-n", "topo", says="-c FILE is missing")
        self.refuse("simai", "--what", says='unknown option "--what"')
        self.refuse("simai", "-w", says="-w needs a value")
        self.refuse(*self.simai("--mode", "fast"), says="fast")
        self.refuse("simai", "-w", "none.txt", "-n", "topo", "-c", "conf", says="none.txt")
        self.refuse("simai", "-w", "w.csv", "-n", "topo", "-c", "conf",
                    says='w.csv: is AICB\'s physical workload: a scenario runs it')
        self.refuse(*self.simai(text=SMALL.replace("\n3\n", "\n4\n")),
                    says="w.txt:5: the file ends after 3 of 4 layers")
        self.refuse(*self.simai(text=SMALL.replace("\n3\n", "\n2\n")),
                    says="w.txt:5: a layer beyond the 2")
        self.refuse(*self.simai("-g", "16"),
                    says="w.txt:1: the workload is of 16 GPUs, the topology has 8")
        self.refuse(*self.simai(text=workload([LAYER], tp=3)), says="does not divide the 8 GPUs")
        self.refuse(*self.simai(text=workload([LAYER], ep=4)), says="ep 4 does not divide dp 2")
        self.refuse(*self.simai("--micro-batches", "2"), says="2 micro-batches are asked for")
        self.refuse(*self.simai("--schedule", "interleaved"), says="allowed are gpipe")

    def test_crlf_and_older_headers(self):
        text = SMALL.replace("\n", "\r\n")
        self.succeed(*self.simai("--mode", "flow", text=text))
        old = "MICRO\n2\n" + "m -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 4096 1\n" * 2
        self.succeed(*self.simai("--mode", "flow", text=old))
        self.assertTrue(self.table()[1].startswith("m,test1,0.000000"))

    def test_analytical(self):
        self.write("w.txt", SMALL)
        self.succeed("simai", "--analytical", "-w", "w.txt", "-g", 8, "-g_p_s", 4, "-nv", 360,
                     "-nic", 48.5, "-n_p_s", 4, "-v", 1, "-r_f", "res")
        (file,) = (self.folder / "res").iterdir()
        self.assertEqual(file.name, "w-tp4-pp1-dp2-ga1-ep1-NVL4-388.0G-DP0-EndToEnd.csv")
        lines = file.read_text().splitlines()
        self.assertEqual(len(lines[0].split(",")), 17)
        # 1 MB: below 1 MiB, so 12 us for 4 ranks.
        self.assertIn("mlp_layer,Analytical_test,5,5,5,12,0,12,12,", lines[2])
        self.write("busbw.yaml", "test\nTP:\nallreduce,: 300\nDP:\nreducescatter,: 40\n")
        self.succeed("simai", "--analytical", "-w", "w.txt", "-busbw", "busbw.yaml", "-g_p_s", 4,
                     "-r", "x/y-", "--quiet")
        self.assertTrue((self.folder / "x" / "y-EndToEnd.csv").exists())
        for option in ("--out", "-r_f"):
            self.succeed("simai", "--analytical", "-w", "w.txt", "-g", 8, "-g_p_s", 4, "-nv", 360,
                         option, "there" + option, "--quiet")
            self.assertEqual(len(list((self.folder / ("there" + option)).glob("*EndToEnd.csv"))), 1)
        self.refuse("simai", "--analytical", "-w", "w.txt", says="needs -nv")
        self.refuse("simai", "--analytical", "-w", "w.txt", "-g_type", "V1", says="allowed are A100")

    def test_scenario(self):
        self.write("w.txt", SMALL)
        scenario = """\
name = "aicb"
mode = "flow"
[topology]
type = "rail-optimized"
gpus = 8
gpus_per_server = 4
nvswitches_per_server = 0
rate = "400Gbps"
[workload]
type = "aicb"
file = "w.txt"
gpu = "H100"
"""
        self.write("s.toml", scenario)
        result = self.succeed("run", "s.toml", "--out", "o")
        self.assertIn("w.txt (3 layers) on 8 GPUs (TP4 EP1 DP2 PP1)", result.stdout)
        self.assertEqual(result.stderr, "")
        self.write("w.txt", SMALL.replace("vpp: 1", "vpp: 1 colour: 3", 1))
        self.assertIn("sluice: w.txt:1: skipped: \"colour\" is no key of a workload\n",
                      self.succeed("run", "s.toml", "--out", "o").stderr)
        self.refuse("run", "s.toml", "--set", "workload.file=none.txt", says="none.txt")
        self.refuse("run", "s.toml", "--set", "workload.schedule=dualpipe", says="schedule")
        self.refuse("run", "s.toml", "--set", "workload.all_reduce=pairwise", says="pairwise")

    def test_physical_file_in_a_scenario(self):
        self.write("w.csv", (
            "[rank0 ~ rank7]\n"
            "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,count\n"
            "CommType.all_reduce,CommGroup.tp_group,4,8000,forward,None,None,2\n"
            "CommType.all_gather,CommGroup.dp_group,2,8000,step,None,None,1\n"
            "CommType.isend,CommGroup.pp_group,2,8000,forward,1,0,1\n"))
        self.write("s.toml", """\
name = "physical"
mode = "flow"
[topology]
type = "star"
hosts = 8
[workload]
type = "aicb"
file = "w.csv"
overhead = "0s"
""")
        result = self.succeed("run", "s.toml", "--out", "o")
        self.assertIn("w.csv (2 collectives) on 8 GPUs (TP4 EP1 DP2 PP1)", result.stdout)
        # What a scenario does not run of its file is said.
        self.assertRegex(result.stderr, r"w.csv:5: .*isend")
        # Two rings of 6 steps in 2 groups of 4, and one of 1 step in 4 groups of 2.
        self.assertIn("104 of 104 completed", result.stdout)

    def test_generated_workloads_run(self):
        self.succeed("workload", "aicb", "--model", "gpt-7b", "--world", 8, "--tp", 4,
                     "--global-batch", 2, "--gpu", "H100", "-o", "w.txt")
        self.succeed("simai", "-w", "w.txt", "-n", "topo", "-c", "conf", "--mode", "flow", "--out",
                     "out", "--quiet")
        self.assertEqual(len(self.table()), 1 + 2 + 1 + 1 + 36 * 2 + 1 + 3 + 4 + 4)
        text = self.succeed("workload", "aicb", "--model", "gpt-7b", "--world", 16, "--tp", 4,
                            "--global-batch", 8, "--aicb-compatible").stdout
        self.assertIn("\tREDUCESCATTER\t8111783936\t", text)
        self.refuse("workload", "aicb", "--model", "gpt-8b", "--world", 8, "--global-batch", 2,
                    says="gpt-8b")
        self.refuse("workload", "aicb", "--model", "gpt-7b", "--world", 8, "--tp", 3,
                    "--global-batch", 2, says="does not divide 8 GPUs")


@unittest.skipUnless(HAVE_REFERENCE, "no reference files (set SLUICE_REFERENCE)")
class SampleTest(CliTest):
    """Every AICB and SimAI sample, on SimAI's own topologies, in flow mode."""

    def run_sample(self, sample, topology, *more):
        self.succeed("simai", "-w", REFERENCE / sample, "-n", REFERENCE / "simai/topo" / topology,
                     "-c", REFERENCE / "simai/SimAI.conf", "--mode", "flow", "--out", "out",
                     "--quiet", *more)
        self.assertTrue((self.folder / "out/ncclFlowModel_EndToEnd.csv").exists())

    def test_samples(self):
        one = "Spectrum-X_8g_8gps_400Gbps_H100"
        eight = "Spectrum-X_64g_8gps_400Gbps_H100"
        dual = "AlibabaHPN_32g_8gps_DualToR_SinglePlane_200Gbps_H100"
        self.run_sample("simai/microAllReduce.txt", one)
        self.run_sample("aicb/all_reduce.txt", one)
        self.run_sample("aicb/L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1_A100.txt", eight)
        self.run_sample("aicb/G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1_A100.txt", one)
        generated = sorted((REFERENCE / "aicb/generated").iterdir())
        self.run_sample(f"aicb/generated/{generated[0].name}", dual, "--micro-batches", "2")
        self.run_sample(f"aicb/generated/{generated[1].name}", eight)

    def test_analytical_sample(self):
        for more in (("-busbw", REFERENCE / "simai/busbw.yaml"),
                     ("-g_type", "H100", "--ratio", REFERENCE / "simai")):
            self.succeed("simai", "--analytical", "-w", REFERENCE / "simai/workload_analytical.txt",
                         *more)

    def test_published_bus_bandwidths(self):
        """SimAI's documentation: 32 GPUs, TP 8 all-reduce, 1440 Gb/s NVLink, 2 us per send."""
        self.succeed("topo", "spectrum-x", "--gpus", 32, "--nvlink_rate", "1440Gbps", "-o", "topo")
        sizes = {16: 141.84, 32: 153.68}
        layers = [f"m -1 1 ALLREDUCE {mib << 20} 1 NONE 0 1 NONE 0 1" for mib in sizes]
        self.write("w.txt", workload(layers, tp=8, gpus=32))
        os.environ["AS_SEND_LAT"] = "2"
        try:
            self.succeed("simai", "-w", "w.txt", "-n", "topo", "-c",
                         REFERENCE / "simai/SimAI.conf", "--out", "out", "--quiet")
        finally:
            del os.environ["AS_SEND_LAT"]
        rows = (self.folder / "out/ncclFlowModel_EndToEnd.csv").read_text().splitlines()[1:3]
        for row, published in zip(rows, sizes.values()):
            self.assertAlmostEqual(float(row.split(",")[10]) / published, 1, delta=0.005)


if __name__ == "__main__":
    unittest.main()
