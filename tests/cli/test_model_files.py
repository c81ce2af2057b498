# SPDX-License-Identifier: Apache-2.0
"""Models and GPU types as files that a user copies and edits, and as tables of a scenario."""
import json
import re
import shutil
import unittest

from support import SOURCE, CliTest

MODELS = SOURCE / "workloads/data/models"
GPUS = SOURCE / "workloads/data/gpus"

SCENARIO = """\
mode = "flow"
[topology]
type = "star"
hosts = 4
gpus_per_server = 2
[workload]
type = "training"
{model}
tp = 2
pp = 2
micro_batches = 2
gpu_memory = "0B"
"""


class ModelFiles(CliTest):
    def result(self, model, out):
        """The summary of a run with these lines in its [workload]."""
        self.write(f"{out}.toml", SCENARIO.format(model=model))
        self.succeed("run", f"{out}.toml", "--out", out)
        return json.loads((self.folder / out / "summary.json").read_text())

    def flows(self, out):
        return (self.folder / out / "flows.csv").read_text()

    def test_every_preset_runs_by_name(self):
        for path in sorted(MODELS.glob("*.toml")):
            with self.subTest(model=path.stem):
                text = SCENARIO.format(model=f'model = "{path.stem}"')
                if path.stem == "deepseek-v3":  # 61 layers
                    text = text.replace("pp = 2", "pp = 1")
                self.write("run.toml", text)
                self.succeed("run", "run.toml", "--out", path.stem)

    def test_a_copied_file_is_the_preset_and_an_edited_one_is_not(self):
        shutil.copy(MODELS / "gpt-7b.toml", self.folder / "mine.toml")
        self.result('model = "gpt-7b"', "named")
        self.result('model = "mine.toml"', "copied")
        self.assertEqual(self.flows("named"), self.flows("copied"))
        text = (self.folder / "mine.toml").read_text()
        self.write("mine.toml", re.sub(r"layers = \d+", "layers = 4", text))
        self.result('model = "mine.toml"', "edited")
        self.assertNotEqual(self.flows("named"), self.flows("edited"))
        # The same change as a table.
        self.result('model = { base = "gpt-7b", layers = 4 }', "table")
        self.assertEqual(self.flows("edited"), self.flows("table"))

    def test_a_file_is_found_beside_the_scenario(self):
        self.write("there/mine.toml", (MODELS / "gpt-7b.toml").read_text())
        self.write("there/s.toml", SCENARIO.format(model='model = "mine.toml"'))
        self.succeed("run", "there/s.toml", "--out", "out")

    def test_a_scenario_called_like_a_preset_is_not_taken_for_it(self):
        self.write("gpt-7b.toml", SCENARIO.format(model='model = "gpt-7b"'))
        self.succeed("run", "gpt-7b.toml", "--out", "out")

    def test_a_gpu_file_sets_the_compute_time(self):
        text = (GPUS / "A100.toml").read_text()
        self.write("slow-gpu.toml", text.replace("peak_flops = 312e12", "peak_flops = 156e12"))
        full = self.result('model = "gpt-7b"\ngpu = "A100"', "full")
        half = self.result('model = "gpt-7b"\ngpu = "slow-gpu.toml"', "half")
        self.assertGreater(half["jct_s"], 1.5 * full["jct_s"])

    def test_mistakes(self):
        cases = [
            ('model = "gtp-7b"', ["bad.toml:8:9", "nearest: gpt-7b", "llama-65b"]),
            ('model = "gpt-7b"\ngpu = "H101"', ["bad.toml:9:7", "nearest: H100"]),
            ('model = "no.toml"', ["no.toml"]),
            ('gpu = "no.toml"\nmodel = "gpt-7b"', ["no.toml"]),
            ("model = 7", ["bad.toml:8:9", "text"]),
            ('model = { base = "gpt-7b", layer = 4 }', ["bad.toml:8", '"layers"']),
            ('model = "broken.toml"', ["broken.toml:4:1", '"hidden"']),
            ('model = { layers = 2, hidden = 64, heads = 3 }', ["bad.toml:8", "heads 3"]),
        ]
        self.write("broken.toml", "layers = 2\nhidden = 64\nheads = 4\nhiden = 3\n")
        for model, says in cases:
            with self.subTest(model=model):
                self.write("bad.toml", SCENARIO.format(model=model))
                self.refuse("run", "bad.toml", says=says)


if __name__ == "__main__":
    unittest.main()
