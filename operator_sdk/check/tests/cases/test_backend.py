"""The source of Hypothesis's choices, with and without the interface of Hypothesis that it uses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.pythons import oldest

PROGRAM = """
import sys
if sys.argv[1] == "moved":
    from hypothesis.internal.conjecture import engine, providers
    del providers.PrimitiveProvider
from operad_check import Profile
from operad_check.cases import backend
from operad_check.cases.kinds import ORDINARY
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
few = Profile("few", examples=20, seconds=60.0)
pools = [Session(subject_of("tanh"), few).pool(ORDINARY) for _ in range(2)]
assert len(pools[0]) > 5
assert [case.describe() for case in pools[0]] == [case.describe() for case in pools[1]]
print(backend.NAME)
"""


@pytest.mark.more
@pytest.mark.parametrize(("interface", "name"), [("there", "operad"), ("moved", "hypothesis")])
def test_cases_are_drawn_by_seed_whether_or_not_hypothesis_has_the_interface(
    interface: str, name: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, interface], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"{name}\n"), done.stderr


def test_hypothesis_is_imported_by_its_inner_names_in_one_place() -> None:
    modules = [path for folder in ("operator_sdk", "plugins") for path in Path(folder).rglob("src/**/*.py")]
    inner = [path.name for path in modules if "hypothesis.internal" in path.read_text()]
    assert inner == ["backend.py"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("release", ["oldest", "newest"])
def test_the_oldest_and_the_newest_release_have_the_interface(tmp_path: Path, release: str) -> None:
    declared = Path("operator_sdk/check/pyproject.toml").read_text()
    ((bound, below),) = re.findall(r'"hypothesis>=([\d.]+),<(\d+)"', declared)
    wanted = f"=={oldest(Path(sys.executable), 'hypothesis', bound)}" if release == "oldest" else f"<{below}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"]
    subprocess.run([*pip, str(tmp_path), f"hypothesis{wanted}"], check=True)
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, "there"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (0, "operad\n"), found.stderr
