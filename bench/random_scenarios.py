# SPDX-License-Identifier: Apache-2.0
"""Random scenarios, small ones: every topology, law, workload and switch of behaviour comes up."""

LAWS = ["hpcc", "dcqcn", "timely", "dctcp", "none"]


def table(name, keys):
    lines = [name] if name else []
    for key, value in keys.items():
        if isinstance(value, bool):
            value = str(value).lower()
        elif isinstance(value, str) and not value.startswith(("[", "{")):
            value = f'"{value}"'
        lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n"


def chance(draw, share):
    return draw.random() < share


def microseconds(draw, most):
    return f"{draw.randrange(most * 1000)}ns"


# --- topologies: keys and the number of hosts -------------------------------------------------------

def topology(draw):
    two = draw.choice([2, 3])
    choices = [
        ({"type": "dumbbell", "left_hosts": two, "right_hosts": 4,
          "bottleneck_rate": draw.choice(["100Gbps", "40Gbps"])}, two + 4),
        ({"type": "star", "hosts": 4 * two}, 4 * two),
        ({"type": "leaf-spine", "leaves": 4, "spines": two, "hosts_per_leaf": 4,
          "gpus_per_server": draw.choice([1, 4])}, 16),
        ({"type": "fat-tree", "k": 4}, 16),
        ({"type": "rail-optimized", "gpus": 16, "gpus_per_server": 4, "servers_per_segment": 2}, 16),
        ({"type": "rail-optimized", "gpus": 16, "gpus_per_server": 4, "nvswitches_per_server": 1}, 16),
        ({"type": "three-tier", "pods": 2, "leaves_per_pod": 2, "hosts_per_leaf": 4,
          "aggs_per_pod": 2, "cores": 2, "leaf_oversubscription": "2:1"}, 16),
        ({"type": "full-mesh", "switches": 4, "hosts_per_switch": 4}, 16),
        ({"type": "torus", "dimensions": "[4, 3]"}, 12),
        ({"type": "dragonfly", "routers_per_group": 2, "hosts_per_router": 2,
          "global_cables_per_router": 1}, 12),
        ({"type": "bcube", "n": 4, "k": 1}, 16),
        ({"type": "spectrum-x", "gpus": 16, "psws": 2, "asws_per_psw": 16}, 16),
        ({"type": "dcn-plus", "gpus": 16, "psws": 2, "dual_tor": chance(draw, 0.5)}, 16),
        ({"type": "alibaba-hpn", "gpus": 16, "psws": 4}, 16),
    ]
    keys, hosts = draw.choice(choices)
    if keys["type"] not in ("spectrum-x", "dcn-plus", "alibaba-hpn"):
        keys["rate"] = draw.choice(["100Gbps", "100Gbps", "200Gbps", "400Gbps"])
    keys["delay"] = draw.choice(["1us", "1us", "500ns", "3us", "10ns"])
    if chance(draw, 0.15):
        keys["loss"] = draw.choice([1e-4, 1e-3])
    return keys, hosts


# --- workloads --------------------------------------------------------------------------------------

def flows(draw, hosts):
    rows = []
    for _ in range(draw.randrange(1, 40)):
        src, dst = draw.sample(range(hosts), 2)
        rows.append(f'[{src}, {dst}, "{draw.choice([1, 999, 5000, 100_000, 1_000_000])}B", '
                    f'"{microseconds(draw, 200)}"]')
    return {"type": "flows", "list": f"[{', '.join(rows)}]"}


def pattern(draw, hosts):
    keys = {"type": draw.choice(["permutation", "ring", "incast"]),
            "size": draw.choice(["20KB", "300KB", "2MB", "8MB", "30MB"]), "jitter": draw.choice(["0s", "5us"])}
    if keys["type"] == "incast":
        keys["senders"] = draw.randrange(1, hosts)
    return keys


def poisson(draw, hosts):
    del hosts
    return {"type": "poisson", "cdf": draw.choice(["WebSearch", "FbHadoop", "GoogleRPC2008"]),
            "load": draw.choice([0.2, 0.5, 0.8]), "duration": "200us"}


def collective(draw, hosts):
    kind = draw.choice(["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast",
                        "reduce"])
    algorithms = {"all-reduce": ["ring", "tree", "halving-doubling", "hierarchical", "direct"],
                  "all-to-all": ["direct", "pairwise", "pxn"]}
    keys = {"type": "collective", "kind": kind, "size": draw.choice(["64KiB", "1MiB", "3000000B"]),
            "algorithm": draw.choice(["automatic", *algorithms.get(kind, ["automatic"])])}
    if chance(draw, 0.3):
        keys["chunk"] = "32KiB"
    if chance(draw, 0.3):
        keys["channels"] = 2
    if chance(draw, 0.3):
        keys["group_size"] = hosts // 2
    if chance(draw, 0.3):
        keys["intra_node"] = "network"
    return keys


