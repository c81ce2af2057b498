# SPDX-License-Identifier: Apache-2.0
"""What users of other simulators ran into, or asked for, in public threads."""
import collections

from lab import near, percent, situation

FLOWS = '[workload]\ntype = "flows"\nlist = %s\n'


def star(hosts=4, more=""):
    return f'name = "s"\n[topology]\ntype = "star"\nhosts = {hosts}\n{more}\n'


def completed(summary):
    return f"{summary['flows_completed']} of {summary['flows']} flows completed"


def all_completed(summary):
    return completed(summary), summary["flows"] > 0 and summary["flows_completed"] == summary["flows"]


def training(more, servers=4, rate="400Gbps"):
    return (f'name = "t"\n[topology]\ntype = "rail-optimized"\ngpus = {8 * servers}\ngpus_per_server = 8\n'
            f'rate = "{rate}"\n[workload]\ntype = "training"\ngpu = "H100"\nallow_oom = true\n{more}\n')


@situation("SimAI #47, #94, #186, #214", "an input file is missing",
           "a message that names the file, no crash (the original: a segmentation fault)")
def missing_file(lab):
    result = lab.sluice("simai", "-w", "none.txt", "-n", "nowhere", "-c", "SimAI.conf")
    return result.stderr.strip(), result.returncode == 2 and "none.txt" in result.stderr


@situation("SimAI #174", "a cable of 10 ms, 20 MB under DCQCN", "the flow ends, and nothing is sent twice")
def long_cable(lab):
    summary = lab.run(star(2, 'delay = "10ms"') + '[congestion]\nlaw = "dcqcn"\n' + FLOWS % '[[0, 1, "20MB"]]',
                      "--mode", "packet")
    sent = int(next(row["tx_bytes"] for row in lab.rows("ports.csv") if row["node"] == "0"))
    words, done = all_completed(summary)
    return f"{words}, {sent / 20e6:.3f} bytes sent for each", done and sent < 1.06 * 20e6


@situation("SimAI #119", "packets are lost with a probability of 0.1%", "the job ends (the original stalls)")
def losses(lab):
    return all_completed(lab.run(star(8, "loss = 0.001") + '[workload]\ntype = "ring-all-reduce"\nsize = "8MB"\n'))


@situation("SimAI #59", "a cable between leaf and spine fails in the middle of an all-reduce, and stays down",
           "the job ends, later than without the failure")
def failure(lab):
    text = ('name = "f"\n[topology]\ntype = "leaf-spine"\n[workload]\ntype = "ring-all-reduce"\nsize = "16MB"\n'
            'channels = 4\n')
    whole = lab.run(text)["jct_s"]
    summary = lab.run(text + '[[link_event]]\nat = "500us"\nlink = ["leaf0", "spine1"]\n')
    words, done = all_completed(summary)
    return f"{words}, {percent(summary['jct_s'], whole)}", done and summary["jct_s"] > whole


@situation("SimAI #62, #163, #270, #283", "pipelines of 4 stages, 8 micro-batches of 3 ms, messages of no weight",
           "(8 + 3) x 3 ms = 33 ms, the formula of 1F1B (the original knows none, or hangs)")
def pipeline(lab):
    model = '[workload.model]\nlayers = 4\nhidden = 64\nheads = 4\nvocabulary = 64\n'
    summary = lab.run(training('pp = 4\ndp = 8\nmicro_batches = 8\nforward_time = "1ms"\nbackward_time = "2ms"\n'
                               'sequence = 16\n' + model))
    return f"{summary['jct_s'] * 1e3:.2f} ms", near(summary["jct_s"], 33e-3, 1)


@situation("SimAI #140, #179", "rings of 13B's data parallelism on 16 GPUs with NVSwitches, tp = 2",
           "rings of 8 (the original counts NVSwitches as ranks: 9, and hangs)")
