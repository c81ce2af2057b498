# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart: NVIDIA's compiler, where there is none, from PyPI into build/cuda. cmake/Cuda.cmake
# looks there first. POSIX sh.

sluice_cuda="$sluice_root/build/cuda"
# One release; newer drivers run what it makes.
sluice_cuda_packages="nvidia-cuda-nvcc==13.0.* nvidia-cuda-crt==13.0.* nvidia-nvvm==13.0.*
    nvidia-cuda-runtime==13.0.*"

own_nvcc() {
    for nvcc in "$sluice_cuda"/lib/python3*/site-packages/nvidia/*/bin/nvcc; do
        [ -x "$nvcc" ] && printf '%s\n' "$nvcc" && return
    done
}

install_cuda() {
    if command -v nvcc >/dev/null 2>&1 || [ -x /usr/local/cuda/bin/nvcc ]; then
        say "CUDA: there is an nvcc"
        return
    fi
    if [ -n "$(own_nvcc)" ]; then
        say "CUDA: NVIDIA's compiler is in build/cuda"
        return
    fi
    say "CUDA: installing NVIDIA's compiler from PyPI into build/cuda"
    python3 -m venv "$sluice_cuda" || die "python3 -m venv failed (above)"
    # $sluice_cuda_packages is words on purpose.
    "$sluice_cuda/bin/pip" install --quiet --disable-pip-version-check $sluice_cuda_packages ||
        die "pip failed (above); it needs a network and PyPI"
    # CMake looks for libraries where NVIDIA's own installer puts them.
    own=$(dirname "$(dirname "$(own_nvcc)")")
    [ -e "$own/lib64" ] || ln -s lib "$own/lib64"
}