def bare_collective(draw, hosts):
    del hosts
    return {"type": draw.choice(["ring-all-reduce", "ring-reduce-scatter", "ring-all-gather",
                                 "all-to-all"]),
            "size": draw.choice(["500KB", "4MB"]), "start": microseconds(draw, 20)}


def training(draw, hosts):
    pp = draw.choice([d for d in (1, 2, 4) if hosts % d == 0])
    keys = {"type": "training", "pp": pp, "dp": hosts // pp,
            "micro_batches": draw.choice([4, 8]), "sequence": 64, "forward_time": "5us",
            "backward_time": "9us", "gpu_memory": "0B",
            "schedule": draw.choice(["1f1b", "gpipe", "zb-h1"]), "zero": draw.choice([0, 1, 2]),
            "overlap_gradients": chance(draw, 0.4)}
    if chance(draw, 0.5):
        keys["model"] = "{ layers = 4, hidden = 256, heads = 4, vocabulary = 1000 }"
    else:
        keys["model"] = ("{ layers = 4, hidden = 256, heads = 4, vocabulary = 1000, experts = 8, "
                         "top_k = 2 }")
        keys["ep"] = 2 if keys["dp"] % 2 == 0 else 1
        keys["expert_skew"] = draw.choice([0, 0.5])
    if keys["overlap_gradients"]:
        keys["bucket_bytes"] = "1MB"
    return keys


def goal(draw, hosts):
    """Every rank computes, sends to a rank a step away and waits for the one a step behind."""
    steps = [draw.randrange(1, hosts) for _ in range(draw.randrange(1, 5))]
    sizes = [draw.choice([8, 5000, 200_000]) for _ in steps]
    lines = [f"num_ranks {hosts}"]
    for rank in range(hosts):
        lines.append(f"rank {rank} {{")
        for i, (step, size) in enumerate(zip(steps, sizes)):
            lines += [f"c{i}: calc {draw.randrange(5000)}",
                      f"s{i}: send {size}b to {(rank + step) % hosts} tag {i}",
                      f"r{i}: recv {size}b from {(rank - step) % hosts} tag {i}",
                      f"s{i} requires c{i}"]
            if i > 0:
                lines += [f"c{i} requires r{i - 1}", f"c{i} requires s{i - 1}"]
        lines.append("}")
    return {"type": "goal", "file": "work.goal"}, {"work.goal": "\n".join(lines) + "\n"}


def matrix(draw, hosts):
    """A chain of triggers, and flows by start time."""
    pairs = [draw.sample(range(hosts), 2) for _ in range(6)]
    lines = [f"Nodes {hosts}", f"Connections {len(pairs)}", "Triggers 2"]
    ways = ["start 0 size 100000 recv_done_trigger 1", "start 1000000 size 9000 send_done_trigger 2",
            "trigger 1 size 5000 send_done_trigger 2", "trigger 2 size 300000", "start 7 size 1000000",
            "trigger 1 size 70000"]
    lines += [f"{src}->{dst} id {i + 1} {way}" for i, ((src, dst), way) in enumerate(zip(pairs, ways))]
    lines += ["trigger id 1 oneshot", "trigger id 2 barrier count 2"]
    return {"type": "htsim", "file": "work.cm"}, {"work.cm": "\n".join(lines) + "\n"}


def aicb(draw, hosts):
    degree = draw.choice([d for d in (1, 2, 4) if hosts % d == 0])
    layer = (f"mlp_layer -1 5000 ALLREDUCE {draw.choice([40_000, 1_000_000])} 5000 ALLREDUCE 100000 "
             "5000 NONE 0 100")
    text = (f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {degree} ep: 1 pp: 1 vpp: 1 "
            f"ga: 1 all_gpus: {hosts} checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n3\n"
            "grad_param_comm -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 400000 100\n" + 2 * (layer + "\n"))
    return {"type": "aicb", "file": "work.txt"}, {"work.txt": text}


WORKLOADS = [flows, pattern, poisson, collective, bare_collective, training, goal, matrix, aicb]


def priorities(draw, kind):
    """Classes of traffic by what messages are of."""
    classes = {"training": ["dp", "pp", "ep", "embedding"], "aicb": ["tp", "dp"]}
    drawn = [cls for cls in classes.get(kind, ["collective", "other"]) if chance(draw, 0.6)]
    return "{ " + ", ".join(f"{cls} = {draw.randrange(1, 8)}" for cls in drawn) + " }"


def workloads(draw, hosts):
    """One or two tables; the second has start times only, as connection matrices stand no jobs."""
    made = draw.choice(WORKLOADS)(draw, hosts)
    keys, files = made if isinstance(made, tuple) else (made, {})
    tables = [keys]
    if "algorithm" in keys and chance(draw, 0.3):
        keys["placement"] = "random"
    if chance(draw, 0.25):
        tables.append(draw.choice([flows, pattern, poisson])(draw, hosts))
    for keys in tables:
        if chance(draw, 0.3):
            keys["priority"] = draw.randrange(1, 8)
        if keys["type"] not in ("flows", "permutation", "ring", "incast", "poisson") and chance(draw, 0.4):
            keys["priorities"] = priorities(draw, keys["type"])
    return tables, files