def ring_size(lab):
    lab.run('name = "r"\n[topology]\ntype = "spectrum-x"\ngpus = 16\nnics_per_asw = 2\npsws = 8\nasws_per_psw = 8\n[workload]\ntype = "training"\n'
            'model = "gpt-13b"\ntp = 2\ndp = 8\ngpu = "A100"\nallow_oom = true\n', "--mode", "flow")
    sizes = collections.Counter(row["ranks"] for row in lab.rows("collectives.csv") if row["group"].startswith("pp0.tp"))
    return f"groups of {', '.join(sizes)}", set(sizes) == {"8"}


@situation("astra-sim #339, #137; SimAI #248", "a rank waits for a message that nobody sends",
           "the run does not hang: it names the rank and what it waits for")
def missing_peer(lab):
    lab.write("c.goal", "num_ranks 2\nrank 0 {\nl1: recv 100b from 1 tag 1\n}\nrank 1 {\nl1: calc 10\n}\n")
    result = lab.sluice("goal", "c.goal")
    return (result.stderr.strip().split("\n")[0],
            result.returncode != 0 and "rank 0" in result.stderr and "from rank 1" in result.stderr)


@situation("SimAI #208; astra-sim #207, #139", "a faster network changes nothing, as all traffic is inside servers",
           "the run says that no traffic crosses NICs")
def nothing_crosses(lab):
    lab.write("run.toml", training('model = "gpt-7b"\ntp = 8\ndp = 1\n', servers=1))
    text = lab.output("run", "run.toml", "--no-memo")
    lines = [line.strip() for line in text.split("\n") if "NIC" in line or "nic" in line]
    return "; ".join(lines), any("no " in line.lower() for line in lines)


@situation("astra-sim #298, #204", "bytes per link of a ring all-reduce of 8 MB on 8 hosts",
           "each NIC sends 2 x 7/8 x 8 MB = 14 MB in packets of 1,000 + 48 B, and as many ACKs of 60 B: 15.51 MB")
def link_volume(lab):
    lab.run(star(8) + '[workload]\ntype = "ring-all-reduce"\nsize = "8MB"\n[congestion]\nlaw = "none"\n', "--mode", "flow")
    sent = [int(row["tx_bytes"]) for row in lab.rows("ports.csv") if row["kind"] == "host"]
    return f"{min(sent) / 1e6:.3f} to {max(sent) / 1e6:.3f} MB", all(near(x, 14e6 * 1.108, 0.1) for x in sent)


@situation("SimAI #182, #44, #142, PR 25", "experts: mixtral-8x7b, ep = 8 over all-to-alls, on 32 GPUs",
           "the iteration ends (the original: no NIC alive, or a segmentation fault)")
def experts(lab):
    summary = lab.run(training('model = "mixtral-8x7b"\ntp = 1\nep = 8\ndp = 32\n'), "--mode", "flow")
    ends = sum(row["kind"].startswith("dispatch") for row in lab.rows("collectives.csv"))
    words, done = all_completed(summary)
    return f"{words}, {ends} dispatches", done and ends > 0


@situation("SimAI #298", "tp = 1 with ep = 4", "the iteration ends")
def tp_one(lab):
    return all_completed(lab.run(training('model = "mixtral-8x7b"\ntp = 1\nep = 4\npp = 2\ndp = 16\n'), "--mode", "flow"))


@situation("SimAI #293", "a mixture of experts on 64 GPUs, packet by packet (the original takes far too long)",
           "all packets of an iteration of 4 layers in less than 5 minutes")
def mixture_64(lab):
    model = '[workload.model]\nbase = "mixtral-8x7b"\nlayers = 4\n'
    summary = lab.run(training('tp = 1\nep = 8\ndp = 64\nsequence = 1024\n' + model, servers=8), "--mode", "packet")
    words, done = all_completed(summary)
    return f"{words}, {summary['packet_hops'] / 1e6:.0f} M packet-hops", done


@situation("SimAI #201", "a mode between formulas and packets: a ring all-reduce on 32 hosts without packets",
           "within 5% of the packets' time")
def flow_level(lab):
    text = ('name = "m"\n[topology]\ntype = "star"\nhosts = 32\n[workload]\ntype = "ring-all-reduce"\nsize = "64MB"\n')
    packets = lab.run(text, "--mode", "packet")["jct_s"]
    flows = lab.run(text, "--mode", "flow")["jct_s"]
    return percent(flows, packets), near(flows, packets, 5)


