# SPDX-License-Identifier: Apache-2.0
"""What the tests of reports share."""
import csv
import json
import re

from support import CliTest

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)

JOB = """\
name = "job"
[topology]
type = "rail-optimized"
gpus = 16
gpus_per_server = 8
servers_per_segment = 2
rate = "100Gbps"
[workload]
type = "training"
model = "gpt-7b"
tp = 8
dp = 2
sequence = 512
micro_batch = 1
micro_batches = 1
gpu = "A100"
allow_oom = true
[output]
trace = true
"""


class ReportTest(CliTest):
    """Skips where the program was built without the library that draws."""

    def report(self, *results, page="report.html"):
        """The page's data."""
        done = self.sluice("report", *results, "-o", page)
        if "built without the library" in done.stderr:
            self.skipTest("skipped: this program was built without ECharts (scripts/charts.sh)")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.told = done.stdout
        html = (self.folder / page).read_text(encoding="utf-8")
        return json.loads(DATA.search(html).group(1))["documents"]

    def summary(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())

    def rows(self, name):
        with (self.folder / name).open(encoding="utf-8") as file:
            return list(csv.DictReader(file))
