from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from operad_kvstore_mpi import launch
from operad_kvstore_mpi.launch import mpirun

FAILING = """#!/bin/sh
count=$(cat {count} 2>/dev/null || echo 0)
echo $((count + 1)) > {count}
echo $@ >> {words}
[ $count -ge 2 ] || exit 137
"""


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for mpirun: it fails twice, and keeps the words that it was given."""
    script = tmp_path / "mpirun"
    script.write_text(FAILING.format(count=tmp_path / "count", words=tmp_path / "words"))
    script.chmod(0o755)
    monkeypatch.setattr(launch, "_found", lambda: str(script))
    monkeypatch.setattr(launch, "ENDING_SIGNALS", ())
    return tmp_path


def test_a_job_that_fails_is_started_again_as_often_as_told(found: Path) -> None:
    words = ["-n", "2", "--restart", "3", "--mpi", "--oversubscribe", "train.py", "--own", "word"]
    done = CliRunner().invoke(mpirun, words)
    assert done.exit_code == 0
    again = [line for line in done.output.splitlines() if "exited" in line]
    assert again == [f"operad mpirun: the job exited with 137; starting it again, {n} of 3" for n in (1, 2)]
    given = (found / "words").read_text().splitlines()
    assert given == [f"--oversubscribe -n 2 {sys.executable} train.py --own word"] * 3


def test_the_code_is_that_of_the_last_life(found: Path) -> None:
    done = CliRunner().invoke(mpirun, ["-n", "2", "--restart", "1", "train.py"])
    assert (done.exit_code, done.output.splitlines()[-1]) == (
        137,
        "operad mpirun: the job exited with 137",
    )


def test_sigterm_ends_what_was_started() -> None:
    program = (
        "import sys; from operad_kvstore_mpi import launch; "
        "launch._found = lambda: sys.executable; launch.mpirun()"
    )
    waiting = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    # Python stands for mpirun, with options of its own.
    words = ["-n", "1", "--mpi", "-c", "--mpi", waiting, "train.py"]
    with subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout is not None
        assert "starting" in started.stdout.readline()
        process = int(started.stdout.readline())
        started.terminate()
        assert started.wait(60) == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
