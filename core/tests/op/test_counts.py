"""No parameter makes an operator ask for an absurd number of tensors."""

from __future__ import annotations

import pytest

from core.tests.memory import peak_bytes
from operad.errors import ParamError
from operad.op import MOST_TENSORS, OperatorProperty, check_argument_counts, param


class Many(OperatorProperty):
    inputs: int = param(int, 1, ge=1)
    outputs: int = param(int, 3, ge=3)
    states: tuple[int, ...] = param("shape", (0,))
    size: int = param(int, 1, ge=1)
    optional: int | None = param(int, None, ge=1)

    def list_arguments(self):
        return [f"arg{i}" for i in range(self.inputs)]

    def list_outputs(self):
        return [f"output{i}" for i in range(self.outputs)]

    def list_auxiliary_states(self):
        return [f"state{i}" for i in range(sum(self.states))]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [None] * self.outputs, []


@pytest.mark.parametrize(
    "params",
    [{"inputs": 10**9}, {"outputs": 10**9}, {"states": (3, 10**9)}, {"inputs": 10**9, "outputs": 10**9}],
)
def test_a_count_is_refused_before_memory_is_touched(params):
    Many(size=1)  # what is imported on first use is not the call's

    def act():
        with pytest.raises(ParamError, match=f"Many: parameter .* counts tensors, .* most {MOST_TENSORS}"):
            Many(**params)

    assert peak_bytes(act) < 1 << 20


def test_the_bound_itself_is_allowed():
    assert len(Many(inputs=MOST_TENSORS).list_arguments()) == MOST_TENSORS
    with pytest.raises(ParamError):
        Many(inputs=MOST_TENSORS + 1)


def test_a_parameter_that_counts_no_tensors_has_no_bound():
    prop = Many(size=10**18, optional=10**18)
    assert (prop.size, prop.optional) == (10**18, 10**18)


def test_arguments_are_compared_with_a_smaller_number_on_request():
    check_argument_counts(Many(inputs=5, outputs=100, size=100), 5)
    with pytest.raises(ParamError, match="'inputs' is 6 and counts tensors, expected at most 5"):
        check_argument_counts(Many(inputs=6), 5)


def test_a_small_trial_that_goes_wrong_decides_nothing():
    class Fragile(Many):
        def list_outputs(self):
            return ["output"] * (10 // (self.size - 1))

    assert Fragile(size=10**9).size == 10**9
