"""The cases of an operator follow from its name, the profile's seed and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from operad_check import Profile
from operad_check.cases.kinds import EDGES, ORDINARY
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of

PROGRAM = """
import sys
for name in sys.argv[1:]:
    __import__(name)
from operad_check import Profile
from operad_check.cases.kinds import ORDINARY
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of

session = Session(subject_of("SoftmaxOutput"), Profile("few", examples=30, seconds=1.0))
for case in session.pool(ORDINARY):
    print(case.describe(), case.seed, [array.tolist() for array in case.inputs.values()])
"""


def cases_with(*modules: str) -> str:
    command = [sys.executable, "-c", PROGRAM, *modules]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_what_else_is_loaded_does_not_matter() -> None:
    alone = cases_with()
    assert len(alone.splitlines()) > 30, "drawn cases alone, none that is designed"
    assert cases_with("operad_optimizer", "operad_elemwise", "operad_pooling") == alone


@pytest.mark.parametrize("kind", [ORDINARY, EDGES], ids=lambda kind: kind.name)
def test_another_seed_means_other_cases(kind) -> None:
    one, other = (
        Session(subject_of("SoftmaxOutput"), Profile("few", examples=30, seconds=1.0, seed=seed)).pool(kind)
        for seed in (0, 1)
    )
    assert [case.describe() for case in one] != [case.describe() for case in other]