@situation("SimAI #239", "all-reduces of 1 kB to 8 kB, as in serving (the original returns nothing)",
           "a time for each, none shorter for more bytes")
def small_sizes(lab):
    table = lab.collective(training('model = "gpt-7b"', servers=2), "-b", "1K", "-e", "8K", "--mode", "packet",
                           "--gpu", "H100")
    times = [table[size][0] for size in sorted(table)]
    return ", ".join(f"{time:.1f}" for time in times) + " us", len(times) == 4 and times == sorted(times) and times[0] > 0


@situation("SimAI #216", "a server without NVLink: all-reduce of 256 MB between two L40S over PCIe 4.0",
           "a bus bandwidth of at most 32 GB/s, a x16 link's, and more than half of it")
def pcie(lab):
    table = lab.collective(training('model = "gpt-7b"', servers=1), "-b", "256M", "-e", "256M", "--gpu", "L40S", "--ranks", "2",
                           "--mode", "flow")
    bandwidth = next(iter(table.values()))[1]
    return f"{bandwidth:.1f} GB/s", 16 < bandwidth <= 32


@situation("SimAI #145", "three laws give the same times", "the comparison says why they are the same")
def same_laws(lab):
    lab.write("run.toml", star(2) + FLOWS % '[[0, 1, "1MB"]]')
    text = lab.output("compare", "run.toml", "--vary", "congestion.law=dctcp,dcqcn")
    line = next((line.strip() for line in text.split("\n") if "same flows" in line), "nothing")
    return line, "no contention" in line


@situation("SimAI #213, #282", "two jobs on one cluster, with starts and placements of their own",
           "each has its own time; one that starts at 1 ms ends after that")
def two_jobs(lab):
    job = '[[workload]]\ntype = "ring-all-reduce"\nsize = "4MB"\nranks = 4\nname = "%s"\n%s\n'
    summary = lab.run(star(8) + job % ("one", 'placement = "listed"\nhosts = [0, 2, 4, 6]') +
                      job % ("two", 'start = "1ms"'))
    jobs = {entry["name"]: entry for entry in summary["jobs"]}
    words = ", ".join(f"{name} starts at {job['start_s'] * 1e3:g} ms and takes {job['jct_s'] * 1e3:.3f}"
                      for name, job in jobs.items())
    return words, jobs["two"]["start_s"] == 1e-3 and near(jobs["one"]["jct_s"], jobs["two"]["jct_s"], 1)


@situation("SimAI #60", "NVLS on 8 H100 behind four NVSwitches",
           "a bus bandwidth above the ring's, as NVIDIA says of NVLS (480 GB/s there, nccl-tests #309)")
def nvls(lab):
    options = ("-b", "1G", "-e", "1G", "--gpu", "H100", "--mode", "flow", "--intra-node", "computed")
    text = training('model = "gpt-7b"', servers=1)
    ring = next(iter(lab.collective(text, "--algorithm", "ring", *options).values()))[1]
    switch = next(iter(lab.collective(text, "--algorithm", "nvls", *options).values()))[1]
    return f"ring {ring:.0f}, NVLS {switch:.0f} GB/s", switch > ring


@situation("SimAI #37, #81", "several pods of HPN, beyond the template's one", "30,720 GPUs: two pods of 240 ASWs and 120 PSWs")
def two_pods(lab):
    text = lab.output("topo", "alibaba-hpn", "--gpus", "30720", "--asws-per-psw", "120")
    return text.split("\n")[0], all(word in text for word in ("30720 hosts", "leaf0 to leaf479", "spine0 to spine239", "core0"))


@situation("SimAI #138, #19", "a topology file without NVSwitches, one GPU a server", "read and run (the original crashes)")
def no_nvlink(lab):
    cables = "\n".join(f"{gpu} 4 200Gbps 0.0005ms 0" for gpu in range(4))
    lab.write("net.txt", f"5 1 0 1 4 H100\n4\n{cables}\n")
    return all_completed(lab.run('name = "n"\n[topology]\ntype = "file"\npath = "net.txt"\n'
                                 '[workload]\ntype = "ring-all-reduce"\nsize = "1MB"\n'))


