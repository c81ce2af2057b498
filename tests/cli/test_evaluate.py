# SPDX-License-Identifier: Apache-2.0
"""`sluice evaluate`, `compare --trials`, `run --replicas`: as they are typed, and what they refuse."""
import csv
import json
import math
import random
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

from support import BINARY, CliTest

DUMBBELL = """\
name = "dumbbell"
mode = "packet"
[topology]
type = "dumbbell"
left_hosts = 4
right_hosts = 4
[workload]
type = "poisson"
cdf = "FbHadoop"
load = 0.3
duration = "100us"
[congestion]
law = "hpcc"
"""
JOB = """\
name = "job"
[topology]
type = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "100Gbps"
[workload]
type = "all-to-all"
size = "4MB"
[congestion]
law = "dcqcn"
"""
FEW = "minimum_trials = 20\n"


class EvaluateTest(CliTest):
    def evaluate(self, text, *options, code=0, out="out"):
        self.write("evaluation.toml", text)
        result = self.sluice("evaluate", "evaluation.toml", "--out", out, *options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def answer(self, folder="out"):
        return json.loads((self.folder / folder / "evaluation.json").read_text())

    def trials(self, folder="out"):
        with open(self.folder / folder / "trials.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


class Evaluate(EvaluateTest):
    def setUp(self):
        super().setUp()
        self.write("dumbbell.toml", DUMBBELL)

    def test_an_interval_of_each_metric_and_what_it_is_of(self):
        result = self.evaluate('base = "dumbbell.toml"\naccuracy = 0.2\n' + FEW +
                               '[[metric]]\nof = "fct"\nstatistic = "p50"\n'
                               '[[metric]]\nname = "slow"\nof = "slowdown"\nestimand = "pooled"\n'
                               '[[metric]]\nof = "fct"\nstatistic = "p90"\nestimand = "pooled"\nname = "tail"\n')
        self.assertIn("p50 of fct, per trial", result.stdout)
        self.assertIn("mean of slowdown, pooled", result.stdout)
        answer = self.answer()
        self.assertEqual(answer["ending"], "reached")
        for metric in answer["candidates"][0]["metrics"]:
            self.assertLessEqual(metric["low"], metric["estimate"])
            self.assertLessEqual(metric["estimate"], metric["high"])
            self.assertLessEqual(metric["relative_half_width"], 0.2)
            self.assertEqual(metric["trials"], answer["trials"])
        rows = self.trials()
        self.assertEqual(len(rows), answer["trials"])
        values = [float(row["fct-p50"]) for row in rows if row["fct-p50"]]
        self.assertAlmostEqual(sum(values) / len(values), answer["candidates"][0]["metrics"][0]["estimate"])
        for name in ("evaluation.svg", "evaluation-2.svg", "evaluation-3.svg"):
            xml.parse(self.folder / "out" / name)

    def test_one_trial_by_itself_is_the_same(self):
        self.evaluate('base = "dumbbell.toml"\naccuracy = 0.3\n' + FEW + "[[metric]]\nof = \"fct\"\n")
        row = self.trials()[7]
        command = self.succeed("evaluate", "evaluation.toml", "--trial", "7").stdout.split()
        self.assertIn(f"seed={row['seed']}", command)
        self.succeed(*command[1:], "--out", "alone")
        with open(self.folder / "alone" / "flows.csv", newline="", encoding="utf-8") as file:
            times = [float(flow["fct_ps"]) * 1e-12 for flow in csv.DictReader(file)]
        self.assertAlmostEqual(sum(times) / len(times), float(row["fct-mean"]), places=12)

    def test_the_same_on_any_number_of_threads(self):
        text = 'base = "dumbbell.toml"\naccuracy = 0.25\n' + FEW + '[[metric]]\nof = "fct"\nstatistic = "p90"\n'
        self.evaluate(text, "--threads", "1", out="one")
        self.evaluate(text, "--threads", "3", out="three")
        self.assertEqual(self.answer("one")["candidates"], self.answer("three")["candidates"])
        self.assertEqual((self.folder / "one/trials.csv").read_bytes(), (self.folder / "three/trials.csv").read_bytes())

    def test_the_program_of_a_gpu_gives_the_same(self):
        text = 'base = "dumbbell.toml"\naccuracy = 0.5\n' + FEW + '[[metric]]\nof = "fct"\n'
        self.evaluate(text, out="threads")
        self.evaluate(text, "--device", "blocks", out="blocks")
        self.assertEqual(self.answer("threads")["candidates"], self.answer("blocks")["candidates"])

    def test_laws_are_compared_on_the_same_flows(self):
        result = self.evaluate('base = "dumbbell.toml"\nmaximum_trials = 400\n'
                               '[[candidate]]\nlabel = "HPCC"\nset = { congestion.law = "hpcc" }\n'
                               '[[candidate]]\nlabel = "none"\nset = { congestion.law = "none" }\n'
                               '[[metric]]\nof = "fct"\nstatistic = "p90"\n[comparison]\nmargin = 0.5\n')
        self.assertIn("none is within the margin of HPCC", result.stdout)
        self.assertEqual(self.answer()["comparison"]["pairs"][0]["verdict"], "same")

    def test_laws_that_no_trial_tells_apart_say_why(self):
        """Each host sends to its own: nothing contends."""
        self.write("apart.toml", 'name = "apart"\nmode = "packet"\n[topology]\ntype = "star"\nhosts = 6\n'
                                 '[workload]\ntype = "flows"\nlist = [[0, 1, "1MB"], [2, 3, "2MB"]]\n')
        laws = "".join(f'[[candidate]]\nlabel = "{law}"\nset = {{ congestion.law = "{law}" }}\n'
                       for law in ("dcqcn", "none", "timely"))
        result = self.evaluate('base = "apart.toml"\nmaximum_trials = 5\nminimum_trials = 3\n' + laws +
                               '[[metric]]\nof = "fct"\n', code=3)
        self.assertIn("same         dcqcn, none: equal in every trial: no contention: no switch queue held more than "
                      "8 packets\n", result.stdout)
        self.assertEqual(result.stdout.count("  same  "), 1)

    def test_killed_at_any_moment_and_gone_on(self):
        text = 'base = "dumbbell.toml"\naccuracy = 0.1\nminimum_trials = 200\n[[metric]]\nof = "fct"\n'
        self.evaluate(text, out="whole")
        arguments = [str(BINARY), "evaluate", "evaluation.toml", "--out", "cut", "--quiet"]
        kills = 0
        for attempt in range(40):
            process = subprocess.Popen(arguments + (["--resume"] if attempt else []), cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                error = process.communicate(timeout=0.2 + 0.05 * attempt)[1]
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL if attempt % 2 else signal.SIGINT)
                process.communicate(timeout=60)
                kills += 1
                continue
            self.assertEqual(process.returncode, 0, error)
            break
        self.assertGreater(kills, 0)
        self.assertEqual(self.answer("cut")["candidates"], self.answer("whole")["candidates"])

    def test_what_can_never_have_a_value_ends(self):
        for metric in ('of = "fct"\nclass = "dp"', 'of = "jct"', 'of = "fct"\nlarger_than = "1GB"'):
            result = self.evaluate('base = "dumbbell.toml"\n[[metric]]\n' + metric + "\n", "--anew", code=3)
            self.assertIn("none of the first 50 trials", result.stderr)
            self.assertIsNone(self.answer()["candidates"][0]["metrics"][0]["estimate"])

    def test_a_wrong_file_replaces_nothing(self):
        text = 'base = "dumbbell.toml"\naccuracy = 0.5\n' + FEW + '[[metric]]\nof = "fct"\n'
        self.evaluate(text)
        before = (self.folder / "out" / "evaluation.json").read_bytes()
        for bad in (text.replace('of = "fct"', 'of = "queue"\nport = ["leaf9", "host3"]'),
                    text + '[[candidate]]\nset = { topology.left_hosts = 0 }\n'):
            self.write("bad.toml", bad)
            self.refuse("evaluate", "bad.toml", "--out", "out", "--anew")
        self.assertEqual((self.folder / "out" / "evaluation.json").read_bytes(), before)
        self.assertIn("of an earlier run", self.evaluate(text, "--resume").stdout)

    def test_what_draws_nothing_is_said(self):
        self.write("ring.toml", JOB.replace("all-to-all", "ring-all-reduce"))
        result = self.evaluate('base = "ring.toml"\nvary = "seed"\n' + FEW + '[[metric]]\nof = "jct"\n')
        self.assertIn("all trials gave the same figures", result.stdout)
        self.write("seed.toml", 'base = "ring.toml"\nset = { seed = 3 }\n')
        self.refuse("evaluate", "seed.toml", says=("seed.toml:2", "is set for each trial"))

    def test_a_trial_that_was_cut_off_is_not_dropped(self):
        self.write("cut.toml", DUMBBELL.replace('mode = "packet"', 'mode = "packet"\nstop = "150us"'))
        result = self.evaluate('base = "cut.toml"\n[[metric]]\nof = "fct"\n', code=3)
        self.assertIn("was cut off before what decides its fct-mean had finished", result.stderr)
        self.evaluate('base = "cut.toml"\naccuracy = 0.5\n' + FEW + '[[metric]]\nof = "fct"\nstatistic = "p5"\n',
                      out="low")

    def test_ramps_are_warned_of_and_windows_found(self):
        result = self.evaluate('base = "dumbbell.toml"\naccuracy = 0.3\n' + FEW +
                               '[window]\nfind = true\n[[metric]]\nof = "fct"\n')
        self.assertIn("window       flows that start from", result.stdout)
        self.assertTrue(self.answer()["window"]["used"])
        self.assertGreater(self.answer()["window"]["ramp_share"], 0)
        one = self.answer()
        self.evaluate('base = "dumbbell.toml"\naccuracy = 0.3\n' + FEW + '[window]\nfind = true\n[[metric]]\nof = "fct"\n',
                      "--threads", "5", out="five")
        self.assertEqual(self.answer("five")["window"], one["window"])
        self.assertEqual(self.answer("five")["candidates"], one["candidates"])
        self.write("short.toml", DUMBBELL.replace("100us", "5us"))
        result = self.evaluate('base = "short.toml"\naccuracy = 0.5\n' + FEW + '[[metric]]\nof = "fct"\n', out="short")
        self.assertIn("is warm-up and cool-down", result.stdout)

    def test_ports_queues_and_throughput(self):
        self.write("incast.toml", DUMBBELL.replace("poisson", "incast").replace(
            'cdf = "FbHadoop"\nload = 0.3\nduration = "100us"', 'senders = 3\nsize = "50KB"\njitter = "5us"'))
        port = 'port = ["leaf0", "host0"]\n'
        self.evaluate('base = "incast.toml"\naccuracy = 0.5\n' + FEW + '[executor]\nqueue_step = "1us"\n'
                      '[[metric]]\nof = "largest-queue"\n' + port + '[[metric]]\nof = "throughput"\n' + port +
                      '[[metric]]\nof = "queue"\nstatistic = "p90"\n' + port)
        largest, throughput, queue = (metric["estimate"] for metric in self.answer()["candidates"][0]["metrics"])
        self.assertGreater(largest, queue)
        self.assertGreater(throughput, 1e9)
        self.write("unjoined.toml", 'base = "incast.toml"\n[[metric]]\nof = "throughput"\nport = ["host0", "host1"]\n')
        self.refuse("evaluate", "unjoined.toml", "--out", "bad", says="two nodes without a cable")

    def test_refusals(self):
        def refused(text, *says):
            self.write("bad.toml", text)
            self.refuse("evaluate", "bad.toml", "--out", "bad", says=says)
            self.assertFalse((self.folder / "bad" / "evaluation.json").exists())
        base = 'base = "dumbbell.toml"\n'
        refused(base + "accurracy = 0.1\n", "bad.toml:2", "accurracy", "accuracy")
        refused(base + "accuracy = 2\n", "accuracy")
        refused(base + '[[metric]]\nof = "fcd"\n', "bad.toml:3", "must be one of fct, slowdown")
        refused(base + '[[metric]]\nstatistic = "p101"\n', "p99.9")
        refused(base + '[[metric]]\nof = "jct"\nstatistic = "p99"\n', "a trial has one jct")
        refused(base + '[[metric]]\n[[metric]]\n', "names must differ")
        refused(base + '[comparison]\nmargin = 0.1\n', "two [[candidate]]s")
        refused(base + 'minimum_trials = 9\nmaximum_trials = 5\n', "maximum_trials")
        refused(base + '[[candidate]]\nset = { congestion.low = "hpcc" }\n', "low")
        refused('base = "absent.toml"\n', "absent.toml")
        refused(base + '[[metric]]\nof = "queue"\n', "port")
        refused(base + '[executor]\ntype = "command"\n', "command")
        self.refuse("evaluate", says="EVALUATION.toml, or --samples")

    def test_a_folder_with_trials_is_not_written_over(self):
        text = 'base = "dumbbell.toml"\naccuracy = 0.5\n' + FEW + '[[metric]]\nof = "fct"\n'
        self.evaluate(text)
        self.refuse("evaluate", "evaluation.toml", "--out", "out", says=("--resume", "--anew"))
        self.write("other.toml", text.replace("fct", "slowdown"))
        self.refuse("evaluate", "other.toml", "--out", "out", "--resume", says=("other settings or metrics", "--anew"))
        self.assertIn("of an earlier run", self.evaluate(text, "--resume").stdout)


class Importance(EvaluateTest):
    TEXT = ('base = "dumbbell.toml"\naccuracy = 0.5\nminimum_trials = 100\n[[metric]]\nof = "fct"\nstatistic = "p99"\n'
            'estimand = "pooled"\n')

    def test_the_tail_with_and_without(self):
        self.write("dumbbell.toml", DUMBBELL)
        result = self.evaluate(self.TEXT + "[importance]\n", out="sampled")
        self.assertIn("by importance sampling", result.stdout)
        sampled = self.answer("sampled")["candidates"][0]
        self.assertTrue(sampled["reached"])
        self.assertGreaterEqual(sampled["effective_trials"], 20)
        self.evaluate(self.TEXT.replace("0.5", "0.15"), out="free")
        free = self.answer("free")["candidates"][0]["metrics"][0]
        # Two intervals of one figure: each 95%, and far wider than they are apart.
        self.assertLess(max(sampled["low"], free["low"]), min(sampled["high"], free["high"]))
        again = self.evaluate(self.TEXT + "[importance]\n", "--resume", "--threads", "1", out="sampled")
        self.assertEqual(again.stdout, result.stdout)

    def test_fitted_sizes_are_said_to_be_so(self):
        self.write("dumbbell.toml", DUMBBELL)
        result = self.evaluate(self.TEXT + '[importance]\nsizes = "fitted"\n')
        self.assertIn("of the fitted log-normal distribution, not of the file", result.stdout)

    def test_refusals(self):
        self.write("dumbbell.toml", DUMBBELL)
        self.write("incast.toml", DUMBBELL.replace("poisson", "incast").replace(
            'cdf = "FbHadoop"\nload = 0.3\nduration = "100us"', "senders = 3"))
        self.write("stop.toml", 'stop = "1ms"\n' + DUMBBELL)

        def refused(text, *says):
            self.write("bad.toml", text)
            self.refuse("evaluate", "bad.toml", "--out", "bad", says=says)
        refused(self.TEXT.replace('"pooled"', '"per-trial"') + "[importance]\n", "bad.toml", "pooled")
        refused(self.TEXT + '[importance]\nsizes = "real"\n', "mapped")
        refused(self.TEXT.replace("dumbbell", "incast") + "[importance]\n", "incast.toml", "poisson")
        refused(self.TEXT.replace("dumbbell", "stop") + "[importance]\n", "stop.toml", "stop time")


class Samples(EvaluateTest):
    def test_a_table_of_trials(self):
        draw = random.Random(4)
        values = [draw.lognormvariate(0, 0.5) for _ in range(3000)]
        self.write("p99.csv", "p99_us\n" + "".join(f"{value}\n" for value in values))
        result = self.succeed("evaluate", "--samples", "p99.csv", "--accuracy", "0.05", "--out", "out")
        self.assertIn("3000 trials", result.stdout)
        self.assertRegex(result.stdout, r"stop +p99_us: \+-5% after \d+ trials")
        metric = self.answer()["candidates"][0]["metrics"][0]
        self.assertAlmostEqual(metric["estimate"], sum(values) / 3000)
        self.assertLess(metric["low"], math.exp(0.125))
        self.assertGreater(metric["high"], math.exp(0.125))
        self.assertEqual(metric["tail"]["verdict"], "light")

    def test_a_heavy_tail_is_said(self):
        draw = random.Random(5)
        self.write("pareto.csv", "x\n" + "".join(f"{draw.paretovariate(1.5)}\n" for _ in range(1000)))
        self.succeed("evaluate", "--samples", "pareto.csv", "--out", "out")
        self.assertEqual(self.answer()["candidates"][0]["metrics"][0]["tail"]["verdict"], "heavy")

    def test_flows_of_trials_pooled_and_per_trial(self):
        """docs/evaluation.md, Estimands: nine quiet trials and a busy one."""
        rows = [(trial, 1 if trial < 9 else 10) for trial in range(10) for _ in range(100 if trial < 9 else 900)]
        self.write("flows.csv", "trial,fct_ms\n" + "".join(f"{trial},{time}\n" for trial, time in rows))
        for options, expected in ((("--statistic", "p99"), 1.9), (("--statistic", "p99", "--pooled"), 10),
                                  ((), 1.9), (("--pooled",), 5.5)):
            self.succeed("evaluate", "--samples", "flows.csv", "--metric", "fct_ms", "--out", "out", "--anew", *options)
            self.assertAlmostEqual(self.answer()["candidates"][0]["metrics"][0]["estimate"], expected)

    def test_candidates_pair_by_pair(self):
        draw = random.Random(6)
        lines = ["candidate,trial,x"]
        for trial in range(100):
            common = draw.gauss(10, 3)
            lines += [f"a,{trial},{common + draw.gauss(0, 0.1)}", f"b,{trial},{common + 0.3 + draw.gauss(0, 0.1)}"]
        self.write("pairs.csv", "\n".join(lines) + "\n")
        result = self.succeed("evaluate", "--samples", "pairs.csv", "--compare")
        self.assertIn("b is worse than a", result.stdout)
        self.assertNotIn("b is", self.succeed("evaluate", "--samples", "pairs.csv").stdout)
        # A trial that only one has makes no pair.
        self.write("odd.csv", "\n".join(lines + ["b,100,99", "a,101,1"]) + "\n")
        result = self.succeed("evaluate", "--samples", "odd.csv", "--compare")
        self.assertIn("2 trials are missing for some candidates", result.stderr)
        self.assertIn("100 trials", result.stdout)
        self.write("apart.csv", "candidate,trial,x\n" + "".join(f"a,{n},1\nb,{n + 50},2\n" for n in range(50)))
        self.refuse("evaluate", "--samples", "apart.csv", "--compare", says="fewer than two trials")

    def test_labels_are_no_paths(self):
        self.write("labels.csv", "candidate,x\n../up,1\n../up,2\nb,3\nb,4\n")
        self.succeed("evaluate", "--samples", "labels.csv", "--out", "out")
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()), ["candidate-0", "candidate-1"])
        self.refuse("evaluate", "--samples", "labels.csv", "--out", "out/candidate-0", says="--anew")

    def test_refusals(self):
        self.write("one.csv", "x\n1\n")
        self.write("bad.csv", "x\n1\n2,3\n")
        self.write("good.csv", "x,y\n1,2\n3,4\n5,7\n")
        self.refuse("evaluate", "--samples", "one.csv", says="at least two")
        self.refuse("evaluate", "--samples", "bad.csv", says="bad.csv:3")
        self.refuse("evaluate", "--samples", "absent.csv", says="absent.csv")
        self.refuse("evaluate", "--samples", "good.csv", "--metric", "z", says="must be one of x, y")
        self.refuse("evaluate", "--samples", "good.csv", "--statistic", "p0", says="p99.9")
        self.refuse("evaluate", "--samples", "good.csv", "--compare", says="candidate")


