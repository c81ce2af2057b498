#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels for the GPUs that there are, finished by ptxas: that for all congestion-control laws, and one for each
alone. They must compile, keep to their registers, spill little and stay small, and one law takes less than all. Of most
addresses they must know in which memory they are (core/memory_space.h).

usage: ptxas.py NVCC SOURCE_DIR [GPU...]

Without a GPU the kernel for all laws is finished for each, and those of one law, which take longest, for the first."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

MOST_REGISTERS = 64  # of a thread: its launch bounds, 512 threads by 2 blocks of 65,536
MOST_SPILLED = 256  # bytes stored by one function: what calls save, and little more
MOST_BYTES = 5 << 18  # of the file, 160 KB a law; inlined without bounds it was 3 MB with five laws
MOST_GENERIC = 0.1  # of loads, stores and atomics, local ones aside: those of which the compiler knows no memory
GPUS = ["sm_90", "sm_80", "sm_100"]
ALL = "all laws"


def laws_of(source):
    text = pathlib.Path(source, "core/congestion/laws.h").read_text()
    return re.findall(r"^ +LAW\((\w+)\)", text, re.MULTILINE)


def generic_part(assembly):
    """Of what reads or writes memory by an address, in PTX, as the compiler's first half writes it."""
    spaces = re.findall(r"^\s+(?:@!?%p\d+ )?(?:ld|st|atom|red)(?:\.(?:volatile|relaxed|acquire|release|gpu|sys|cta))*"
                        r"(\.(?:global|shared|local|param|const))?\.", assembly, re.MULTILINE)
    addressed = [space for space in spaces if space not in (".local", ".param")]
    return addressed.count("") / len(addressed)


def compile_for(gpu, law, nvcc, source, folder):
    name = f"{folder}/{gpu}-{law.replace(' ', '-')}"
    file = pathlib.Path(name + ".cu")
    file.write_text('#include "gpu/cuda/cuda_executor.cu"\n' if law == ALL else
                    f'#define SLUICE_ONE_LAW {law}\n#include "gpu/cuda/law_kernel.cuh"\n')
    command = [nvcc, "-std=c++17", "--fmad=false", "--expt-relaxed-constexpr", "-Xcompiler=-ffp-contract=off", f"-arch={gpu}",
               "-ptx", "-I", source, str(file), "-o", name + ".ptx"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        return gpu, law, ran.stdout + ran.stderr, None
    ran = subprocess.run([nvcc, f"-arch={gpu}", "-Xptxas", "-v", "-cubin", name + ".ptx", "-o", name + ".cubin"],
                         capture_output=True, text=True, check=False)
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", ran.stderr)]
    spilled = [int(n) for n in re.findall(r"(\d+) bytes spill stores", ran.stderr)]
    if ran.returncode != 0 or not registers or not spilled:
        return gpu, law, ran.stdout + ran.stderr, None
    generic = generic_part(pathlib.Path(name + ".ptx").read_text())
    return gpu, law, None, (max(registers), max(spilled), pathlib.Path(name + ".cubin").stat().st_size, generic)


def main():
    nvcc, source, *gpus = sys.argv[1:]
    faults, sizes = 0, {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        cases = [(gpu, ALL) for gpu in gpus or GPUS]
        cases += [(gpu, law) for gpu in gpus or GPUS[:1] for law in laws_of(source)]
        for gpu, law, error, figures in pool.map(lambda case: compile_for(*case, nvcc, source, folder), cases):
            if figures is None:
                faults += 1
                print(f"{gpu}, {law}: {error}")
                continue
            registers, spilled, size, generic = figures
            sizes[gpu, law] = size
            fits = registers <= MOST_REGISTERS and spilled <= MOST_SPILLED and size <= MOST_BYTES
            fits = fits and generic <= MOST_GENERIC and (law == ALL or size < sizes.get((gpu, ALL), size + 1))
            faults += 0 if fits else 1
            print(f"{gpu}, {law}: {'fits' if fits else 'TOO LARGE'}: {registers} registers ({MOST_REGISTERS}), at most "
                  f"{spilled} bytes spilled by a function ({MOST_SPILLED}), {size} bytes ({MOST_BYTES}), "
                  f"{generic:.1%} of addresses in no known memory ({MOST_GENERIC:.0%})")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
