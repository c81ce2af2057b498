# SPDX-License-Identifier: Apache-2.0
"""`sluice batch`: rows and what they hold, lanes against runs, devices, checks, plans, refusals."""
import csv
import json
import sqlite3
import unittest

from batch_support import BASE, BatchTest, TRAINING, axis

LEAVES = """\
mode = "packet"
[topology]
type = "leaf-spine"
leaves = 3
spines = 2
hosts_per_leaf = 4
rate = "100Gbps"
[workload]
type = "incast"
receiver = 0
senders = 9
size = "80KB"
"""
JOB = """\
mode = "packet"
[topology]
type = "rail-optimized"
gpus = 16
gpus_per_server = 4
servers_per_segment = 2
rate = "100Gbps"
[workload]
type = "ring-all-reduce"
size = "400KB"
"""
LAWS = ("hpcc", "dcqcn", "timely", "dctcp", "none")
MEASURED = {"elaboration_s", "elaboration_user_s", "wall_s", "user_s", "packet_hops_per_s", "peak_rss_bytes"}


class Batch(BatchTest):
    def files_of(self, folder):
        found = {}
        for path in sorted((self.folder / folder).iterdir()):
            text = path.read_bytes()
            if path.name == "summary.json":
                text = {key: value for key, value in json.loads(text).items() if key not in MEASURED}
            found[path.name] = text
        return found

    def test_a_row_for_each_point_of_the_product(self):
        self.write("base.toml", BASE)
        result = self.batch("base = \"base.toml\"\nset = { seed = 7 }\n" + axis("congestion.law", ["hpcc", "dctcp"]) +
                            "[[axis]]\nkeys = [\"topology.hosts\", \"workload.size\"]\n"
                            "values = [[4, \"50KB\"], [8, \"20KB\"]]\n"
                            "[[axis]]\nkey = \"network.payload\"\nrange = [1000, 3000, 1000]\n")
        self.assertIn("batch: 12 of 12 experiments: 12 done", result.stdout)
        rows = self.rows()
        self.assertEqual([int(row["experiment"]) for row in rows], list(range(12)))
        self.assertEqual([row["congestion.law"] for row in rows], ["hpcc"] * 6 + ["dctcp"] * 6)
        self.assertEqual([row["topology.hosts"] for row in rows], (["4"] * 3 + ["8"] * 3) * 2)
        self.assertEqual([row["network.payload"] for row in rows], ["1000", "2000", "3000"] * 4)
        # 4 hosts send 50 kB each in packets of 1,000: 50 of data and 50 ACKs over 2 links.
        self.assertEqual(rows[0]["packet_hops"], str(4 * 100 * 2))
        self.assertEqual({row["status"] for row in rows}, {"done"})
        database = sqlite3.connect(self.folder / "out" / "batch.db")
        self.addCleanup(database.close)
        kept = database.execute('SELECT experiment, "network.payload", jct_s, flows FROM experiments '
                                "ORDER BY experiment").fetchall()
        self.assertEqual(kept, [(int(row["experiment"]), row["network.payload"], float(row["jct_s"]),
                                 int(row["flows"])) for row in rows])

    def test_tables_in_braces_replace_others(self):
        self.write("base.toml", BASE)
        self.batch("base = \"base.toml\"\n[[axis]]\nkey = \"topology\"\n"
                   "values = [{ type = \"fat-tree\", k = 4 }, { type = \"star\", hosts = 4 }]\n")
        rows = self.rows()
        self.assertEqual([row["flows"] for row in rows], ["16", "4"])
        self.assertEqual([row["topology"] for row in rows],
                         ["{type = \"fat-tree\", k = 4}", "{type = \"star\", hosts = 4}"])
        self.batch("base = \"base.toml\"\nset.topology.hosts = 6\n", "--anew")
        self.assertEqual(self.rows()[0]["flows"], "6")

    def test_lanes_leave_what_runs_leave(self):
        self.write("leaves.toml", LEAVES)
        self.write("job.toml", JOB)
        cases = [(base, f"congestion.law = \"{law}\"") for base in ("leaves", "job") for law in LAWS]
        cases += [("leaves", keys) for keys in (
            "network.load_balance = \"spray\"", "network.pfc = false, network.buffer.size = \"200KB\"",
            "network.arithmetic = \"ns3\"", "network.nic.ack_every = 4", "fold = false", "mode = \"flow\"",
            "mode = \"hybrid\"", "mode = \"wormhole\", workload.size = \"2MB\"",
            "stop = \"20us\"", "topology.loss = 0.001")]
        cases += [("job", "mode = \"wormhole\""), ("job", "mode = \"hybrid\", phases.wake = \"data\""),
                  ("job", "mode = \"packet\", fold = false")]
        text = "".join(f"[[experiment]]\nbase = \"{base}.toml\"\nset = {{ {keys} }}\n" for base, keys in cases)
        self.write("batch.toml", text)
        for threads in (1, 3):
            self.sluice("batch", "batch.toml", "--folders", "--threads", threads, "--out", f"out{threads}")
        for number, (base, keys) in enumerate(cases):
            sets = [part for key in keys.split(", ") for part in ("--set", key.replace(" = ", "="))]
            alone = self.sluice("run", f"{base}.toml", *sets, "--threads", "1", "--out", f"alone{number}",
                                env={"XDG_CACHE_HOME": str(self.folder / f"cache{number}")})
            for threads in (1, 3):
                row = self.rows(f"out{threads}")[number]
                self.assertEqual(alone.returncode, 0, alone.stderr)
                self.assertEqual(self.files_of(f"out{threads}/runs/{number}"), self.files_of(f"alone{number}"), keys)
                summary = json.loads((self.folder / f"alone{number}" / "summary.json").read_text())
                mean = summary["fct_s"]["mean"]
                self.assertEqual(row["fct_mean_s"], "" if mean is None else repr(mean), keys)
                self.assertEqual(row["status"], "cut_off" if "stop" in keys else "done", keys)
        self.assertEqual(self.settled("out1"), self.settled("out3"))

    def test_the_program_of_a_gpu_leaves_what_lanes_leave(self):
        for name, text in (("base", BASE), ("leaves", LEAVES), ("job", JOB)):
            self.write(f"{name}.toml", text)
        text = "".join(f"[[experiment]]\nbase = \"{name}.toml\"\nset = {{ fold = false, seed = {seed}, "
                       f"congestion.law = \"{law}\" }}\n"
                       for seed, (name, law) in enumerate((name, law) for name in ("base", "leaves", "job")
                                                          for law in LAWS))
        self.batch(text, "--folders")
        lanes = self.settled()
        files = [self.files_of(f"out/runs/{i}") for i in range(len(lanes))]
        for gang in ("1", "3"):
            self.batch(text, "--folders", "--anew", "--device", "blocks", "--gang", gang, "--threads", "2")
            self.assertEqual(self.settled(), lanes)
            self.assertEqual([self.files_of(f"out/runs/{i}") for i in range(len(lanes))], files)

    def test_devices_share_a_batch_and_their_memory_streams_it(self):
        self.write("base.toml", BASE)
        text = "base = \"base.toml\"\n[[axis]]\nkey = \"seed\"\nrange = [1, 12]\n"
        self.batch(text)
        lanes = self.settled()
        some = ("--device", "blocks", "--gpus", "2", "--threads", "6")
        plan = self.batch(text, *some, "--device-memory", "400kB", "--plan").stdout
        self.assertRegex(plan, r"a lane +[\d.]+ kB at first, (\d+) kB after its first windows, at most \1 kB")
        self.assertIn("devices      400 kB, 400 kB: room for 4 lanes; 4 at once, the other 8 streamed", plan)
        self.batch(text, *some, "--device-memory", "400kB", "--anew")
        self.assertEqual(self.settled(), lanes)
        self.batch(text, *some, "--lanes", "300", "--device-memory", "400kB", "--anew")
        self.assertEqual(self.settled(), lanes)
        self.batch(text, *some, "--device-memory", "100kB", "--anew", code=3)
        for row in self.rows():
            self.assertEqual(row["status"], "failed")
            self.assertRegex(row["reason"], r"^the network needs \d{6} bytes of the device's memory, of which lanes "
                                            r"may take 100000 in all$")
        result = self.batch(text, "--device", "blocks", "--device-memory", "much", "--anew", code=2)
        self.assertIn("--device-memory \"much\"", result.stderr)
        result = self.batch(text, "--gpus", "2", "--anew", code=2)
        self.assertIn("--gpus, --lanes and --device-memory need --device cuda, blocks or auto",
                      result.stderr)

    def test_what_a_gpu_does_not_know_is_refused(self):
        self.write("base.toml", BASE)
        cases = (("mode = \"hybrid\"", "mode = \"hybrid\": a device executes mode packet only"),
                 ("network.arithmetic = \"ns3\"",
                  "network.arithmetic = \"ns3\": a device does not support ns-3's order of events"),
                 ("output.series = true", "a device cannot record queues or PFC frames; use --device cpu"))
        text = "".join(f"[[experiment]]\nbase = \"base.toml\"\nset = {{ {change} }}\n" for change, _ in cases)
        self.batch(text, "--device", "blocks", "--folders", code=3)
        for row, (_, reason) in zip(self.rows(), cases):
            self.assertEqual((row["status"], row["reason"]), ("refused", reason))
        result = self.batch(text, "--device", "tpu", "--anew", code=2)
        self.assertIn("--device: tpu not in {cpu,cuda,auto,blocks}", result.stderr)

    def test_a_lane_that_outgrows_its_memory_fails_alone(self):
        self.write("base.toml", BASE)
        self.write("leaves.toml", LEAVES)
        text = ("base = \"base.toml\"\n[[experiment]]\nset = { topology.hosts = 4, workload.size = \"2KB\" }\n"
                "[[experiment]]\nset = { topology.hosts = 400, workload.size = \"2KB\" }\n")
        self.batch(text, "--device", "blocks", "--lane-memory", "200KiB", code=3)
        fits, full = self.rows()
        self.assertEqual((fits["status"], full["status"]), ("done", "failed"), full)
        self.assertRegex(full["reason"], "204800 bytes")
        # It is tried again, with more.
        said = self.batch(text, "--device", "blocks", "--resume")
        self.assertIn("known        1", said.stdout)
        self.assertEqual([row["status"] for row in self.rows()], ["done", "done"])
        self.refuse("batch", "batch.toml", "--out", "none", "--lane-memory", "1MiB", says="--device cuda, auto or blocks")
        self.refuse("batch", "batch.toml", "--out", "none", "--device", "blocks", "--lane-memory", "1",
                    says=["--lane-memory", "unit"])

    def test_what_fails_fails_alone(self):
        self.write("base.toml", BASE)
        self.write("training.toml", TRAINING)
        result = self.batch(
            "base = \"base.toml\"\n"
            "[[experiment]]\nlabel = \"good\"\n"
            "[[experiment]]\nlabel = \"slip\"\nset = { topology.hots = 4 }\n"
            "[[experiment]]\nlabel = \"too large\"\nbase = \"training.toml\"\n"
            "[[experiment]]\nlabel = \"missing\"\nset = { workload = { type = \"flows\", file = \"none.txt\" } }\n"
            "[[experiment]]\nlabel = \"good again\"\nset = { seed = 2 }\n", code=3)
        self.assertIn("2 done, 1 oom, 2 refused", result.stdout)
        self.assertIn("  not done     experiment 1 (label slip, topology.hots 4): batch.toml:6:25: unknown key", result.stdout)
        rows = self.rows()
        self.assertEqual([row["status"] for row in rows], ["done", "refused", "oom", "refused", "done"])
        self.assertEqual([row["label"] for row in rows], ["good", "slip", "too large", "missing", "good again"])
        self.assertIn("batch.toml:6:25: ", rows[1]["reason"])
        self.assertIn("hosts", rows[1]["reason"])
        self.assertRegex(rows[2]["reason"], r"out of memory: [\d.]+ GB of 80")
        self.assertIn("none.txt", rows[3]["reason"])
        self.batch("base = \"base.toml\"\n[[experiment]]\nbase = \"training.toml\"\n", "--anew", "--allow-oom")
        self.assertEqual(self.rows()[0]["status"], "done")

    def test_disconnected_hosts_are_work_that_is_left(self):
        self.write("base.toml", BASE)
        self.batch("base = \"base.toml\"\n"
                   "[[experiment]]\nset = { link_event = [{ at = \"1us\", link = 0, up = false }] }\n"
                   "[[experiment]]\n", code=3)
        rows = self.rows()
        self.assertEqual([row["status"] for row in rows], ["left", "done"], rows)
        self.assertIn("flow", rows[0]["reason"])

    def test_refusals(self):
        self.write("base.toml", BASE)
        head = "base = \"base.toml\"\n"
        point = axis("seed", [1])
        for text, said in (
                (point, "'base' is missing"),
                (head + "[[axis]]\nvalues = [1]\n", "'key' or 'keys' must be there"),
                (head + "[[axis]]\nkey = \"seed\"\n", "'values' or 'range' must be there"),
                (head + "[[axis]]\nkey = \"seed\"\nvalues = []\n", "must be an array of at least one value"),
                (head + "[[axis]]\nkey = \"seed\"\nrange = [3, 1]\n", "runs nowhere"),
                (head + "[[axis]]\nkeys = [\"seed\", \"mode\"]\nvalues = [[1]]\n", "must be an array of 2"),
                (head + "[[axis]]\nkeys = [\"seed\"]\nrange = [1, 2]\n", "is of one key"),
                (head + point + point, "\"seed\" varies twice"),
                (head + point + "[[experiment]]\n", "exclude each other"),
                (head + "set = 3\n" + point, "must be a table"),
                (head + "[[axes]]\nkey = \"seed\"\n", "did you mean \"axis\""),
                ("[[experiment]]\n", "has no 'base'"),
                ("name = \"../x\"\n" + head, "without slashes or control characters"),
                ("base = \"none.toml\"\n", "none.toml: cannot be opened"),
                (head + "[[axis]]\nkey = \"seed\"\nrange = [1, 2000]\n[[axis]]\nkey = \"network.payload\"\n"
                        "range = [1, 2000]\n", "span more than 1000000")):
            self.write("batch.toml", text)
            result = self.sluice("batch", "batch.toml", "--out", "out")
            self.assertEqual(result.returncode, 2, text)
            self.assertIn(said, result.stderr, text)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertFalse((self.folder / "out").exists(), text)

    def test_checks_with_mode_packet(self):
        self.write("base.toml", BASE)
        text = ("base = \"base.toml\"\nset = { mode = \"flow\" }\n" +
                axis("workload.size", ["10KB", "50KB", "200KB"]) + axis("congestion.law", ["hpcc", "dctcp"]))
        result = self.batch(text, "--check", 4)
        self.assertRegex(result.stdout, r"check        4 experiments in mode packet: JCT \+[\d.]+% \+- [\d.]+%")
        self.assertRegex(result.stdout, r"ranking      Kendall's tau [\d.]+ over 6 pairs; [\d.]+ over the \d that")
        self.sluice("batch", "batch.toml", "--set", "mode=packet", "--out", "packet")
        packet, flow = self.rows("packet"), self.rows()
        with open(self.folder / "out" / "check.csv", newline="", encoding="utf-8") as file:
            checked = list(csv.DictReader(file))
        self.assertEqual(len(checked), 4)
        for row in checked:
            number = int(row["experiment"])
            self.assertEqual((row["jct_s"], row["packet_jct_s"]), (flow[number]["jct_s"], packet[number]["jct_s"]))
            self.assertAlmostEqual(float(row["error"]), float(row["jct_s"]) / float(row["packet_jct_s"]) - 1)
        # More later: what is known is not run again.
        self.batch(text, "--resume", "--check", 6)
        with open(self.folder / "out" / "check.csv", newline="", encoding="utf-8") as file:
            more = list(csv.DictReader(file))
        self.assertEqual([int(row["experiment"]) for row in more], list(range(6)))
        # With more others its error bar is another one.
        known = {old["experiment"]: {**old, "error_bar": None} for old in checked}
        self.assertEqual({row["experiment"]: {**row, "error_bar": None} for row in more if row["experiment"] in known},
                         known)

    def test_plan(self):
        self.write("base.toml", BASE)
        self.write("training.toml", TRAINING)
        plan = self.batch("base = \"base.toml\"\n" + axis("workload.size", ["100KB", "300KB"]), "--plan")
        # 8 hosts, 100 and 300 packets each, data and ACKs over 2 links.
        self.assertIn("2 experiments by workload.size", plan.stdout)
        self.assertIn("about 12.8 k in all", plan.stdout)
        self.assertFalse((self.folder / "out").exists())
        plan = self.batch("base = \"base.toml\"\n[[axis]]\nkey = \"seed\"\nrange = [1, 1000000]\n", "--plan")
        self.assertIn("1000000 experiments by seed\n  planned with 64 of them", plan.stdout)
        plan = self.batch("[[experiment]]\nbase = \"training.toml\"\n[[experiment]]\nbase = \"base.toml\"\n", "--plan")
        self.assertIn("oom          1 of 2", plan.stdout)


if __name__ == "__main__":
    unittest.main()
