"""Gradients of a tape that is one compiled call, and beside it of one with others."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.autograd.recorded import A, B, variable
from core.tests.compiled.polynomial import compiled, gradients, recorded
from operad import autograd, nd
from operad.errors import GradientError

pytestmark = pytest.mark.usefixtures("operators")


@pytest.mark.parametrize("is_mixed", [False, True], ids=["alone", "among others"])
class TestGradients:
    """Of a tape that is the one call, and of one with other calls around it."""

    @staticmethod
    def run(x, y, is_mixed):
        return recorded(x, y, lambda x, y: compiled(x * 1.0, y) * 1.0) if is_mixed else recorded(x, y)

    def test_of_other_arrays_are_theirs(self, is_mixed, each_engine) -> None:
        """What is kept of a run is exchanged: arguments, head gradients and buffers are others each time."""
        for number in range(4):
            x, y = variable(A + number), variable(B * (number + 1))
            head = np.float32([1, 2, 3]) + number
            self.run(x, y, is_mixed).backward(nd.array(head))
            for array, expected in zip((x, y), gradients(A + number, B * (number + 1)), strict=True):
                np.testing.assert_allclose(array.grad.asnumpy(), expected * head, rtol=1e-5)

    def test_in_prediction_are_those_of_that_mode(self, is_mixed) -> None:
        x, y = variable(A), variable(B)
        for train_mode in (True, False, True):
            self.run(x, y, is_mixed).backward(train_mode=train_mode)
            np.testing.assert_allclose(x.grad.asnumpy(), gradients(A, B)[0], rtol=1e-6)

    def test_may_go_into_parts_of_an_array(self, is_mixed) -> None:
        whole = nd.array(np.full((2, 3), 7, np.float32))
        x, y = nd.array(A), variable(B)
        autograd.mark_variables([x], [whole[1]])
        self.run(x, y, is_mixed).backward()
        np.testing.assert_allclose(whole.asnumpy()[1], gradients(A, B)[0], rtol=1e-6)
        np.testing.assert_array_equal(whole.asnumpy()[0], [7, 7, 7])

    def test_are_those_of_the_function(self, is_mixed, each_engine) -> None:
        x, y = variable(A), variable(B)
        self.run(x, y, is_mixed).backward(nd.array(B))
        for array, expected in zip((x, y), gradients(A, B), strict=True):
            np.testing.assert_allclose(array.grad.asnumpy(), expected * B, rtol=1e-6)

    def test_are_added_where_that_is_asked(self, is_mixed) -> None:
        x, y = variable(A, "add"), variable(B, "null")
        for _ in range(3):
            self.run(x, y, is_mixed).backward()
        np.testing.assert_allclose(x.grad.asnumpy(), 3 * gradients(A, B)[0], rtol=1e-6)
        np.testing.assert_array_equal(y.grad.asnumpy(), [0, 0, 0])

    def test_may_be_computed_again_from_what_was_retained(self, is_mixed) -> None:
        x, y = variable(A), variable(B)
        z = self.run(x, y, is_mixed)
        found = []
        for _ in range(2):
            z.backward(retain_graph=True)
            found.append(x.grad.asnumpy())
        np.testing.assert_array_equal(*found)
        z.backward()
        with pytest.raises(GradientError, match="freed by an earlier backward"):
            z.backward()

    def test_of_several_live_runs_are_apart(self, is_mixed) -> None:
        runs = [(variable(A + i), variable(B - i)) for i in range(5)]
        results = [self.run(x, y, is_mixed) for x, y in runs]
        for z in results[::-1]:
            z.backward()
        for i, (x, _) in enumerate(runs):
            np.testing.assert_allclose(x.grad.asnumpy(), gradients(A + i, B - i)[0], rtol=1e-6)

    def test_an_argument_that_was_overwritten_is_refused(self, is_mixed) -> None:
        x, y = variable(A), variable(B)
        z = self.run(x, y, is_mixed)
        with autograd.pause():
            y[:] = 0
        with pytest.raises(GradientError, match="was overwritten after it was recorded"):
            z.backward()

    def test_one_array_may_be_several_arguments(self, is_mixed) -> None:
        x = variable(A)
        self.run(x, x, is_mixed).backward()
        np.testing.assert_allclose(x.grad.asnumpy(), np.float32([0, 0, 0]), atol=1e-6)

    def test_grad_gives_them_in_arrays_of_their_own(self, is_mixed) -> None:
        x, y = variable(A, "add"), variable(B)
        (found,) = autograd.grad(self.run(x, y, is_mixed), x)
        np.testing.assert_allclose(found.asnumpy(), gradients(A, B)[0], rtol=1e-6)
        np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0, 0])
