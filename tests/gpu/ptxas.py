#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel for the GPUs that there are, finished by ptxas: it must compile, and stay within its registers.

usage: ptxas.py NVCC SOURCE_DIR"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

# The kernel's launch bounds give it so many; beyond what they and calls cost nothing is spilled.
MOST_REGISTERS = 128
MOST_SPILLED = 256  # bytes stored by one function
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
            good = ran.returncode == 0 and registers and max(registers) <= MOST_REGISTERS and max(spilled) <= MOST_SPILLED
            if not good:
                faults += 1
                print(ran.stdout + ran.stderr)
            else:
                size = pathlib.Path(folder, f"{gpu}.cubin").stat().st_size
                print(f"{gpu}: {max(registers)} registers, at most {max(spilled)} bytes spilled by a function, "
                      f"{size} bytes")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
