# SPDX-License-Identifier: Apache-2.0
"""Pages of sluice report in headless Chromium: no error on the console, everything there, figures those of the files.

Skipped where there is no Chromium ($SLUICE_CHROMIUM, or chromium in the PATH)."""
import html.parser
import os
import re
import shutil
import subprocess
import unittest

from report_support import JOB, ReportTest
from support import EXAMPLES, SMALL

CHROMIUM = os.environ.get("SLUICE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


class Page(html.parser.HTMLParser):
    """What a test asks of a page's elements."""

    def __init__(self, text):
        super().__init__()
        self.facts = {}
        self.tabs = []
        self.count = {}
        self.text = []
        self.classes = set()
        self.quiet = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.count[tag] = self.count.get(tag, 0) + 1
        self.classes |= set((attributes.get("class") or "").split())
        if "data-key" in attributes:
            self.facts[attributes["data-key"]] = attributes["data-value"]
        if attributes.get("role") == "tab":
            self.tabs.append(attributes["id"])
        self.quiet += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.quiet -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.quiet:
            self.text.append(data.replace("\u00a0", " "))


def typeset(answer):
    """A sentence of the terminal as the page writes it."""
    return re.sub(r"(\d) us\b", "\\1 \u00b5s", answer.replace("+-", "\u00b1"))


@unittest.skipUnless(CHROMIUM, "skipped: there is no chromium here (apt-get install chromium)")
class Browser(ReportTest):
    def browse(self, address):
        """The page at "FILE#ADDRESS" after its scripts have run."""
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1366,768",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--virtual-time-budget=5000", "--enable-logging=stderr", "--dump-dom",
             f"--user-data-dir={self.folder}/chromium", f"file://{self.folder}/{address}"],
            capture_output=True, text=True, errors="replace", timeout=120, check=False)
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(said, [])
        self.assertIn('data-ready="yes"', done.stdout)
        return Page(done.stdout)

    def test_a_broken_page_is_noticed(self):
        self.write("broken.html", '<html data-ready="yes"><script>throw new Error("on purpose")</script>')
        with self.assertRaises(AssertionError):
            self.browse("broken.html")

    def test_pages_of_a_run(self):
        self.write("job.toml", JOB)
        self.succeed("run", "job.toml", "--out", "run", "--no-memo", "--allow-oom")
        (run,) = self.report("run")
        summary = self.summary("run")
        for name, needs in (("bound", {"plot", "card"}), ("hot", {"network", "plot"}),
                            ("flows", {"plot"}), ("trust", {"plot"})):
            with self.subTest(page=name):
                page = self.browse(f"report.html#0/{name}")
                self.assertEqual(page.tabs, ["tab-bound", "tab-hot", "tab-flows", "tab-trust"])
                self.assertEqual(float(page.facts["jct_s"]), summary["jct_s"])
                self.assertEqual(float(page.facts["fct_s.mean"]), summary["fct_s"]["mean"])
                self.assertEqual(float(page.facts["fct_s.p99"]), summary["fct_s"]["p99"])
                self.assertEqual(int(page.facts["flows_completed"]), summary["flows_completed"])
                self.assertEqual(int(page.facts["drops"]), summary["drops"])
                self.assertTrue(needs <= page.classes, page.classes)
                self.assertIn(typeset(run["answers"][name]), "".join(page.text))
                # ECharts has drawn: in SVG, or on a canvas.
                self.assertGreater(page.count.get("svg", 0) + page.count.get("canvas", 0), 0)

    def test_choices_change_what_is_shown(self):
        self.write("job.toml", JOB)
        self.succeed("run", "job.toml", "--out", "run", "--mode", "flow", "--allow-oom")
        self.report("run")
        page = (self.folder / "report.html").read_text(encoding="utf-8")
        choose = """<script>setTimeout(() => {
          const title = () => [...document.querySelectorAll("h3")].map((h) => h.textContent);
          const row = (name) => [...document.querySelectorAll("h3")].find((h) => h.textContent.startsWith(name)).parentNode.querySelector("tbody tr");
          row("Links by").click();
          const select = [...document.querySelectorAll("select")].find((s) => [...s.options].some((o) => o.value === "time"));
          const before = title();
          select.value = "time";
          select.dispatchEvent(new Event("change"));
          const chosen = document.querySelectorAll("tr.chosen").length;
          row("Longest completion").click();
          const left = row("Links by").parentNode.querySelectorAll("tr.chosen").length;
          document.body.append(`TITLES ${before.includes("Largest slowdown")} ${before.some((t) => t.includes("load over time, estimated"))} ${title().includes("Longest completion time")} CHOSEN ${chosen} LEFT ${left}`);
        }, 500);</script></html>"""
        (self.folder / "chosen.html").write_text(page.replace("</html>", choose), encoding="utf-8")
        shown = "".join(self.browse("chosen.html#0/hot").text)
        self.assertIn("TITLES true true true CHOSEN 1 LEFT 0", shown)
        shown = "".join(self.browse("report.html#0/trust").text)
        self.assertIn("sluice run SCENARIO.toml --mode packet --out run-packet &&", shown)

    def test_a_large_run_is_summarized(self):
        """1,024 GPUs with a trace of 31 MB: a page below 10 MB, that comes to rest."""
        self.succeed("run", EXAMPLES / "gpt175b-1024gpu.toml", "--set", "output.trace=true", "--out", "run")
        (run,) = self.report("run")
        self.assertLess((self.folder / "report.html").stat().st_size, 10_000_000)
        # Pipeline stages: ranks of one do the same.
        self.assertEqual([row["hosts"] for row in run["timeline"]["rows"]], [128] * 8)
        for name in ("bound", "hot"):
            page = self.browse(f"report.html#0/{name}")
            self.assertEqual(float(page.facts["jct_s"]), self.summary("run")["jct_s"])

    def test_pages_of_studies(self):
        self.write("small.toml", SMALL)
        self.succeed("compare", "small.toml", "--modes", "packet", "--vary",
                     "congestion.law=hpcc,dctcp,timely", "--vary", "seed=1,2,3", "--out", "laws")
        self.succeed("run", "small.toml", "--out", "a")
        self.succeed("run", "small.toml", "--set", "seed=2", "--out", "b")
        study = self.report("laws")[0]
        page = self.browse("report.html#0/best")
        self.assertEqual(page.tabs, ["tab-best", "tab-side"])
        self.assertEqual(int(page.facts["experiments"]), 9)
        self.assertIn(typeset(study["answers"]["best"]), "".join(page.text))
        self.assertGreaterEqual(page.count["svg"], 2)
        self.browse("report.html#0/side")
        self.report("a", "b", page="two.html")
        page = self.browse("two.html")
        self.assertEqual(page.tabs, ["tab-side"])
        self.assertRegex("".join(page.text), re.compile(r"seed\s*1\s*2"))

    def test_hostile_names_stay_text(self):
        self.write("small.toml", SMALL)
        self.succeed("run", "small.toml", "--out", "run")
        path = self.folder / "run" / "flows.csv"
        lines = path.read_text().splitlines()
        label = lines[0].split(",").index("label")
        for i in range(1, len(lines)):
            fields = lines[i].split(",")
            fields[label] = "<img src=x onerror=console.error(1)></script>"
            lines[i] = ",".join(fields)
        path.write_text("\n".join(lines) + "\n")
        self.report("run")
        for name in ("hot", "flows"):
            page = self.browse(f"report.html#0/{name}")
            self.assertNotIn("img", page.count)


if __name__ == "__main__":
    unittest.main()
