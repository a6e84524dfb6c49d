"""The source of Hypothesis's choices, with and without the interface of Hypothesis that it uses."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