def hpcc_config(lab, more="", cables=None):
    cables = cables or ["0 3 100Gbps 0.001ms 0", "1 3 100Gbps 0.001ms 0", "2 3 100Gbps 0.001ms 0"]
    lab.write("topology.txt", f"4 1 {len(cables)}\n3\n" + "\n".join(cables) + "\n")
    lab.write("flow.txt", "2\n0 2 3 100 4000000 2\n1 2 3 100 4000000 2\n")
    lab.write("config.txt", "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nCC_MODE 3\nPACKET_PAYLOAD_SIZE 1000\n"
              "RATE_AI 50Mb/s\nRATE_HAI 50Mb/s\nL2_ACK_INTERVAL 1\nHAS_WIN 1\nVAR_WIN 1\nFAST_REACT 1\n"
              "U_TARGET 0.95\nBUFFER_SIZE 32\n" + more)


@situation("HPCC #48; SimAI #171", "a config.txt whose KMIN_MAP lacks the rate of the ports",
           "a message that names the key (ns-3 aborts), or a run; nothing is guessed in silence")
def missing_rate(lab):
    hpcc_config(lab, "KMAX_MAP 1 25000000000 400\nKMIN_MAP 1 25000000000 100\nPMAX_MAP 1 25000000000 0.2\n")
    result = lab.sluice("run", "--hpcc", "config.txt", "--out", "out")
    told = [line for line in (result.stderr + result.stdout).split("\n") if "KMIN_MAP" in line or "KMAX_MAP" in line]
    return told[0] if told else "nothing", bool(told)


@situation("HPCC #26", "PFC without congestion control, an incast of 16", "no drops; senders are paused")
def pfc_alone(lab):
    summary = lab.run(star(17) + '[congestion]\nlaw = "none"\nwindow = false\n[network.buffer]\nsize = "4MiB"\n'
                      '[workload]\ntype = "incast"\nsenders = 16\nsize = "2MB"\n', "--mode", "packet")
    ports = lab.rows("ports.csv")
    drops, pauses = sum(int(row["drops"]) for row in ports), sum(int(row["pauses_sent"]) for row in ports)
    words, done = all_completed(summary)
    return f"{words}, {drops} drops, {pauses} pauses", done and drops == 0 and pauses > 0


@situation("HPCC #15", "loss although PFC is on: an incast of 64 under DCQCN, default buffers", "no drops")
def pfc_loss(lab):
    summary = lab.run(star(65) + '[congestion]\nlaw = "dcqcn"\n[workload]\ntype = "incast"\nsenders = 64\nsize = "1MB"\n',
                      "--mode", "packet")
    drops = sum(int(row["drops"]) for row in lab.rows("ports.csv"))
    words, done = all_completed(summary)
    return f"{words}, {drops} drops", done and drops == 0


@situation("HPCC #64; SimAI #161", "traces of tens of gigabytes from a 128-host permutation", "all results in less than 1 MB")
def small_results(lab):
    lab.run('name = "p"\n[topology]\ntype = "fat-tree"\nk = 8\n[workload]\ntype = "permutation"\nsize = "1MB"\n',
            "--mode", "packet")
    size = sum(path.stat().st_size for path in (lab.folder / "out").iterdir())
    return f"{size / 1e3:.0f} kB", size < 1e6


@situation("HPCC #43; astra-network-ns3 PR 20", "two parallel cables between two switches",
           "both carry traffic (ns-3 keeps the last)")
