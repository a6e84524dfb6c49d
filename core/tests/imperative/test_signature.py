"""Types and shapes of imperative calls."""

from __future__ import annotations

import numpy as np
import pytest

from operad import registry
from operad.device import cpu
from operad.errors import ShapeError
from operad.imperative import spec_of
from operad.imperative.signature import inferred
from operad.op import OperatorProperty

pytestmark = pytest.mark.usefixtures("operators")


def specs(*shapes):
    return [spec_of(shape, np.dtype("float64"), cpu()) for shape in shapes]


def test_outputs_have_shapes_and_types_that_follow_from_the_arguments():
    in_types, outs = inferred(registry.get("SineCosine")(), specs((2, 3)), 1, cpu(1))
    assert in_types == [np.float64]
    assert outs[:2] == (spec_of((2, 3), np.dtype("float64"), cpu(1)),) * 2


def test_a_state_of_another_shape_is_refused_by_name():
    with pytest.raises(ShapeError, match=r"Centre: \w+ has shape \(2,\), expected \(3,\)"):
        inferred(registry.get("Centre")(), specs((2, 3), (2,)), 1, cpu())


def test_a_fault_of_inference_is_marked_as_the_operators():
    class Faulty(OperatorProperty):
        name = "Faulty"

        def infer_shape(self, in_shapes):
            raise KeyError("lost")

    with pytest.raises(KeyError) as caught:
        inferred(Faulty(), specs((2,)), 1, cpu())
    assert caught.value.__notes__ == ["in the inference of Faulty: a fault of the operator, not of the call"]
