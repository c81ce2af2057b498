#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel for the GPUs that there are, finished by ptxas: it must compile, spill little and stay small. Its launch
bounds limit its registers; what does not fit them is spilled.

usage: ptxas.py NVCC SOURCE_DIR"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

MOST_SPILLED = 256  # bytes stored by one function: what calls save, and little more
MOST_BYTES = 1 << 20  # of the file; inlined without bounds it was 3 MB
GPUS = ["sm_80", "sm_90", "sm_100"]


def compile_for(gpu, nvcc, source, folder):
    command = [nvcc, "-std=c++17", "--fmad=false", "--expt-relaxed-constexpr", "-Xcompiler=-ffp-contract=off", f"-arch={gpu}",
               "-Xptxas", "-v", "-cubin", "-I", source, f"{source}/gpu/cuda/cuda_executor.cu", "-o", f"{folder}/{gpu}.cubin"]
    return gpu, subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    nvcc, source = sys.argv[1:]
    faults = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for gpu, ran in pool.map(lambda gpu: compile_for(gpu, nvcc, source, folder), GPUS):
            registers = [int(n) for n in re.findall(r"Used (\d+) registers", ran.stderr)]
            spilled = [int(n) for n in re.findall(r"(\d+) bytes spill stores", ran.stderr)]
            if ran.returncode != 0 or not registers or not spilled:
                faults += 1
                print(ran.stdout + ran.stderr)
                continue
            size = pathlib.Path(folder, f"{gpu}.cubin").stat().st_size
            good = max(spilled) <= MOST_SPILLED and size <= MOST_BYTES
            faults += 0 if good else 1
            print(f"{gpu}: {'fits' if good else 'TOO LARGE'}: {max(registers)} registers, at most {max(spilled)} bytes "
                  f"spilled by a function ({MOST_SPILLED}), {size} bytes ({MOST_BYTES})")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