def parallel_cables(lab):
    cables = [f"{host} {8 + host // 4} 100Gbps 0.001ms 0" for host in range(8)] + ["8 9 100Gbps 0.001ms 0"] * 2
    lab.write("net.txt", f"10 2 {len(cables)}\n8 9\n" + "\n".join(cables) + "\n")
    lab.run('name = "c"\n[topology]\ntype = "file"\npath = "net.txt"\n' +
            FLOWS % "[[0, 4, '1MB'], [1, 5, '1MB'], [2, 6, '1MB'], [3, 7, '1MB']]", "--mode", "packet")
    sent = [int(row["tx_bytes"]) for row in lab.rows("ports.csv") if row["node"] == "8" and row["peer"] == "9"]
    return f"{' and '.join(f'{x / 1e6:.2f}' for x in sent)} MB", len(sent) == 2 and min(sent) > 1e6


@situation("conweave PR 12", "packets out of order, of which a NIC keeps 64", "selective repeat with a window of 64: the flows end")
def reordering(lab):
    summary = lab.run('name = "o"\n[topology]\ntype = "fat-tree"\n[network]\nload_balance = "spray"\n[network.nic]\n'
                      'transport = "selective-repeat"\nreorder_window = 64\n[workload]\ntype = "permutation"\n'
                      'size = "1MB"\n', "--mode", "packet")
    return all_completed(summary)


@situation("astra-sim #73, #292", "one rank of eight computes half as fast", "the iteration's computing takes twice as long")
def straggler(lab):
    text = training('model = "gpt-7b"\ntp = 1\ndp = 8\nforward_time = "10ms"\nbackward_time = "20ms"\n%s', servers=1)
    usual = lab.run(text % "", "--mode", "flow")["jct_s"]
    slow = lab.run(text % "stragglers = [{ rank = 3, factor = 2 }]\n", "--mode", "flow")["jct_s"]
    return f"{(slow - usual) * 1e3:.2f} ms longer", near(slow - usual, 30e-3, 1)


SHARED = star(3) + '[congestion]\nlaw = "dcqcn"\n'


@situation("astra-sim #225; inference-sim #802", "two transfers share a NIC", "each gets half: 8 MB in twice the time, and headers")
def shared_nic(lab):
    alone = lab.run(SHARED + FLOWS % '[[0, 1, "8MB"]]', "--mode", "packet") and lab.fct()[0]
    lab.run(SHARED + FLOWS % '[[0, 1, "8MB"], [0, 2, "8MB"]]', "--mode", "packet")
    both = max(lab.fct())
    return f"{alone:.0f} us alone, {both:.0f} us together", near(both, 2 * alone, 3)


@situation("astra-sim #203, PR 342", "a connection matrix of htsim", "runs on any network")
def htsim(lab):
    lab.write("m.cm", "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1000000\n2->3 id 2 start 0 size 1000000\n")
    return all_completed(lab.run(star(4) + '[workload]\ntype = "htsim"\nfile = "m.cm"\n'))


@situation("astra-sim #370, #92", "cables of different delay, 1 us and 100 us, in one ring", "the all-reduce ends")
def uneven_delays(lab):
    cables = "\n".join(f"{host} 4 100Gbps {'0.1ms' if host == 2 else '0.001ms'} 0" for host in range(4))
    lab.write("net.txt", f"5 1 4\n4\n{cables}\n")
    return all_completed(lab.run('name = "u"\n[topology]\ntype = "file"\npath = "net.txt"\n'
                                 '[workload]\ntype = "ring-all-reduce"\nsize = "1MB"\n'))


@situation("astra-sim #371, #270", "servers of unequal size, 6, 4 and 6 GPUs", "a hierarchical all-reduce ends")
def unequal_servers(lab):
    return all_completed(lab.run(
        'name = "h"\n[topology]\ntype = "star"\nhosts = 16\ngpus_per_server = [6, 4, 6]\n[workload]\n'
        'type = "collective"\nkind = "all-reduce"\nalgorithm = "hierarchical"\nsize = "16MB"\ngpu = "H100"\n'))


@situation("astra-sim #248", "10,000 GPUs without a trace for each", "a job by rule: a ring's steps on 10,000 hosts end")
def ten_thousand(lab):
    return all_completed(lab.run(star(10000) + '[workload]\ntype = "stream"\noperations = 30\nbytes = "100kB"\n'
                                 'compute = "10us"\n', "--mode", "flow"))


