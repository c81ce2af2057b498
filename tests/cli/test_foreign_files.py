#!/usr/bin/env python3
"""Files as other projects have them: AICB's, Chakra's, PyTorch's; and files that would take memory
out of proportion."""
import gzip
import json
import unittest

from support import CliTest

NETWORK = """[topology]
type = "star"
hosts = 8
gpus_per_server = 4
rate = "100Gbps"
delay = "1us"
[workload]
type = "aicb"
file = "{}"
"""
ROW = "CommType.{},CommGroup.{},{}{},stage,None,None,,None,None,None,1\n"
COLUMNS = "comm_type,comm_group,{}msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n"
LAYER = "mlp_layer -1 5000 ALLREDUCE 1000000 5000 ALLREDUCE 1000000 5000 NONE 0 100\n"
HEADER = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 ga: 1 "
          "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n")


class Aicb(CliTest):
    def scenario(self, name, text, more=""):
        self.write(name, text)
        self.write("s.toml", NETWORK.format(name) + more)

    def test_a_csv_without_group_sizes_and_with_a_pipelines_group_runs(self):
        self.scenario("a.csv", COLUMNS.format("") + ROW.format("all_gather", "dp_group", "", 4096))
        self.assertIn("56 of 56 completed", self.succeed("run", "s.toml").stdout)
        self.scenario("a.csv", "[ pp_stage0: [rank0, rank1, rank2, rank3] ]\n" +
                      COLUMNS.format("comm_group_size,") +
                      ROW.format("all_reduce", "pp_group", "2,", 8) +
                      ROW.format("all_reduce", "pp_group", "1,", 8) +
                      ROW.format("all_reduce", "tp_group", "2,", 4096) +
                      "[ pp_stage1: [rank4, rank5, rank6, rank7] ]\n" +
                      ROW.format("all_reduce", "tp_group", "2,", 4096))
        result = self.succeed("run", "s.toml")
        self.assertIn("on 4 GPUs (TP2", result.stdout)
        self.assertIn("a.csv:3: doubtful: all_reduce of pp_group", result.stderr)
        self.assertIn("a.csv:6: doubtful: another pipeline stage's rows", result.stderr)

    def test_too_many_operations_say_how_many_rows_fit_before_memory_is_taken(self):
        rows = ROW.format("all_reduce", "dp_group", "", 4096) * 20
        self.scenario("a.csv", COLUMNS.format("") + rows, "operations = 500\n")
        self.refuse("describe", "s.toml", says="at most 500 are built: rows = 2 takes the first")
        self.scenario("a.csv", COLUMNS.format("") + rows, "operations = 500\nrows = 2\n")
        self.assertIn("(2 collectives)", self.succeed("run", "s.toml").stdout)
        self.write("huge.csv", COLUMNS.format("") +
                   ROW.format("all_reduce", "dp_group", "", 4096).replace("None,1\n",
                                                                          "None,1000000\n"))
        self.write("s.toml", NETWORK.format("huge.csv"))
        self.refuse("run", "s.toml", says="GB of memory; at most 2e+07 are built")
        self.scenario("w.txt", HEADER + "3\n" + LAYER * 3, "operations = 5\n")
        self.refuse("run", "s.toml", says="at most 5 are built. Ask for fewer GPUs, layers (rows;")

    def test_a_truncated_workload_says_what_runs(self):
        self.scenario("w.txt", HEADER + "9\n" + LAYER * 2)
        self.refuse("run", "s.toml", says="the file ends after 2 of 9 layers; rows = 2")
        self.scenario("w.txt", HEADER + "9\n" + LAYER * 2, "rows = 2\n")
        self.assertIn("(2 layers)", self.succeed("run", "s.toml").stdout)

    def test_the_dlrm_header_of_chakras_converter(self):
        self.scenario("d.txt", "HYBRID_DLRM 1\n3\n" + LAYER * 3)
        self.succeed("run", "s.toml")
        self.scenario("d.txt", "HYBRID_DLRM 7\n3\n" + LAYER * 3)
        self.refuse("run", "s.toml", says="DLRM_LAST_BOTTOM_LAYER names layer 7")

    def test_layers_that_do_not_come_ga_times_are_told(self):
        def run(ga, layers, *more):
            count = layers.count("\n")
            self.scenario("w.txt", HEADER.replace("ga: 1", f"ga: {ga}") + f"{count}\n" + layers)
            result = self.succeed("run", "s.toml", "--mode", "flow", *more)
            flows = (self.folder / "runs/s/flows.csv").read_text()
            return result.stderr, flows

        embedding = LAYER.replace("mlp_layer", "embedding_layer")
        quiet, once = run(1, embedding + 2 * LAYER)
        self.assertEqual(quiet, "")
        said, flows = run(4, embedding + 2 * LAYER)
        self.assertEqual(flows, once)
        self.assertIn("w.txt:1: doubtful: ga is 4, but no run of layers comes 4 times: layers 0 to "
                      "2, from \"embedding_layer\" on, are one micro-batch, and run once, as in "
                      "SimAI", said)
        # AICB's: the layers of all micro-batches. ga repeats nothing.
        quiet, four = run(4, 4 * (embedding + 2 * LAYER))
        self.assertEqual(quiet, "")
        self.assertEqual(len(four.splitlines()) - 1, 4 * (len(once.splitlines()) - 1))
        self.assertEqual(run(1, 4 * (embedding + 2 * LAYER))[1], four)

    def test_simai_analyticals_command_line_is_known(self):
        self.write("w.txt", HEADER + "1\n" + LAYER)
        self.refuse("simai", "-w", "w.txt", "-g", "8", "-nv", "360", "-nic", "48.5",
                    says="use --analytical")


