# SPDX-License-Identifier: Apache-2.0
"""Published networks whose servers pass packets on, from files."""
import itertools

from lab import near, situation


def network(lab, nodes, header, ids, cables, workload, more=""):
    lab.write("net.txt", f"{nodes} {header} {len(cables)}{more}\n{' '.join(map(str, ids))}\n" + "\n".join(cables) + "\n")
    return ('name = "n"\n[topology]\ntype = "file"\npath = "net.txt"\nforwarding_hosts = "all"\n'
            '[congestion]\nlaw = "dcqcn"\n[workload]\n' + workload)


def completed(summary):
    return (f"{summary['flows_completed']} of {summary['flows']} flows completed",
            summary["flows_completed"] == summary["flows"])


@situation("Guo et al. (BCube), SIGCOMM 2009", "BCube(4, 1) from a file of HPCC ns-3's format, all pairs of 16 servers",
           "all flows end: servers without a common switch reach each other through a third")
def bcube(lab):
    cables = [f"{4 * i + j} {switch} 100Gbps 0.001ms 0" for i, j in itertools.product(range(4), range(4))
              for switch in (16 + i, 20 + j)]
    text = network(lab, 24, 8, range(16, 24), cables, 'type = "all-to-all"\nsize = "1MB"\n')
    return completed(lab.run(text, "--mode", "packet"))


@situation("Guo et al. (DCell), SIGCOMM 2008", "DCell(4, 1) from such a file: 5 cells of 4 servers, a cable between each two cells",
           "all pairs of 20 servers reach each other")
def dcell(lab):
    cables = [f"{4 * cell + i} {20 + cell} 100Gbps 0.001ms 0" for cell, i in itertools.product(range(5), range(4))]
    cables += [f"{4 * one + other - 1} {4 * other + one} 100Gbps 0.001ms 0" for one, other in itertools.combinations(range(5), 2)]
    text = network(lab, 25, 5, range(20, 25), cables, 'type = "all-to-all"\nsize = "1MB"\n')
    return completed(lab.run(text, "--mode", "packet"))


RAILS = [f"{gpu} {8 + gpu // 4} 2880Gbps 0.000025ms 0" for gpu in range(8)] + \
    [f"{gpu} {10 + gpu % 4} 400Gbps 0.0005ms 0" for gpu in range(8)]


@situation("Wang et al. (rail-only), Hot Interconnects 2024",
           "two servers of 4 GPUs whose rails are not joined, SimAI's format, GPU 0 to GPU 5, without congestion control",
           "the flow goes by NVLink to GPU 1, and by its rail on: 8 MB in 168 us at 400 Gb/s, a little more with latency")
def rail_only(lab):
    text = network(lab, 14, "4 2 4", range(8, 14), RAILS, 'type = "flows"\nlist = [[0, 5, "8MB"]]\n', " H100")
    lab.run(text.replace('"dcqcn"', '"none"'), "--mode", "packet")
    carried = sum(int(row["tx_bytes"]) for row in lab.rows("ports.csv") if row["peer"] == "11" and int(row["tx_bytes"]) > 8e6)
    took = lab.fct()[0]
    return f"{took:.0f} us, {carried / 1e6:.2f} MB over rail 1", carried > 8e6 and near(took, 168, 10)


@situation("Wang et al. (rail-only), Hot Interconnects 2024", "the same servers, all pairs of GPUs", "all flows end")
def rail_only_pairs(lab):
    text = network(lab, 14, "4 2 4", range(8, 14), RAILS, 'type = "all-to-all"\nsize = "8MB"\n', " H100")
    return completed(lab.run(text, "--mode", "packet"))


@situation("NCCL 2.12, PXN", "an all-to-all of the same servers by PXN, hosts that forward nothing",
           "all messages find a way: each changes its rail inside its server")
def rail_only_pxn(lab):
    text = network(lab, 14, "4 2 4", range(8, 14), RAILS,
                   'type = "collective"\nkind = "all-to-all"\nalgorithm = "pxn"\nsize = "8MB"\n', " H100")
    return completed(lab.run(text.replace('forwarding_hosts = "all"\n', ""), "--mode", "packet"))