@situation("LogGOPSim #6", "a GOAL schedule, as text", "the same time as from the binary that txt2bin makes", reference=True)
def goal_text(lab):
    ends = [lab.output("goal", lab.reference / "samples/goal" / f"binary_tree_32.{kind}").strip().split("\n")[-1]
            for kind in ("goal", "bin")]
    return ends[0], ends[0] == ends[1]


@situation("LogGOPSim #8; atlahs", "two schedules on one network, the second later", "both end")
def two_schedules(lab):
    lab.write("p.goal", "num_ranks 2\nrank 0 {\nl1: send 1000000b to 1 tag 1\n}\nrank 1 {\nl1: recv 1000000b from 0 tag 1\n}\n")
    job = '[[workload]]\ntype = "goal"\nfile = "p.goal"\n%s\n'
    return all_completed(lab.run(star(4) + job % "" + job % 'start = "50us"'))


@situation("SST #1813", "a lone packet across a fat-tree (there: 20 to 30 times the latency)",
           "6 cables of 1 us and 6 serializations of 1,090 B at 100 Gb/s: 6.523 us")
def fat_tree_latency(lab):
    lab.run('name = "l"\n[topology]\ntype = "fat-tree"\n' + FLOWS % "[[0, 15, '1kB']]", "--mode", "packet")
    row = lab.rows("flows.csv")[0]
    took = (int(row["received_ps"]) - int(row["start_ps"])) / 1e6
    return f"{took:.3f} us", near(took, 6 + 6 * 1090 * 8 / 100e3, 0.01)


@situation("SST #2152", "minimal routing in a dragonfly of 72 hosts, group 0 to group 1",
           "one global cable carries all: 8 x 10 MB at 100 Gb/s are 6.4 ms, 6.7 ms with headers")
def dragonfly(lab):
    flows = ", ".join(f"[{host}, {host + 8}, '10MB']" for host in range(8))
    summary = lab.run('name = "d"\n[topology]\ntype = "dragonfly"\nrouting = "minimal"\n[congestion]\nlaw = "none"\n'
                      + FLOWS % f"[{flows}]", "--mode", "packet")
    return f"{summary['jct_s'] * 1e3:.2f} ms", near(summary["jct_s"], 6.71e-3, 2)


@situation("netiken/m3 #6; astra-sim #92", "memory grows with every flow that there ever was: 4 ms of FbHadoop on 128 hosts",
           "less than 100 MB at most")
def memory(lab):
    summary = lab.run('name = "w"\n[topology]\ntype = "fat-tree"\nk = 8\n[workload]\ntype = "poisson"\ncdf = "FbHadoop"\n'
                      'load = 0.5\nduration = "4ms"\n', "--mode", "flow")
    return f"{summary['flows']} flows, {summary['peak_rss_bytes'] / 1e6:.0f} MB", summary["peak_rss_bytes"] < 100e6


@situation("nccl-tests #119", "all-reduce over four NICs of 200 Gb/s a server: 24 GB/s for each is NCCL's practical peak",
           "a bus bandwidth of 96 GB/s, within 6%")
def hdr(lab):
    text = ('name = "n"\n[topology]\ntype = "rail-optimized"\ngpus = 8\ngpus_per_server = 4\nrate = "200Gbps"\n'
            '[network]\npayload = 4096\n[congestion]\nlaw = "dcqcn"\n[workload]\ntype = "collective"\n')
    bandwidth = next(iter(lab.collective(text, "-b", "128M", "-e", "128M", "--gpu", "A100", "--mode", "wormhole").values()))[1]
    return f"{bandwidth:.1f} GB/s", near(bandwidth, 96, 6)


@situation("nccl-tests PR 189", "all-reduce of 1 GiB on 8 A100 over NVLink", "235 to 240 GB/s")
def nvlink_a100(lab):
    bandwidth = next(iter(lab.collective(training('model = "gpt-7b"', servers=1), "-b", "1G", "-e", "1G", "--gpu", "A100",
                                         "--mode", "flow").values()))[1]
    return f"{bandwidth:.1f} GB/s", 228 < bandwidth < 245
