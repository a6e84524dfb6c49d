"""Programs that train, save, load in a new process and predict the same; without passes, nearly the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import operad as od
from operad.graph import installed_passes, pass_list
from operad.graph.compilation import Compilation
from operator_sdk.sdk.tests.vector_code import require_vector_code
from tests.conformance.trained_programs import PROGRAMS, run

TOLERANCE = 2e-6
"""Of predictions by single operators; clusters round otherwise. All predictions are about 1."""
ADDING_FACTS = {"infer", "schedule", "memory"}
"""The passes that change no graph: they find out about it."""


class Results(NamedTuple):
    """Predictions and errors of all programs.

    Attributes:
        acted: Names of the passes that changed a graph.
    """

    found: dict[str, Any]
    errors: dict[str, str]
    acted: frozenset[str] = frozenset()

    def of(self, program: str) -> list[Any]:
        assert program not in self.errors, self.errors[program]
        return [value for key, value in self.found.items() if key.split()[0] == program]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trained")


@pytest.fixture(scope="module")
def trained(folder: Path) -> Results:
    """Results of training in this process, which saves memory where it can, as all passes do then."""
    acted: set[str] = set()
    plain: Any = Compilation._result

    def noted(self: Compilation, pass_: Any) -> Any:
        graph, facts = plain(self, pass_)
        if graph is not self.graph:
            acted.add(pass_.name)
        return graph, facts

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPERAD_RECOMPUTE", "memory")
        patch.setattr(Compilation, "_result", noted)
        found, errors = run("train", od, str(folder))
    return Results(found, errors, frozenset(acted))


def predicted(folder: Path, **environment: str) -> Results:
    """Results of predicting in a new process."""
    program = Path(__file__).with_name("trained_programs.py")
    words = (sys.executable, program, "predict", folder)
    done = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with np.load(folder / "predict.npz") as values:
        found = dict(values)
    return Results(found, json.loads((folder / "predict.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def loaded(trained: Results, folder: Path) -> Results:
    return predicted(folder)


@pytest.fixture(scope="module")
def without_passes(trained: Results, folder: Path) -> Results:
    return predicted(folder, OPERAD_FUSION="off", OPERAD_HOISTING="off", OPERAD_RECOMPUTE="off")


def test_there_are_twelve() -> None:
    assert len(PROGRAMS) == 12


@pytest.mark.walk  # in one process, which trains them
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_new_process_predicts_the_same_bits(name: str, trained: Results, loaded: Results) -> None:
    before, after = trained.of(name), loaded.of(name)
    assert len(before) == len(after) > 0
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.more  # without passes all programs run once more
@pytest.mark.parametrize("name", PROGRAMS)
def test_passes_change_roundings_alone(name: str, loaded: Results, without_passes: Results) -> None:
    for one, other in zip(loaded.of(name), without_passes.of(name), strict=True):
        np.testing.assert_allclose(one, other, TOLERANCE, TOLERANCE)


@pytest.mark.walk
@pytest.mark.parametrize("name", PROGRAMS)
def test_predictions_are_of_what_was_trained(name: str, loaded: Results) -> None:
    """Rows differ, and none is what a network of zeros would give for all."""
    for values in loaded.of(name):
        assert np.isfinite(values).all()
        assert np.ptp(values, axis=0).max() > 1e-4


def test_every_listed_pass_changed_a_graph(trained: Results) -> None:
    require_vector_code()  # without which nothing is fused
    listed = {step.name for step in pass_list()} - ADDING_FACTS
    assert {*installed_passes()} <= listed
    assert listed <= trained.acted
