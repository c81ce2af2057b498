# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart and run-tests: installs what is missing, configures and builds Release into
# build/release. POSIX sh; a bare Debian 12 has nothing else.

sluice_root=$(CDPATH="" cd -- "$(dirname -- "$0")" && pwd)
sluice_build="$sluice_root/build/release"
sluice_packages="g++ cmake ninja-build pkg-config libsystemc-dev libfmt-dev doctest-dev
    libcli11-dev libtomlplusplus-dev nlohmann-json3-dev zlib1g-dev libyaml-cpp-dev
    libnauty2-dev libeigen3-dev libsqlite3-dev libjemalloc-dev ccache python3
    python3-venv git"
# What sluice train needs beside them.
sluice_torch_packages="libtorch-dev libopenblas0-pthread"

say() { printf '== %s\n' "$*"; }

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Prints the packages of the list that are not installed.
missing_packages() {
    for package in $sluice_packages; do
        state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=none
        [ "$state" = installed ] || printf ' %s' "$package"
    done
}

# The same by what the build asks for, where there is no dpkg to ask.
check_tools() {
    for tool in c++ cmake ninja pkg-config python3; do
        command -v "$tool" >/dev/null 2>&1 ||
            die "$tool not found. This is not a Debian system: install the equivalents of:" \
                $sluice_packages
    done
}

install_packages() {
    if ! command -v dpkg-query >/dev/null 2>&1; then
        check_tools
        return
    fi
    missing=$(missing_packages)
    if [ -z "$missing" ]; then
        say "Debian packages: all installed"
        return
    fi
    say "Debian packages: installing$missing"
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 ||
            die "not root and no sudo; as root run: apt-get install$missing"
        as_root=sudo
    fi
    # apt's own lines are the progress: it may be hundreds of megabytes.
    for step in "update" "install --no-install-recommends$missing"; do
        # $as_root and $step are words on purpose.
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q $step ||
            die "apt-get $step failed (above); it needs a network and Debian 12's main archive"
    done
}

# Arguments: options of CMake. Those of an earlier call hold until others are given.
configure() {
    say "Configuring Release in build/release"
    log=$(mktemp)
    # A build folder of another place or generator cannot be reused.
    if [ -f "$sluice_build/CMakeCache.txt" ] &&
        ! grep -qF "CMAKE_HOME_DIRECTORY:INTERNAL=$sluice_root" "$sluice_build/CMakeCache.txt"; then
        rm -rf "$sluice_build"
    fi
    if ! cmake -S "$sluice_root" -B "$sluice_build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSLUICE_UNITY=ON "$@" \
        >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die "cmake could not configure the build (above)"
    fi
    rm -f "$log"
}

# As many compilers as there are processors, and no more than memory allows (about 1 GB each).
build_jobs() {
    jobs=$(nproc 2>/dev/null || echo 1)
    memory_kb=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo 2>/dev/null)
    if [ -n "$memory_kb" ]; then
        by_memory=$((memory_kb / 1000000))
        [ "$by_memory" -ge 1 ] || by_memory=1
        [ "$jobs" -le "$by_memory" ] || jobs=$by_memory
    fi
    echo "$jobs"
}

# $1: the target.
build() {
    say "Building with $(build_jobs) jobs (minutes the first time, seconds later)"
    cmake --build "$sluice_build" --target "$1" --parallel "$(build_jobs)" ||
        die "the build failed (above)"
}
