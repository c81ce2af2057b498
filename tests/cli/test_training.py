# SPDX-License-Identifier: Apache-2.0
"""Training jobs: strategies end to end, memory, and what their users get wrong."""
import csv
import json
import unittest

from support import EXAMPLES, SOURCE, CliTest

JOB = """\
mode = "flow"
[topology]
type = "rail-optimized"
gpus = 16
gpus_per_server = 4
servers_per_segment = 4
rate = "100Gbps"
delay = "1us"
[workload]
type = "training"
model = "gpt-6.7b"
tp = 4
pp = 2
dp = 2
micro_batches = 4
gpu = "A100-80GB"
"""


class Training(CliTest):
    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)

    def run_job(self, *sets, scenario="job.toml"):
        """Summary, and bytes by class."""
        words = [word for key in sets for word in ("--set", f"workload.{key}")]
        self.succeed("run", scenario, "--out", "out", *words)
        summary = json.loads((self.folder / "out/summary.json").read_text())
        sent = {}
        with open(self.folder / "out/flows.csv", newline="") as file:
            for row in csv.DictReader(file):
                sent[row["label"]] = sent.get(row["label"], 0) + int(row["size_bytes"])
        return summary, sent

    def test_schedules_send_what_they_should(self):
        # A boundary of 2 x 2048 x 4096 / 4 B, 4 micro-batches, both ways, 8 lanes.
        boundary = 2 * 2048 * 4096 // 4 * 4 * 2 * 8
        for schedule, boundaries in (("gpipe", 1), ("1f1b", 1), ("interleaved", 3), ("zb-h1", 1),
                                     ("dualpipe", 1)):
            with self.subTest(schedule=schedule):
                summary, sent = self.run_job(f"schedule={schedule}")
                self.assertEqual(sent["pp"], boundaries * boundary)
                self.assertEqual(summary["flows_completed"], summary["flows"])

    def test_gpu_types_without_interconnects(self):
        self.write("bare.toml", 'peak_flops = 500e12\nmemory = "96GB"\nmemory_bandwidth = "1792GB/s"\n')
        summary, _ = self.run_job('gpu="./bare.toml"', "nvlink_bandwidth=64GB/s", "nvlink_latency=2us")
        self.assertEqual(summary["flows_completed"], summary["flows"])
        self.refuse("run", "job.toml", "--set", 'workload.gpu="./bare.toml"', "--set",
                    "workload.algorithms.all_reduce=nccl", "--set", "workload.zero=0", "--set", "workload.tp=1", "--set",
                    "workload.dp=8", "--allow-oom", says="nccl")

    def test_layers_that_do_not_divide(self):
        """32 layers on 3 stages, and 61 and 126 on 16 as published: whole layers, as even as can be."""
        summary, _ = self.run_job("pp=3", "dp=1")
        workload = summary["config"]["workload"]
        self.assertEqual(workload["split"], "layers")
        self.assertEqual(summary["flows_completed"], summary["flows"])
        even, _ = self.run_job("pp=3", "dp=1", "layers_per_stage=[11, 11, 10]")
        self.assertEqual(even["jct_s"], summary["jct_s"])
        uneven, _ = self.run_job("pp=3", "dp=1", "layers_per_stage=[2, 28, 2]")
        self.assertGreater(uneven["jct_s"], summary["jct_s"])
        for model, stages in (("deepseek-v3", 16), ("llama3-405b", 16)):
            text = self.succeed("describe", "job.toml", "--allow-oom", "--set", f"workload.model={model}", "--set",
                                "workload.tp=1", "--set", f"workload.pp={stages}", "--set", "workload.dp=1").stdout
            self.assertRegex(text, r"\d+ or \d+ layers a stage")
        for key, says in (('split="even"', "pp may be 1, 2, 4, 8, 16, 32; or, with split = "),
                          ("layers_per_stage=[16, 16]", "has 2 numbers, the pipeline 3 stages; as even as can be are "
                                                        "2 stages of 11 and 1 stage of 10"),
                          ("layers_per_stage=[16, 15, 2]", "adds up to 33 layers, the model has 32")):
            self.refuse("run", "job.toml", "--set", "workload.pp=3", "--set", "workload.dp=1", "--set",
                        f"workload.{key}", says=says)

    def test_zero_bubble_is_quicker_than_1f1b_than_none(self):
        times = [self.run_job(f"schedule={s}", "micro_batches=2")[0]["jct_s"]
                 for s in ("zb-h1", "1f1b")]
        self.assertLess(times[0], times[1])

    def test_rings_keep_their_rails_unless_told_otherwise(self):
        """Gradients of 16 GPUs on four servers: in the given order rings cross rails and meet at spines."""
        def seconds(*sets):
            return self.run_job("tp=1", "pp=1", "dp=16", "micro_batches=1", *sets)[0]["jct_s"]
        self.assertEqual(seconds(), seconds("ring_order=rail"))
        self.assertLess(1.2 * seconds(), seconds("ring_order=given"))

    def test_buckets_keep_their_rings_at_the_wires_rate(self):
        """A rank that computes 5% longer is late for each bucket's reduction. Its ring's messages
        pile up behind it; if those of one connection shared the wire they would arrive together,
        go on together, and every further bucket would pass as one lump."""
        self.write(
            "buckets.toml",
            JOB.replace("gpus = 16", "gpus = 64").replace("gpus_per_server = 4", "gpus_per_server = 8")
            .replace("tp = 4\npp = 2\ndp = 2\nmicro_batches = 4", "tp = 8\ndp = 8")
            .replace("100Gbps", "400Gbps"),
        )
        straggler = "stragglers=[{ rank = 8, factor = 1.05 }]"
        overlap = ("overlap_gradients=true", "bucket_bytes=50MB")

        def run(*sets):
            """Iteration, and from the first all-gather's start to the last one's end."""
            summary, _ = self.run_job(straggler, *sets, scenario="buckets.toml")
            with open(self.folder / "out/collectives.csv", newline="") as file:
                rows = [row for row in csv.DictReader(file)
                        if row["kind"] == "all-gather" and row["group"] == "pp0.tp0"]
            gathering = (max(int(row["finish_ps"]) for row in rows)
                         - min(int(row["start_ps"]) for row in rows))
            return summary["jct_s"], gathering, len(rows)

        whole, whole_gathering, _ = run()
        iteration, gathering, buckets = run(*overlap)
        self.assertGreater(buckets, 50)
        self.assertLess(iteration, whole)
        self.assertLess(gathering, 1.05 * whole_gathering)
        self.assertGreater(run(*overlap, "overlapping_messages=true")[1], 2 * gathering)

    def test_overlap_and_buckets_shorten_the_iteration(self):
        apart, sent = self.run_job()
        overlapped, same = self.run_job("overlap_gradients=true", "bucket_bytes=100MB")
        self.assertLess(overlapped["jct_s"], apart["jct_s"])
        self.assertAlmostEqual(sent["dp"] / same["dp"], 1, places=4)
        # Megatron-LM's buckets unless told otherwise: 40 M parameters of 4 B; 0: no buckets.
        usual, _ = self.run_job("overlap_gradients=true")
        told, _ = self.run_job("overlap_gradients=true", "bucket_bytes=160MB")
        self.assertEqual(usual["jct_s"], told["jct_s"])
        self.assertLess(usual["jct_s"], apart["jct_s"])
        slowed, _ = self.run_job("overlap_gradients=true", "bucket_bytes=100MB",
                                 "overlap_slowdown=1")
        self.assertGreater(slowed["jct_s"], overlapped["jct_s"])

    def test_overlap_slows_operators_by_kind_and_gpu(self):
        overlap = "overlap_gradients=true", "bucket_bytes=100MB"
        free, _ = self.run_job(*overlap)
        by_gpu, _ = self.run_job(*overlap, 'overlap_slowdown="gpu"')
        by_kind, _ = self.run_job(*overlap, "overlap_slowdown={matrices=0.286,attention=0.286,memory=0.113}")
        attention, _ = self.run_job(*overlap, "overlap_slowdown={matrices=0,attention=0.286,memory=0}")
        self.assertEqual(by_gpu["jct_s"], by_kind["jct_s"])
        self.assertLess(free["jct_s"], attention["jct_s"])
        self.assertLess(attention["jct_s"], by_gpu["jct_s"])
        for value, says in (('"cpu"', "must be a number, a table or \"gpu\""), ("{matrices=1}", "'attention' is missing"),
                            ('"gpu"', "has no table [overlap]")):
            self.refuse("run", "job.toml", "--set", 'workload.gpu="V100"', "--set",
                        f"workload.overlap_slowdown={value}", says=says)

    def test_zero_3_gathers_in_both_passes_of_every_micro_batch(self):
        _, once = self.run_job("zero=1", "pp=1", "dp=4")
        _, always = self.run_job("zero=3", "pp=1", "dp=4")
        # (2 + 2 + 4) B x 4 micro-batches against 4 + 2 B.
        self.assertAlmostEqual(always["dp"] / once["dp"], 4 * 8 / 6, places=4)

    def test_a_straggler_delays_everybody(self):
        even, _ = self.run_job()
        late, _ = self.run_job("stragglers=[{rank=3,factor=2.0}]")
        self.assertGreater(late["jct_s"], 1.3 * even["jct_s"])
        # Hosts are nodes 0 to 15 here: rank 3 is host 3. One that the job does not have is no matter.
        same, _ = self.run_job("stragglers=[{host=3,factor=2.0}]")
        self.assertEqual(same["jct_s"], late["jct_s"])
        self.write("wide.toml", JOB.replace("gpus = 16", "gpus = 32"))
        even, _ = self.run_job(scenario="wide.toml")
        other, _ = self.run_job("stragglers=[{host=20,factor=2.0}]", scenario="wide.toml")
        self.assertEqual(other["jct_s"], even["jct_s"])
        self.refuse("run", "job.toml", "--set", "workload.stragglers=[{host=20,factor=2.0}]",
                    says="a switch")

    def test_out_of_memory_is_said_before_anything_runs(self):
        self.write("big.toml", JOB.replace("gpt-6.7b", "gpt-175b"))
        result = self.refuse("run", "big.toml", says=["big.toml:10", "out of memory", "weights"])
        self.assertIn("of 80.0 GB per GPU", result.stderr)
        self.assertFalse((self.folder / "runs").exists())
        for command in (("describe",), ("run", "--out", "out", "--quiet")):
            self.succeed(command[0], "big.toml", "--allow-oom", *command[1:])
        out = self.succeed("describe", "big.toml", "--set", "workload.allow_oom=true").stdout
        self.assertIn("warning: the job does not fit its GPUs", out)

    def test_describe_says_strategy_times_and_memory(self):
        out = self.succeed("describe", "job.toml", "--set", "workload.compute=roofline").stdout
        self.assertIn("schedule: 1f1b, ZeRO 1, order tp-cp-ep-dp-pp", out)
        self.assertIn("compute times: roofline", out)
        self.assertRegex(out, r"memory: [\d.]+ GB of 80.0 GB per GPU")

    def test_refusals(self):
        for key, says, *more in (("order=tp-dp", "leaves pp out"),
                          ("schedule=2f2b", "gpipe"),
                          ("zero=4", "0 to 3"),
                          ("tp=8", "needs more GPUs"),
                          ("tp=16", "needs more GPUs"),
                          ("pp=3", "needs more GPUs"),
                          ("stragglers=[{rank=99,factor=2.0}]", "rank 99"),
                          ("stragglers=[{rank=1}]", "factor"),
                          ("stragglers=[{rank=1,factor=2.0},{rank=1,factor=2.0}]", "given twice"),
                          ("tied_embeddings=true",
                           "tied_embeddings: the head of model", "model=llama-7b"),
                          ("interconnect=nvlonk", "nvlink"),
                          ("algorithms.all_reduce=sorcery", "halving-doubling"),
                          ("compute=profile", "profile")):
            with self.subTest(key=key):
                words = [word for also in more for word in ("--set", f"workload.{also}")]
                self.refuse("describe", "job.toml", "--set", f"workload.{key}", *words, says=says)

    def test_a_host_that_is_also_given_as_a_rank_is_refused(self):
        self.refuse("run", "job.toml", "--set",
                    "workload.stragglers=[{rank=3,factor=2.0},{host=3,factor=2.0}]",
                    says="given twice")

    def test_idle_gpus_are_warned_of(self):
        self.write("idle.toml", JOB.replace("pp = 2", "pp = 1").replace("dp = 2\n", "")
                   .replace("tp = 4", "tp = 1\ncp = 3\nsequence = 3072"))
        summary, _ = self.run_job(scenario="idle.toml")
        self.assertIn("1 of 16 GPUs stay idle: tp x cp x pp = 3 does not divide them",
                      summary["warnings"])

    def test_a_measured_profile_gives_the_times_of_layers(self):
        # Forward a layer: attention 1 + 20 + 300 us, MLP 2 + 4000 us; the head 6 us; backward twice.
        parts = {"layernorm": 1, "atten_qkv": 20, "atten_flash": 300, "layernorm2": 2,
                 "mlp_linear_1": 4000, "logit_time": 6}
        self.write("profile.txt", "".join(f"{name}:\n time_gpu_avg: {time}\n"
                                          for name, time in parts.items()))
        summary, _ = self.run_job("profile=profile.txt", "tp=1", "dp=1", "pp=1",
                                  "micro_batches=1", "model={base='gpt-6.7b',layers=2}")
        self.assertAlmostEqual(summary["jct_s"], 3 * (2 * 4323 + 6) * 1e-6, places=12)

    def test_tensor_parallelism_across_servers_is_asked_for(self):
        sets = ["--set", "workload.tp=8", "--set", "workload.dp=1"]
        self.refuse("describe", "job.toml", *sets, says="tp_across_servers")
        out = self.succeed("describe", "job.toml", *sets, "--set",
                           "workload.tp_across_servers=true").stdout
        self.assertRegex(out, r"\n    tp +\d+ flows")

    def test_examples_describe(self):
        for name in ("gpt175b-1024gpu", "zero-bubble-16gpu", "deepseek-v3-skew"):
            with self.subTest(example=name):
                self.assertIn("memory: ", self.succeed("describe", EXAMPLES / f"{name}.toml").stdout)

    def test_wormholes_jobs_describe(self):
        """Table 1: as many micro-batches as stages; each all-to-all is shown once a micro-batch and stage."""
        for path in sorted((SOURCE / "bench/wormhole/scenarios").glob("*.toml")):
            with self.subTest(scenario=path.stem):
                out = self.succeed("describe", path).stdout
                self.assertIn(f" on {path.stem.rsplit('-', 1)[1]} GPUs (TP8 ", out)
                by_stage = "an all-to-all per micro-batch and stage" in out
                self.assertEqual(by_stage, path.stem.startswith("moe"))

    def test_skewed_experts_cost_time(self):
        text = (EXAMPLES / "deepseek-v3-skew.toml").read_text()
        for old, new in (("gpus = 64", "gpus = 16"), ("ep = 64", "ep = 16"), ("dp = 64", "dp = 16"),
                         ("servers_per_segment = 8", "servers_per_segment = 2"),
                         ("node_limit = 4", "node_limit = 1\ngpu_memory = \"0B\"")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("experts.toml", text)
        skewed, _ = self.run_job(scenario="experts.toml")
        even, once = self.run_job("expert_skew=0.0", scenario="experts.toml")
        self.assertGreater(skewed["jct_s"], even["jct_s"])
        _, copies = self.run_job("expert_skew=0.0", "node_limit=0", scenario="experts.toml")
        # A copy to one of two servers, half of them the other one, instead of 8 copies.
        self.assertAlmostEqual(copies["ep"] / once["ep"], 8, places=2)

    def test_experts_by_stage_send_what_they_do_layer_by_layer(self):
        mixture = ("model={base='gpt-6.7b',experts=8,top_k=2}", "ep=4", "gpu_memory='0B'")
        layers, by_layer = self.run_job(*mixture)
        with open(self.folder / "out/flows.csv", newline="") as file:
            messages = sum(row["label"] == "ep" for row in csv.DictReader(file))
        stages, by_stage = self.run_job(*mixture, "detail=stage")
        with open(self.folder / "out/flows.csv", newline="") as file:
            sums = sum(row["label"] == "ep" for row in csv.DictReader(file))
        self.assertEqual(by_stage, by_layer)
        # 16 layers a stage, twice each.
        self.assertEqual(messages, 32 * sums)
        # 4 micro-batches, both ways, on 2 stages, of 8 ranks in groups of 2 replicas x 2 tensor
        # ranks, of which one is in the same server.
        self.assertEqual(sums, 4 * 2 * 2 * 8 * 2)
        self.assertAlmostEqual(stages["jct_s"] / layers["jct_s"], 1, places=1)
        with open(self.folder / "out/collectives.csv", newline="") as file:
            names = {row["kind"] for row in csv.DictReader(file)}
        self.assertIn("experts mb0", names)
        self.assertIn("experts-grad mb3", names)
        out = self.succeed("describe", "job.toml", *[word for key in (*mixture, "detail=stage")
                                                     for word in ("--set", f"workload.{key}")]).stdout
        self.assertIn("an all-to-all per micro-batch and stage", out)
        self.assertRegex(out, rf"\n +ep +{sums} flows")
        self.assertNotIn("layer by layer", out)

    def test_experts_by_stage_have_no_skew(self):
        words = [word for key in ("model={base='gpt-6.7b',experts=8,top_k=2}", "ep=4",
                                  "gpu_memory='0B'", "detail=stage", "expert_skew=1.0")
                 for word in ("--set", f"workload.{key}")]
        self.refuse("describe", "job.toml", *words, says=["job.toml:10:8", "cannot show expert_skew"])


if __name__ == "__main__":
    unittest.main()
