# SPDX-License-Identifier: Apache-2.0
"""sluice report: results of every command as one page, with the figures of their files."""
import json
import unittest

from report_support import JOB, ReportTest
from support import SMALL

BATCH = """\
base = "small.toml"
[[axis]]
key = "congestion.law"
values = ["hpcc", "dctcp"]
[[axis]]
key = "seed"
values = [1, 2]
"""


class Runs(ReportTest):
    def test_figures_are_those_of_the_files(self):
        self.write("job.toml", JOB)
        self.succeed("run", "job.toml", "--out", "run", "--no-memo", "--allow-oom")
        (run,) = self.report("run")
        summary = self.summary("run")
        self.assertEqual(run["summary"], summary)
        everything = run["flows"]["classes"][0]
        for figure in ("mean", "p50", "p99", "max"):
            self.assertAlmostEqual(everything["fct"][figure], summary["fct_s"][figure], delta=1e-12)
        ports = self.rows("run/ports.csv")
        links = run["network"]["links"]
        self.assertEqual(links["bytes"], [int(port["tx_bytes"]) for port in ports])
        self.assertEqual(links["use"], [float(port["utilization"]) for port in ports])
        hottest = max(ports, key=lambda port: float(port["utilization"]))
        self.assertEqual(links["use"][run["network"]["hottest"][0]], float(hottest["utilization"]))
        hops = run["trust"]["hops"]
        self.assertEqual(hops["executed"] + hops["copies"], summary["packet_hops"])
        self.assertEqual(hops["equations"], summary["hops_saved"])
        for answer in run["answers"].values():
            self.assertIn(answer, self.told)

    def test_computations_are_in_the_timeline(self):
        self.write("job.toml", JOB)
        self.succeed("run", "job.toml", "--out", "run", "--mode", "flow", "--allow-oom")
        (run,) = self.report("run")
        timeline = run["timeline"]
        self.assertTrue(timeline["computed"])
        self.assertEqual(sum(row["hosts"] for row in timeline["rows"]), 16)
        spans = timeline["rows"][0]["spans"]
        lanes = {timeline["lanes"][lane] for lane in spans[::4]}
        self.assertTrue({"compute", "TP", "DP"} <= lanes, lanes)
        computed = sum(end - begin for lane, _, begin, end in zip(*[iter(spans)] * 4)
                       if timeline["lanes"][lane] == "compute")
        rank_time = self.summary("run")["jobs"][0]["rank_time_s"]["compute"]["mean"]
        self.assertAlmostEqual(computed * 1e-9, rank_time, delta=1e-3 * rank_time)

    def test_bad_results_get_one_line(self):
        self.write("small.toml", SMALL)
        self.succeed("run", "small.toml", "--out", "run")
        self.report("run")
        self.refuse("report", "none", says="none: does not exist")
        self.refuse("report", ".", says="holds no results")
        self.refuse("report", "small.toml", says="small.toml: is no result")
        self.refuse("report", "run", "-o", "run", says="run")
        for name in ("summary.json", "flows.csv", "ports.csv", "trace.json"):
            path = self.folder / "run" / name
            whole = path.read_bytes()
            path.write_bytes(whole[: len(whole) // 2])
            self.refuse("report", "run", says=name)
            path.write_bytes(whole)
        (self.folder / "run" / "ports.csv").unlink()
        self.refuse("report", "run", says="ports.csv: is missing or empty")
        self.assertTrue((self.folder / "report.html").exists())


class Studies(ReportTest):
    def test_a_comparison_of_values(self):
        self.write("small.toml", SMALL)
        self.succeed("compare", "small.toml", "--modes", "packet", "--vary",
                     "congestion.law=hpcc,dctcp", "--out", "laws")
        (study,) = self.report("laws")
        rows = json.loads((self.folder / "laws/compare.json").read_text())["rows"]
        names = [figure["name"] for figure in study["figures"]]
        self.assertEqual(study["results"][names.index("fct_mean_s")],
                         [row["fct_s"]["mean"] for row in rows])
        self.assertEqual([run["summary"]["config"]["congestion"]["law"] for run in study["runs"]],
                         ["hpcc", "dctcp"])

    def test_a_batch_by_folder_and_by_file(self):
        self.write("small.toml", SMALL)
        self.write("batch.toml", BATCH)
        self.succeed("batch", "batch.toml", "--out", "batch")
        study, same = self.report("batch", "batch/batch.db")
        self.assertEqual(study, same)
        rows = self.rows("batch/batch.csv")
        names = [figure["name"] for figure in study["figures"]]
        self.assertEqual(sorted(study["results"][names.index("jct_s")]),
                         sorted(float(row["jct_s"]) for row in rows))
        self.assertEqual(study["repeats"], ["seed"])

    def test_several_runs_and_a_damaged_batch(self):
        self.write("small.toml", SMALL)
        for seed in (1, 2):
            self.succeed("run", "small.toml", "--set", f"seed={seed}", "--out", f"run{seed}")
        documents = self.report("run1", "run2")
        self.assertEqual([d["summary"]["seed"] for d in documents], [1, 2])
        self.write("batch.db", b"SQLite format 3\0" + b"\xff" * 4000)
        self.refuse("report", "run1", "batch.db", says="batch.db")


if __name__ == "__main__":
    unittest.main()
