# SPDX-License-Identifier: Apache-2.0
"""installed.py BUILD NINJA: what ./quickstart --install builds is all that an installation takes from the build."""
import pathlib
import re
import subprocess
import sys

# file(INSTALL DESTINATION ... TYPE ... [OPTIONAL] FILES "a" "b")
TAKEN = re.compile(r'file\(INSTALL [^)]*?TYPE \w+( OPTIONAL)? FILES((?:\s+"[^"]*")+)')


def ninja(program, build, *words):
    return subprocess.run([program, "-C", build, "-t", *words], capture_output=True, text=True, check=True).stdout


def main():
    build, program = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    made = {line.split(":")[0] for line in ninja(program, build, "targets", "all").splitlines()}
    ready = set(ninja(program, build, "commands", "sluice_installed").split())
    taken, missing = 0, []
    for script in build.rglob("cmake_install.cmake"):
        for optional, names in TAKEN.findall(script.read_text()):
            for name in re.findall(r'"([^"]*)"', names):
                path = pathlib.Path(name)
                if build not in path.parents or str(path.relative_to(build)) not in made:
                    continue  # of the source tree, or made by cmake itself
                taken += 1
                if not optional and str(path.relative_to(build)) not in ready:
                    missing.append(str(path.relative_to(build)))
    if missing or taken == 0:
        sys.exit(f"of {taken} files that are installed these are not built: {' '.join(missing)}")


if __name__ == "__main__":
    main()