class Commands(EvaluateTest):
    def test_another_program_runs_the_trials(self):
        self.write("draw.py", "import random, sys\nseed, shift, out = sys.argv[1:]\n"
                   "draw = random.Random(int(seed))\n"
                   "open(out, 'w').write('x\\n%r\\n' % (draw.gauss(10, 1) + float(shift)))\n")
        text = ("minimum_trials = 20\naccuracy = 0.2\n[[candidate]]\nlabel = \"a\"\nset = { shift = 0 }\n"
                "[[candidate]]\nlabel = \"b\"\nset = { shift = 0.5 }\n"
                f"[executor]\ntype = \"command\"\ncommand = \"{sys.executable} draw.py {{seed}} {{shift}} {{out}}\"\n"
                "[[metric]]\nof = \"x\"\n")
        result = self.evaluate(text)
        self.assertIn("b is worse than a", result.stdout)
        pairs = {}
        for row in self.trials():
            pairs.setdefault(row["trial"], {})[row["candidate"]] = float(row["x"])
        for pair in pairs.values():
            self.assertAlmostEqual(pair["b"] - pair["a"], 0.5)

    def test_failed_trials_are_run_again_and_counted(self):
        self.write("flaky.sh", "mark=once-$1\nif [ $(($1 % 7)) = 3 ] && [ ! -e $mark ]; then touch $mark; exit 9; fi\n"
                   "echo x > $2\necho $1 >> $2\n")
        text = ("minimum_trials = 20\naccuracy = 0.9\n[executor]\ntype = \"command\"\n"
                "command = \"sh flaky.sh {trial} {out}\"\n[[metric]]\nof = \"x\"\n")
        result = self.evaluate(text)
        self.assertIn("run again    3 trials", result.stdout)
        self.assertEqual(self.answer()["trials_run_again"], 3)
        self.write("flaky.sh", "[ $1 != 5 ] || { echo no such switch; exit 4; }\necho x > $2; echo $1 >> $2\n")
        result = self.evaluate(text, "--anew", code=3)
        self.assertIn("trial 5", result.stderr)
        self.assertIn("no such switch", result.stderr)


