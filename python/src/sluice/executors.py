# SPDX-License-Identifier: Apache-2.0
"""Who runs a study: this machine, a Dask cluster, Slurm. All by `sluice batch`; results of shards are merged by
`sluice batch --merge`."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sluice import executable
from sluice.error import Error

if TYPE_CHECKING:
    from distributed import Client

    from sluice.study import Study

_ENDED = (executable.DONE, executable.WORK_LEFT)
_SHARDS_PER_THREAD = 4


def run_here(study: Study, threads: int | None, options: Sequence[str]) -> None:
    """One process, an experiment a thread."""
    limit = [] if threads is None else ["--threads", str(threads)]
    executable.call(["batch", study.file, "--out", study.folder, "--resume", *limit, *options], allowed=_ENDED)


def run_on_dask(study: Study, client: Client, shards: int | None, options: Sequence[str]) -> None:
    """Each shard is a task. Where a worker is lost, another one continues its shards from what these have finished."""
    threads = sum(int(worker["nthreads"]) for worker in client.scheduler_info(n_workers=-1)["workers"].values())
    shards = shards or max(1, min(_SHARDS_PER_THREAD * threads, study.size))
    tasks = [client.submit(run_shard, str(study.file), str(study.folder), shard, shards, list(options), pure=False,
                           retries=2)
             for shard in range(1, shards + 1)]
    for task in tasks:
        task.result()
    merge(study, options)


def run_shard(file: str, folder: str, shard: int, shards: int, options: Sequence[str]) -> None:
    """What a task does, on its worker."""
    executable.call(["batch", file, "--out", folder, "--shard", f"{shard}/{shards}", "--resume", "--threads", "1", *options],
                 allowed=_ENDED)


def run_by_slurm(study: Study, threads: int, shards: int, options: Sequence[str]) -> None:
    """Writes the array script beside the batch file, and waits for its job."""
    script = slurm_script(study, threads, shards, options)
    if shutil.which("sbatch") is None:
        raise Error(f"no sbatch on PATH; {script} is the script that it would get")
    ended = subprocess.run(["sbatch", "--wait", str(script)], cwd=study.folder, capture_output=True, text=True,
                           check=False)
    merge(study, options)
    if ended.returncode not in _ENDED:
        lines = ended.stderr.splitlines() or [f"ended with exit code {ended.returncode}"]
        raise Error(f"sbatch {script}: {lines[-1]}", ended.returncode)


def slurm_script(study: Study, threads: int, shards: int, options: Sequence[str] = ()) -> pathlib.Path:
    """The array script of `sluice batch --emit-slurm`."""
    words: list[str | os.PathLike[str]] = ["batch", study.write(), "--out", study.folder, "--emit-slurm", str(shards),
                                           "--threads", str(threads), *options]
    script = study.folder / f"{study.name}.sbatch"
    script.write_text(executable.call(words).stdout, encoding="utf-8")
    return script


def merge(study: Study, options: Sequence[str] = ()) -> None:
    """One table of what the shards have finished. Experiments that none has are not in it."""
    executable.call(["batch", study.file, "--out", study.folder, "--merge", *options], allowed=_ENDED)
