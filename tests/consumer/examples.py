#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds one of the projects in examples/ against the installed package, runs it, and checks its numbers.

usage: examples.py NAME --prefix DIR --work DIR [--cmake PROGRAM] [--generator G] [--compiler C] [--config C] [--flags F]
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

LONGEST = 60  # lines of a first program, and of what docs/testbench-examples.md shows of it
PAGE = "docs/testbench-examples.md"
LINE_RATE = 100e9  # bits/s, of every example's cables
FRAME = 1048 / 1000  # bytes on the wire for one of payload, without INT


def numbers(pattern, text):
    """The groups of the only line that `pattern` matches, as numbers."""
    found = re.findall(f"^{pattern}$", text, re.M)
    assert len(found) == 1, f"{len(found)} lines match {pattern}:\n{text}"
    groups = found[0] if isinstance(found[0], tuple) else [found[0]]
    return [float(group) for group in groups]


def check_testbench_dma(text):
    left, right, us = numbers(r"received (\d+) and (\d+) bytes in ([\d.]+) us", text)
    whole = sum(20_000 + 333 * step for step in range(100))
    assert left == right == whole, (left, right, whole)
    # Each step: 1 to 5 us of computation, the block at line rate behind four cables of 1 us.
    wires = 100 * 4 + whole * 8 / LINE_RATE * 1e6
    assert 100 + wires < us < 500 + 1.3 * wires, (us, wires)


def check_switch_policy(text):
    pattern = r"(\d+) packets dropped, complete after ([\d.]+) us"
    drops, us = numbers(f"plain: {pattern}", text)
    own_drops, own_us = numbers(f"own: {pattern}", text)
    ideal = 16 * 500_000 * FRAME * 8 / LINE_RATE * 1e6
    assert own_drops < drops / 2 and drops > 100, (drops, own_drops)
    assert ideal < own_us < us < 1.2 * ideal, (ideal, own_us, us)


def check_own_law(text):
    pattern = r"a queue of up to (\d+) bytes, complete after ([\d.]+) us"
    queue, us = numbers(f"none: {pattern}", text)
    own_queue, own_us = numbers(f"own: {pattern}", text)
    ideal = 8 * 2_000_000 * FRAME * 8 / LINE_RATE * 1e6
    assert queue > 10e6 and own_queue < queue / 5, (queue, own_queue)
    assert ideal < us < 1.1 * ideal and ideal < own_us < 1.5 * ideal, (ideal, us, own_us)


def check_in_network_reduction(text):
    pattern = r"(\d+) hosts finished, ([\d.]+) us an iteration"
    hosts, ring = numbers(f"ring: {pattern}", text)
    reduced_hosts, reduced = numbers(f"in the switch: {pattern}", text)
    most, left = numbers(r"packets in the switch: at most (\d+), (\d+) at the end", text)
    assert hosts == reduced_hosts == 8, (hosts, reduced_hosts)
    # A ring sends 2 (8 - 1) / 8 of the gradients by every cable, in 14 steps of a round trip or more; the switch all
    # of them once. The slowest host computes for 207 us.
    whole = 4_000_000 * FRAME * 8 / LINE_RATE * 1e6
    assert 207 + 14 / 8 * whole + 14 * 2 < ring < 207 + 1.2 * 14 / 8 * whole + 14 * 4, ring
    assert 207 + whole < reduced < 207 + 1.2 * whole, reduced
    # A window of each host at most, of a round trip at line rate.
    assert 8 < most < 8 * 100 and left == 0, (most, left)


def check_cci_parameters(text):
    for line in ('net.congestion.law = "timely" (preset)', "net.workload.senders = 8 (preset)",
                 'net.network.buffer.size = "4MiB"', "net.network.ecn.pmax = 0.2", "net.network.pfc = true",
                 "net.network.payload = 1000 (preset)"):
        assert line in text.splitlines(), (line, text)
    flows, _ = re.search(r"^(\d+) flows complete at (.*)$", text, re.M).groups()
    assert int(flows) == 8, text


CHECKS = {
    "cci-parameters": check_cci_parameters,
    "testbench-dma": check_testbench_dma,
    "switch-policy": check_switch_policy,
    "own-law": check_own_law,
    "in-network-reduction": check_in_network_reduction,
}
# What a program is run with: a scenario of the installed examples, and what else.
ARGUMENTS = {
    "cci-parameters": ["incast.toml", 'net.congestion.law="timely"', "net.workload.senders=8", "net.network.payload=1000"],
}
# What it takes, too.
TAKEN = {
    "cci-parameters": [
        ["incast.toml", 'net.workload={"type": "flows", "list": [[0, 1, "1MB"]]}'],
        ["incast.toml", 'net.workload.receiver="host2"'],
        ["link-failure.toml", "net.link_event.0.link=[8, 10]"],
    ],
}
# Arguments that it refuses, with code 2 and a line that begins so.
REFUSED = {
    "cci-parameters": [
        (["incast.toml", 'net.congestion.lawn="timely"'], "CCI preset net.congestion.lawn: unknown key"),
        (["incast.toml", 'net.workload.senders="all"'], "CCI preset net.workload.senders: "),
        (["incast.toml", "net.network.ecn.pmax=null"], "CCI preset net.network.ecn.pmax: has no value"),
        (["incast.toml", "net.network.ecn.pmax=[1]"], "CCI preset net.network.ecn.pmax: "),
    ],
}
SHOWN = ["testbench-dma", "switch-policy", "own-law"]


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}")
    return done.stdout


def command(build, examples, name, arguments):
    return [str(build / name)] + [str(examples / word) if word.endswith(".toml") else word for word in arguments]


def check_page(prefix, name):
    """The installed page shows the installed program, whole."""
    docs = prefix / "share/doc/sluice"
    code = (docs / "examples" / name / "main.cpp").read_text(encoding="utf-8")
    if len(code.splitlines()) > LONGEST and name != "own-law":
        sys.exit(f"examples/{name}/main.cpp has {len(code.splitlines())} lines; at most {LONGEST}")
    if code[code.index("#include"):] not in (docs / PAGE).read_text(encoding="utf-8"):
        sys.exit(f"{PAGE} does not show examples/{name}/main.cpp as it is")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(CHECKS))
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--generator", default="Ninja")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--config", default="Release")
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    prefix = options.prefix.resolve()
    if options.name in SHOWN:
        check_page(prefix, options.name)
    build = options.work / options.name
    shutil.rmtree(build, ignore_errors=True)
    source = prefix / "share/doc/sluice/examples" / options.name
    run(options.cmake, "-S", str(source), "-B", str(build), "-G", options.generator,
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_BUILD_TYPE={options.config}",
        f"-DCMAKE_CXX_COMPILER={options.compiler}", f"-DCMAKE_CXX_FLAGS={options.flags}")
    run(options.cmake, "--build", str(build))
    examples = prefix / "share/doc/sluice/examples"
    text = run(*command(build, examples, options.name, ARGUMENTS.get(options.name, [])))
    print(text)
    CHECKS[options.name](text)
    for arguments in TAKEN.get(options.name, []):
        run(*command(build, examples, options.name, arguments))
    for arguments, message in REFUSED.get(options.name, []):
        done = subprocess.run(command(build, examples, options.name, arguments), capture_output=True, text=True)
        # Behind the lines with which SystemC begins.
        assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith(message), done


if __name__ == "__main__":
    main()
