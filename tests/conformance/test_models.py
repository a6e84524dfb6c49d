"""Whole models against the record of MXNet 1.9.1, and files in both directions; see docs/interop.md."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import operad as od
from operad.cli import main
from tests.conformance.models import record
from tests.conformance.models.__main__ import BEGIN, END, PAGE
from tests.conformance.models.aging import aged
from tests.conformance.models.catalogue import MODELS
from tests.conformance.models.comparison import (
    TOLERANCE,
    digest_of_files,
    from_description,
    from_mxnets_files,
    from_symbol,
)
from tests.conformance.models.compute import inferred
from tests.conformance.models.model import Model
from tests.conformance.models.summary import Distance, Results, distance, results, summary

RECORD = record.load()

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def assert_near(found: Distance) -> None:
    assert max(dataclasses.astuple(found)) <= TOLERANCE, found


@every_model
def test_a_description_has_mxnets_arguments_and_outputs(model: Model) -> None:
    told, symbol = RECORD[model.name], model.symbol(od)
    arguments, states = inferred(model, symbol)

    assert list(arguments.items()) == list(told.arguments.items())
    assert list(states.items()) == list(told.auxiliary.items())
    assert symbol.list_outputs() == list(told.results.predicted)


@every_model
def test_a_description_computes_what_it_computes_under_mxnet(model: Model) -> None:
    assert_near(from_description(model, RECORD[model.name]))


@every_model
def test_mxnets_checkpoint_computes_here_what_it_computes_there(model: Model) -> None:
    assert_near(from_mxnets_files(model, RECORD[model.name]))


@every_model
def test_operads_checkpoint_computes_there_what_it_computes_here(model: Model) -> None:
    verdict = RECORD[model.name].verdict

    assert digest_of_files(model) == verdict.digest, "ask MXNet again: tests/conformance/record_models.py"
    assert_near(verdict.distance)


@every_model
def test_a_file_of_mxnet_0_8_is_brought_up_to_date(model: Model, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(aged(RECORD[model.name].symbol))
    done = CliRunner().invoke(main, ["convert", str(old), "-o", str(new)])

    assert done.exit_code == 0, done.output
    assert_near(from_symbol(od.sym.load(str(new)), model, RECORD[model.name]))


def test_every_model_has_a_row_in_the_documentation() -> None:
    table = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]

    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == list(MODELS)


def _results(values: list[float], gradient: float = 1.0) -> Results:
    outputs = {"out": summary(np.array(values, np.float32))}
    return Results(outputs, outputs, {}, {"weight": gradient})


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (_results([1.0, 4.0]), Distance(0.0, 0.0, 0.0)),
        (_results([1.0, 3.0]), Distance(0.25, 0.0, 0.0)),
        (_results([1.0, 4.0], gradient=3.0), Distance(0.0, 2.0, 0.0)),
        (_results([1.0, 4.0, 4.0]), Distance(np.inf, 0.0, 0.0)),
        (_results([1.0, np.nan]), Distance(np.inf, 0.0, 0.0)),
        (dataclasses.replace(_results([1.0, 4.0]), gradients={}), Distance(0.0, np.inf, 0.0)),
    ],
)
def test_a_distance_is_relative_to_the_largest_element(found: Results, expected: Distance) -> None:
    assert distance(found, _results([1.0, 4.0])) == expected


def test_a_large_array_is_known_by_a_sample_and_its_norm() -> None:
    values = np.ones(1000, np.float32)
    values[1] = 50.0
    told = summary(values)

    assert (told.shape, told.sample.size, told.norm) == ((1000,), 128, np.sqrt(999 + 2500))


def test_results_keep_the_norms_of_gradients() -> None:
    computed = type("Computed", (), {"predicted": {}, "trained": {}, "states": {}})()
    computed.gradients = {"weight": np.array([[3.0], [4.0]], np.float32)}

    assert results(computed).gradients == {"weight": 5.0}