# --- devices ----------------------------------------------------------------------------------------

def network(draw):
    tables = {"[network]": {"payload": draw.choice([1000, 1000, 4096, 9000, 500])}}
    keys = tables["[network]"]
    if chance(draw, 0.25):
        keys["load_balance"] = "spray"
    elif chance(draw, 0.15):
        keys["sprayed_priorities"] = sorted(draw.sample(range(1, 8), draw.randrange(1, 8)))
    if chance(draw, 0.3):
        keys["pfc"] = False
    if chance(draw, 0.1):
        keys["arithmetic"] = "ns3"
    nic = tables["[network.nic]"] = {}
    if chance(draw, 0.25) and "arithmetic" not in keys:
        nic["ack_every"] = draw.choice([2, 4, 7])
    if chance(draw, 0.25):
        nic.update(draw.choice([{"ack_chunk": 0}, {"back_to_zero": True}]))
    for share, key, value in ((0.2, "global_base_rtt", False), (0.2, "retransmit_timeout", "300us")):
        if chance(draw, share):
            nic[key] = value
    buffer = tables["[network.buffer]"] = {}
    if chance(draw, 0.35):
        buffer["size"] = draw.choice(["2MiB", "4MiB", "8MiB"])
    for share, key, value in ((0.2, "alpha_shift", 1), (0.2, "headroom_factor", 5),
                              (0.2, "egress_alpha", draw.choice([0.25, 0.0])),
                              (0.1, "resume_offset", "1000B")):
        if chance(draw, share):
            buffer[key] = value
    ecn = tables["[network.ecn]"] = {}
    if chance(draw, 0.2):
        ecn.update({"kmin": "20KB", "kmax": "100KB", "pmax": 0.5})
    elif chance(draw, 0.1):
        ecn["enabled"] = False
    queues = tables["[network.queues]"] = {}
    if chance(draw, 0.2) and "arithmetic" not in keys:
        queues["weights"] = "[1, 2, 3, 4, 5, 6, 7]"
    if chance(draw, 0.3) and "arithmetic" not in keys:
        queues["scheduler"] = "strict"
    for share, key, value in ((0.2, "ack_strict_in_switch", True), (0.1, "ack_strict_at_host", False),
                              (0.1, "ack_pause_class", 0)):
        if chance(draw, share):
            queues[key] = value
    return tables


def congestion(draw):
    law = draw.choice(LAWS)
    keys = {"law": law}
    for share, key, value in ((0.15, "min_rate", "100Mbps"), (0.1, "pacing", False),
                              (0.2, "window", draw.choice([True, False])),
                              (0.2, "variable_window", draw.choice([True, False]))):
        if chance(draw, share):
            keys[key] = value
    tables = {"[congestion]": keys}
    own = {"hpcc": {"max_stage": 0, "multi_rate": True, "additive_rate": "200Mbps"},
           "dcqcn": {"increase_interval": "50us", "hyper_rate": "1Gbps", "clamp_target_rate": True},
           "timely": {"t_low": "10us", "t_high": "100us", "hyper_after": 2},
           "dctcp": {"gain": 0.25}, "none": {}}[law]
    chosen = {key: value for key, value in own.items() if chance(draw, 0.4)}
    if chosen:
        tables[f"[congestion.{law}]"] = chosen
    return tables


def phases(draw):
    keys = {}
    for key, values in (("scope", ["network"]), ("rates", ["maxmin"]), ("restore", ["empty"]),
                        ("detector", ["inflight", "queue", "hygra"]), ("growth", [2]),
                        ("longest_skip", ["100us"])):
        if chance(draw, 0.2):
            keys[key] = draw.choice(values)
    return keys


def link_events(draw, shape, hosts):
    """A cable fails, mostly for a while. Where there is a fabric, it may be one of its cables."""
    if not chance(draw, 0.2):
        return []
    link = draw.randrange(hosts if shape in ("star", "dumbbell") else hosts + hosts // 2)
    at = draw.randrange(5, 300)
    events = [{"at": f"{at}us", "link": link}]
    if chance(draw, 0.9):
        events.append({"at": f"{at + draw.randrange(5, 300)}us", "link": link, "up": True})
    return events


def make(draw, number):
    """The files of one scenario by name, the scenario first."""
    shape, hosts = topology(draw)
    tables, files = workloads(draw, hosts)
    text = table("", {"seed": draw.randrange(1, 1000), "stop": draw.choice(["2ms", "4ms", "20ms"])})
    text += table("[topology]", shape)
    for name, keys in {**network(draw), **congestion(draw), "[phases]": phases(draw)}.items():
        text += table(name, keys)
    for keys in tables:
        text += table("[[workload]]", keys)
    for event in link_events(draw, shape["type"], hosts):
        text += table("[[link_event]]", event)
    text += table("[output]", {"fct": chance(draw, 0.5), "trace": chance(draw, 0.5)})
    return {f"random-{number}.toml": text, **files}
