# SPDX-License-Identifier: Apache-2.0
"""Figures that papers and manuals give of networks, models and schedules."""
import re

from lab import near, situation


def topology(source, what, expected, words, command):
    """A built network's first line, which must hold `words`."""
    @situation(source, what, expected)
    def check(lab):
        line = lab.output("topo", *command.split()).split("\n")[0].partition(": ")[2]
        return line, all(word in line for word in words)
    check.__name__ = "topology_" + command.split()[0]


topology("Al-Fares et al., SIGCOMM 2008", "fat-tree of 48-port switches", "27,648 hosts, 2,880 switches",
         ("27648 hosts", "2880 switches"), "fat-tree --k 48")
topology("Guo et al. (BCube), SIGCOMM 2009", "BCube(8, 3)", "4,096 servers; 2,048 switches of 8 ports, and one element a server",
         ("4096 hosts", f"{2048 + 4096} switches"), "bcube --n 8 --k 3")
topology("Kim et al. (dragonfly), ISCA 2008", "p = h = 4, a = 8", "33 groups: 1,056 hosts, 264 routers",
         ("1056 hosts", "264 switches"), "dragonfly --hosts-per-router 4 --routers-per-group 8 --global-cables-per-router 4")
topology("Kim et al. (dragonfly), ISCA 2008", "p = h = 8, a = 16", "129 groups: 16,512 hosts",
         ("16512 hosts", "2064 switches"), "dragonfly --hosts-per-router 8 --routers-per-group 16 --global-cables-per-router 8")
topology("Qian et al. (HPN), SIGCOMM 2024", "a pod of HPN, dual plane", "15,360 GPUs, 240 + 120 switches",
         ("15360 hosts", "360 switches"), "alibaba-hpn --dual-plane true --asws-per-psw 120")
topology("SimAI, gen_Topo_Template.py", "Spectrum-X with its defaults", "4,096 GPUs, 512 NVSwitches, 128 switches, 12,288 links",
         ("4096 hosts", "128 switches", "12288 links", "512 NVSwitches"), "spectrum-x")
topology("SimAI, gen_Topo_Template.py", "DCN+ with dual ToR", "512 GPUs, 64 NVSwitches, 16 switches, 1,600 links",
         ("512 hosts", "16 switches", "1600 links", "64 NVSwitches"), "dcn-plus --dual-tor true")

PARAMETERS = [("gpt-175b", "Brown et al., 2020", 175), ("llama-65b", "Touvron et al., 2023", 65.2),
              ("llama3-405b", "Grattafiori et al., 2024", 405), ("mixtral-8x7b", "Jiang et al., 2024", 46.7),
              ("deepseek-v3", "DeepSeek-AI, 2024", 671), ("qwen2.5-72b", "Qwen team, 2024", 72.7)]


def parameters(model, source, billions):
    @situation(source, f"parameters of {model}", f"{billions} billion")
    def check(lab):
        lab.write("run.toml", 'name = "p"\n[topology]\ntype = "star"\nhosts = 8\ngpus_per_server = 8\n[workload]\ntype = "training"\n'
                  f'model = "{model}"\ntp = 1\ndp = 1\nsplit = "layers"\nallow_oom = true\nranks = 1\nzero = 0\n')
        text = lab.output("describe", "run.toml")
        weights = float(re.search(r"weights ([\d.]+)", text).group(1)) / 2  # of two bytes each, GB
        return f"{weights:.1f} billion (weights of {2 * weights:.1f} GB in 16 bits)", near(weights, billions, 0.6)
    check.__name__ = "parameters_" + model


for row in PARAMETERS:
    parameters(*row)

PIPELINE = ('name = "b"\n[topology]\ntype = "star"\nhosts = 4\nrate = "400Gbps"\n[workload]\ntype = "training"\npp = 4\nmicro_batches = 8\n'
            'forward_time = "10ms"\nbackward_time = "20ms"\nweight_time = "10ms"\nsequence = 16\nallow_oom = true\n'
            '%s\n[workload.model]\nlayers = 8\nhidden = 64\nheads = 4\nvocabulary = 64\n')


def bubble(source, schedule, expected, more=""):
    """Milliseconds of 8 micro-batches on 4 stages: forward, backward of inputs and of weights 10 ms each."""
    @situation(source, f"4 stages, 8 micro-batches of 3 x 10 ms, {schedule}", f"{expected:g} ms: 240 and its bubble of {expected - 240:g}")
    def check(lab):
        took = 1e3 * lab.run(PIPELINE % f'schedule = "{schedule}"\n{more}', "--mode", "flow")["jct_s"]
        return f"{took:.2f} ms", near(took, expected, 0.5)
    check.__name__ = "bubble_" + schedule


bubble("Narayanan et al. (Megatron-LM), SC 2021", "1f1b", 240 + 3 * 30)
bubble("Huang et al. (GPipe), 2019", "gpipe", 240 + 3 * 30)
bubble("Narayanan et al. (Megatron-LM), SC 2021", "interleaved", 240 + 3 * 30 / 2, "chunks = 2")
bubble("Qi et al. (zero bubble), ICLR 2024", "zb-h1", 240 + 3 * (10 + 10 - 10))


@situation("nccl-tests, PERFORMANCE.md", "bus bandwidth of an all-reduce of 64 ranks", "algorithm bandwidth x 2 x 63/64 = 1.969")
def bus_factor(lab):
    lab.write("c.toml", 'name = "c"\n[topology]\ntype = "star"\nhosts = 64\n[workload]\ntype = "collective"\n')
    text = lab.output("collective", "c.toml", "-b", "1M", "-e", "1M", "--mode", "flow")
    factor = re.search(r"algbw x ([\d.]+)", text).group(1)
    return f"x {factor}", factor == "1.969"


@situation("Patarasuk and Yuan, 2009", "ring all-reduce of 1 GB on 16 hosts at 100 Gb/s",
           "bandwidth-optimal: 2 x 15/16 x 1 GB at 100 Gb/s, 150 ms; with headers of 48 B and ACKs of 60 B in 1,000 B 166.2 ms")
def ring_optimum(lab):
    took = lab.run('name = "r"\n[topology]\ntype = "star"\n[congestion]\nlaw = "none"\n[workload]\ntype = "ring-all-reduce"\nsize = "1GB"\n')["jct_s"]
    return f"{took * 1e3:.1f} ms", near(took, 2 * 15 / 16 * 1.108 * 8e9 / 100e9, 1)


@situation("Thakur et al., 2005", "all-reduce of 1 KiB on 64 ranks by halving and doubling, each message 10 us of software",
           "2 x log2 64 = 12 steps, a ring has 126: about a tenth of its time")
def halving_doubling(lab):
    text = 'name = "c"\n[topology]\ntype = "star"\nhosts = 64\n[workload]\ntype = "collective"\n'
    options = ("-b", "1K", "-e", "1K", "--mode", "packet", "--overhead", "0s", "--step-overhead", "10us", "--algorithm")
    ring = lab.collective(text, *options, "ring")[1024][0]
    doubling = lab.collective(text, *options, "halving-doubling")[1024][0]
    return f"{doubling:.0f} us, ring {ring:.0f}: {doubling / ring:.3f}", near(doubling / ring, 12 / 126, 5)
