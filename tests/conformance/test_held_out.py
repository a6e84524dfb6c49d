"""Programs from published methods: losses on rows held out, within 5 % of what MXNet 1.9.1 reached."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import pytest

import operad as od
from tests.conformance.held_out import classifiers, data, generative, learning, sequences, similarity

PARTS: Final = (classifiers, generative, sequences, similarity)
PROGRAMS: Final = learning.PROGRAMS
TOLERANCE: Final = 0.05
ALWAYS: Final = ("softmax_regression", "support_vectors")
"""Programs of the fast suite."""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("held_out") / "data.npz"
    data.write(path)
    return path


def reaches_what_mxnet_reached(name: str, given: Path) -> None:
    found, recorded = learning.run(od, given, [name])[name], learning.record()[name]
    assert math.isfinite(found)
    assert found == pytest.approx(recorded, rel=TOLERANCE)


@pytest.mark.parametrize("name", ALWAYS)
def test_a_program_reaches_what_it_reached_under_mxnet(name: str, given: Path) -> None:
    reaches_what_mxnet_reached(name, given)


@pytest.mark.more  # a second each
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ALWAYS])
def test_every_program_reaches_what_it_reached_under_mxnet(name: str, given: Path) -> None:
    reaches_what_mxnet_reached(name, given)


def test_every_program_has_its_record() -> None:
    assert list(learning.record()) == list(PROGRAMS)
    assert len(PROGRAMS) >= 30
    assert {program.__module__ for program in PROGRAMS.values()} == {part.__name__ for part in PARTS}


def test_rows_held_out_are_not_trained_on(given: Path) -> None:
    known = learning.Data(given)
    (train,), (held_out,) = known.train("wine"), known.held_out("wine")
    assert not {row.tobytes() for row in train} & {row.tobytes() for row in held_out}


def test_a_start_depends_on_the_name_and_the_shape_alone() -> None:
    first, second, other = (od.nd.zeros((4, 3)) for _ in range(3))
    for name, array in (("fc_weight", first), ("fc_weight", second), ("other_weight", other)):
        learning.start(name, array)
    assert first.asnumpy().tolist() == second.asnumpy().tolist() != other.asnumpy().tolist()