class Replicas(EvaluateTest):
    def test_what_a_contended_run_is_worth(self):
        self.write("job.toml", JOB)
        result = self.succeed("run", "job.toml", "--mode", "packet", "--out", "alone")
        self.assertIn("one sample of a distribution; --replicas 8 shows", result.stdout)
        self.assertIn("carry data of several hosts", self.succeed("describe", "job.toml").stdout)
        result = self.succeed("run", "job.toml", "--mode", "packet", "--out", "several", "--replicas", "5")
        self.assertNotIn("one sample", result.stdout)
        self.assertIn("replicas         5 runs", result.stdout)
        with open(self.folder / "several" / "replicas.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["perturbation"] for row in rows], ["1", "2", "3", "4", "5"])
        # A replica is the run of this perturbation, and the run itself is not changed.
        one = self.succeed("run", "job.toml", "--mode", "packet", "--out", "third", "--set", "perturbation=3")
        self.assertIn("completion time", one.stdout)
        jct = json.loads((self.folder / "third" / "summary.json").read_text())["jct_s"]
        self.assertAlmostEqual(jct, float(rows[2]["completion_time_s"]), places=12)
        for name in ("flows.csv", "ports.csv"):
            self.assertEqual((self.folder / "alone" / name).read_bytes(), (self.folder / "several" / name).read_bytes())
        self.succeed("run", "job.toml", "--mode", "packet", "--out", "several")
        self.assertFalse((self.folder / "several" / "replicas.csv").exists())

    def test_nothing_is_said_where_nothing_meets(self):
        self.write("ring.toml", JOB.replace("leaf-spine", "star").replace("leaves = 2\nspines = 2\nhosts_per_leaf = 4",
                   "hosts = 8").replace("all-to-all", "ring-all-reduce"))
        for mode in ("packet", "wormhole", "flow"):
            self.assertNotIn("one sample", self.succeed("run", "ring.toml", "--mode", mode, "--out", mode).stdout)

    def test_the_scenario_may_ask_for_them(self):
        self.write("job.toml", "replicas = 3\n" + JOB)
        self.assertIn("replicas         3 runs", self.succeed("run", "job.toml", "--out", "out").stdout)
        self.refuse("run", "job.toml", "--set", "replicas=-1", says="replicas")


class Trials(EvaluateTest):
    def test_variants_are_compared_trial_by_trial(self):
        self.write("dumbbell.toml", DUMBBELL)
        arguments = ("compare", "dumbbell.toml", "--vary", "congestion.law=hpcc,none", "--out", "out")
        result = self.succeed(*arguments, "--trials", "25")
        self.assertIn("25 trials", result.stdout)
        self.assertRegex(result.stdout, r"law=none is .* law=hpcc")
        self.assertEqual(len(self.trials()), 50)
        self.assertIn("known        50 trials", self.succeed(*arguments, "--trials", "25").stdout)
        result = self.succeed(*arguments, "--trials", "auto", "--margin", "0.5", "--fresh")
        self.assertRegex(result.stdout, "law=none is (within the margin of|better than|worse than) law=hpcc")
        self.refuse("compare", "dumbbell.toml", "--vary", "congestion.law=hpcc,none", "--trials", "two", says="auto")
        self.refuse("compare", "dumbbell.toml", "--vary", "seed=1,2", "--trials", "5", says="its own seed")
        self.refuse("compare", "dumbbell.toml", "--vary", "congestion.law=hpcc", "--trials", "5", says="at least two variants")


if __name__ == "__main__":
    unittest.main()
