"""What users call, where the framework is not installed."""

from __future__ import annotations

import sys

import pytest

import operad as od
from operad.errors import ParamError, UnsupportedError
from operad.operator import OperatorProperty, param
from operad_export.parameters import parsed, values
from operad_export.signature import OperatorSignature


class Scales(OperatorProperty):
    factor = param(float)
    axes = param("shape", ())

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []


SCALES = OperatorSignature(Scales)


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_a_framework_that_is_not_installed_is_named_with_the_way_to_it(monkeypatch, framework):
    monkeypatch.delitem(sys.modules, f"operad_export.{framework}_operators", raising=False)
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(
        UnsupportedError, match=rf"needs {framework}.*pip install operad-export\[{framework}\]"
    ):
        getattr(od.export, framework)("LRN", nsize=3)


def test_parameters_are_validated_when_the_function_is_made():
    assert parsed(SCALES, {"factor": "2", "axes": "(1, 2)"}) == {"factor": 2.0, "axes": (1, 2)}
    with pytest.raises(ParamError, match="Scales: unknown parameter 'factr'; did you mean 'factor'"):
        parsed(SCALES, {"factr": 2})
    with pytest.raises(ParamError, match="Scales: parameter 'factor' is 'much'"):
        parsed(SCALES, {"factor": "much"})


def test_a_required_parameter_may_be_left_to_the_call():
    assert parsed(SCALES, {}) == {}


def test_values_have_defaults_and_tuples():
    assert values(SCALES, {"factor": 2.0}) == (2.0, ())
    assert values(SCALES, {"factor": 2.0, "axes": [1, 2]}) == (2.0, (1, 2))
    # PyTorch writes no default for a list that may hold None, and gives None instead.
    assert values(SCALES, {"factor": 2.0, "axes": None}) == (2.0, ())
