# SPDX-License-Identifier: Apache-2.0
"""The wheel: built of a program that is there already, unpacked, and used with nothing else of ours."""
import os
import subprocess
import sys
import zipfile

import pytest
from conftest import SOURCE

pytest.importorskip("scikit_build_core")

USE = """\
import sluice, sys
run = sluice.run(sys.argv[1], {"congestion.law": "dcqcn"})
print(sluice.program(), run.complete)
"""


def test_it_holds_the_program_and_its_files(examples, tmp_path):
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps",
                    "--no-build-isolation", "--wheel-dir", tmp_path, SOURCE / "python", "-C",
                    f"cmake.define.SLUICE_PROGRAM={os.path.realpath(os.environ['SLUICE'])}", "-C",
                    f"build-dir={tmp_path / 'build'}"], check=True)
    wheel, = tmp_path.glob("*.whl")
    assert wheel.name.startswith("sluice-0.1.0-py3-none-linux_")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "site")
    for name in ("sluice/py.typed", "sluice/share/sluice/models/gpt-13b.toml", "sluice/share/sluice/restore/queues.model"):
        assert name in names
    program = tmp_path / "site" / "sluice" / "bin" / "sluice"
    program.chmod(0o755)  # zipfile keeps no modes
    said = subprocess.run([sys.executable, "-c", USE, examples / "incast.toml"], cwd=tmp_path, check=True, text=True,
                          capture_output=True, env={"PATH": "/nowhere", "PYTHONPATH": str(tmp_path / "site"),
                                                    "HOME": str(tmp_path)}).stdout
    assert said == f"{program} True\n"
    doctor = subprocess.run([program, "doctor"], check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    assert f"in {tmp_path}/site/sluice/share/sluice/models" in doctor
