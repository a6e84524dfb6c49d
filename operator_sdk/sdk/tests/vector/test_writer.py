"""Text of vectors and of control flow."""

from __future__ import annotations

import numpy as np
import pytest

from operad_sdk.vector import KERNEL_PARAMETERS, NAME, Writer, words_address
from operad_sdk.vector.machine import loaded
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()


def run(write, first, last):
    """What a kernel with these numbers stores into its scratch memory."""
    code = Writer(NAME, KERNEL_PARAMETERS, 16)
    write(code)
    found = np.zeros(16, np.int32)
    loaded(code.module())(0, first, last, words_address(found))
    return found.tolist()


@pytest.mark.parametrize("begin", [0, 3, 1 << 32, (1 << 40) - 5])
@pytest.mark.parametrize("left", [-7, 0, 1, 15, 16, 17, 1 << 31, 1 << 32, (1 << 32) + 1])
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_masks_are_of_the_lanes_before_an_end_however_far_it_is(begin, left, kind):
    def write(code):
        code.store_masked("int32", code.constant("int32", 1), "%scratch", code.mask("%first", "%last", kind))

    assert run(write, begin, begin + left) == [int(lane < left) for lane in range(16)]


@pytest.mark.parametrize(("first", "expected"), [(1, 5), (2, 3)])
def test_a_body_gives_its_values_when_a_condition_is_true_and_else_others_stand(first, expected):
    def write(code):
        vector = code.vector("int32")
        condition = code.value("icmp slt i64 %first, %last")
        three = code.constant("int32", 3)
        (found,) = code.when(
            condition,
            [(vector, three)],
            lambda: [code.value(f"add {vector} {three}, {code.constant('int32', 2)}")],
        )
        code.store_vector("int32", found, "%scratch")

    assert run(write, first, 2) == [expected] * 16
