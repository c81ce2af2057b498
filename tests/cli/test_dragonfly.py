#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A dragonfly's routings: what each costs where all hosts of a group send to the next one, that the engines agree, and
what they do not go with."""
import csv
import json
import unittest

from support import CliTest

HOSTS = 72
GROUP = 8
SIZE = 1_000_000


def scenario(pairs, more=""):
    flows = ", ".join(f'[{a}, {b}, "{SIZE}B", 0]' for a, b in pairs)
    return (f'name = "d"\n[topology]\ntype = "dragonfly"\n[congestion]\nlaw = "dctcp"\n{more}'
            f'[workload]\ntype = "flows"\nlist = [{flows}]\n')


class Dragonfly(CliTest):
    def flows(self, folder):
        with open(self.folder / folder / "flows.csv", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def completion(self, routing, mode, *more):
        self.succeed("run", "d.toml", "--mode", mode, "--set", f"topology.routing={routing}",
                     "--out", "out", "--quiet", *more)
        return max(int(flow["received_ps"]) for flow in self.flows("out")) / 1e12

    def test_one_group_to_the_next(self):
        self.write("d.toml", scenario([(i, GROUP + i) for i in range(GROUP)]))
        # Minimal: eight hosts over the one global cable of the pair, each packet 1048 bytes on the wire.
        one = SIZE * 1.048 * 8 / 100e9
        for mode in ("packet", "flow"):
            minimal = self.completion("minimal", mode)
            self.assertGreater(minimal, GROUP * one)
            self.assertLess(minimal, GROUP * one * 1.05)
            for routing in ("shortest", "valiant"):
                self.assertLess(self.completion(routing, mode), 0.5 * minimal, routing)
        self.assertEqual(self.completion("shortest", "packet"), self.default())

    def default(self):
        self.succeed("run", "d.toml", "--mode", "packet", "--out", "plain", "--quiet")
        return max(int(flow["received_ps"]) for flow in self.flows("plain")) / 1e12

    def test_engines_agree(self):
        self.write("d.toml", scenario([(i, (i + GROUP) % HOSTS) for i in range(HOSTS)]))
        for routing in ("minimal", "valiant"):
            texts = set()
            for more in (("--threads", "1"), ("--threads", "3"), ("--no-fold",),
                         ("--set", "mode=hybrid", "--no-skip")):
                mode = "hybrid" if "--no-skip" in more else "packet"
                self.completion(routing, mode, *[m for m in more if m not in ("--set",
                                                                              "mode=hybrid")])
                texts.add((self.folder / "out/flows.csv").read_text())
            self.assertEqual(len(texts), 1, routing)
            packet = self.completion(routing, "packet")
            for mode in ("hybrid", "flow"):
                self.assertLess(abs(self.completion(routing, mode) / packet - 1), 0.05, mode)
            self.assertLess(abs(self.completion(routing, "wormhole", "--no-memo", "--audit", "100%")
                                / packet - 1), 0.05)

    def test_valiant_is_drawn_by_the_seed_and_a_perturbation(self):
        self.write("d.toml", scenario([(i, GROUP + i) for i in range(GROUP)]))

        def ports(*more):
            self.completion("valiant", "flow", *more)
            with open(self.folder / "out/ports.csv", encoding="utf-8") as file:
                return [row["tx_bytes"] for row in csv.DictReader(file)]

        plain = ports()
        self.assertEqual(plain, ports())
        self.assertNotEqual(plain, ports("--set", "seed=2"))
        self.assertNotEqual(plain, ports("--set", "perturbation=1"))
        self.completion("minimal", "flow")
        with open(self.folder / "out/ports.csv", encoding="utf-8") as file:
            minimal = [row["tx_bytes"] for row in csv.DictReader(file)]
        self.completion("minimal", "flow", "--set", "perturbation=1")
        with open(self.folder / "out/ports.csv", encoding="utf-8") as file:
            self.assertEqual(minimal, [row["tx_bytes"] for row in csv.DictReader(file)])

    def test_a_failed_cable_is_gone_round(self):
        event = '[[link_event]]\nat = "20us"\nlink = ["{}", "{}"]\n'
        self.write("d.toml", scenario([(i, GROUP + i) for i in range(GROUP)],
                                      event.format("leaf0", "leaf4") +
                                      event.format("leaf0", "leaf1")))
        for routing in ("minimal", "valiant"):
            for mode in ("packet", "flow"):
                self.completion(routing, mode)
                self.assertEqual(len(self.flows("out")), GROUP)

    def test_which_one_is_said(self):
        self.write("d.toml", scenario([(0, 9)]))
        for routing, says in (("shortest", "fewest cables, local or global"),
                              ("minimal", "at most one global cable"),
                              ("valiant", "through a random group")):
            out = self.succeed("describe", "d.toml", "--set", f"topology.routing={routing}").stdout
            self.assertIn(f"routing      {routing}: ", out)
            self.assertIn(says, out)
            self.completion(routing, "flow")
            config = json.loads((self.folder / "out/summary.json").read_text())["config"]
            self.assertEqual(config["topology"]["routing"], routing)
        self.assertIn("routing      shortest", self.succeed("describe", "d.toml").stdout)
        self.write("s.toml", '[topology]\ntype = "star"\n[workload]\ntype = "ring"\n')
        self.assertNotIn("routing", self.succeed("describe", "s.toml").stdout)
        written = self.succeed("topo", "dragonfly", "--routing", "minimal", "-o", "t.txt")
        self.assertIn("t.txt: a topology.txt has no routing", written.stderr)

    def test_what_it_does_not_go_with(self):
        self.write("d.toml", scenario([(0, 9)]))
        valiant = ("--set", "topology.routing=valiant")
        self.refuse("run", "d.toml", "--set", "topology.routing=ugal",
                    says=["shortest, minimal, valiant"])
        self.refuse("run", "d.toml", *valiant, "--set", "network.load_balance=spray",
                    says=["'routing' is \"valiant\"", "load_balance", '"shortest", "minimal"'])
        self.refuse("run", "d.toml", *valiant, "--set", "network.sprayed_priorities=[3]",
                    says="sprayed_priorities")
        self.succeed("run", "d.toml", "--set", "topology.routing=minimal", "--set",
                     "network.load_balance=spray", "--quiet")
        for routing in ("minimal", "valiant"):
            self.refuse("run", "d.toml", "--set", f"topology.routing={routing}", "--set",
                        "network.arithmetic=ns3", says=["'routing' is for network.arithmetic"])
        self.write("paths.csv", "src,dst,sport,path\n")
        self.refuse("run", "d.toml", *valiant, "--paths", "paths.csv", says="--paths")
        self.write("stream.toml", '[topology]\ntype = "dragonfly"\nrouting = "valiant"\n[workload]\n'
                                  'type = "stream"\noperations = 30\nbytes = "1KB"\n')
        self.refuse("run", "stream.toml", says=["valiant", "a streamed job", '"minimal"'])
        self.write("star.toml", '[topology]\ntype = "star"\nrouting = "minimal"\n[workload]\n'
                                'type = "ring"\n')
        self.refuse("run", "star.toml", says='unknown key "routing"')


if __name__ == "__main__":
    unittest.main()