class Chakra(CliTest):
    def setUp(self):
        super().setUp()
        self.write("system.json", json.dumps({"all-reduce-implementation": ["ring"],
                                              "preferred-dataset-splits": 1}))
        self.write("ring.yml", "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\n"
                   "latency: [ 500.0 ]\n")
        self.succeed("chakra", "generate", "--collective", "all_reduce", "--ranks", 4, "-o", "ar")

    def astra(self, workload, *more):
        return self.sluice("astra", f"--workload-configuration={workload}",
                           "--system-configuration=system.json",
                           "--network-configuration=ring.yml", *more)

    def cycles(self, *arguments):
        result = self.astra(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line for line in result.stdout.splitlines() if "finished" in line]

    def test_group_0_may_list_all_ranks_and_names_be_floats(self):
        plain = self.cycles("ar")
        self.write("groups.json", '{"0": [0, 1, 2, 3]}')
        self.assertEqual(self.cycles("ar", "--comm-group-configuration=groups.json"), plain)
        self.write("groups.json", '{"0": [0, 1, 2]}')
        result = self.astra("ar", "--comm-group-configuration=groups.json")
        self.assertEqual(result.returncode, 2)
        self.assertIn("0 stands for all ranks, 0 to 3, and does not list them", result.stderr)
        for name in ("0.0", "0"):
            for rank in range(4):
                node = {"id": "1", "name": "x", "type": "COMM_COLL_NODE", "attr": [
                    {"name": "comm_type", "int64Val": "0"},
                    {"name": "comm_size", "int64Val": "1048576"},
                    {"name": "pg_name", "stringVal": name}]}
                self.write(f"g.{rank}.json", json.dumps([node]))
            self.assertEqual(len(self.cycles("g")), 4)

    def test_protobuf_named_json_is_read(self):
        plain = self.cycles("ar")
        for rank in range(4):
            (self.folder / f"pj.{rank}.json").write_bytes(
                (self.folder / f"ar.{rank}.et").read_bytes())
        self.assertEqual(self.cycles("pj"), plain)

    def test_pytorchs_own_traces_name_the_tools(self):
        for text in ('{"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": []}',
                     '{"schemaVersion": 1, "traceEvents": []}'):
            self.write("p.0.json", text)
            result = self.sluice("chakra", "lint", "p.0.json")
            self.assertEqual(result.returncode, 2)
            said = result.stdout + result.stderr
            self.assertIn("chakra_trace_link", said)
            self.assertIn("chakra_converter", said)

    def test_small_files_do_not_take_much_memory(self):
        (self.folder / "d.0.json").write_text("[" * 100_000)
        (self.folder / "z.0.json.gz").write_bytes(gzip.compress(b"[" * 60_000_000))
        (self.folder / "e.0.et.gz").write_bytes(gzip.compress(b"\1\x08" * 30_000_000))
        for name, says in (("d.0.json", "is nested more than 200 deep"),
                           ("z.0.json.gz", "times its size and 16 MiB"),
                           ("e.0.et.gz", "")):
            result = self.sluice("chakra", "lint", name)
            self.assertEqual(result.returncode, 2)
            self.assertIn(says, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
