"""`examples/gpt.py`: as a symbol and as a function of arrays it is the same network, trained the same way."""

from __future__ import annotations

import numpy as np
import pytest

from examples import gpt


@pytest.mark.more
def test_a_function_has_the_losses_and_the_parameters_of_the_symbol() -> None:
    size, alphabet, seen, unseen = gpt.prepared(quick=True)
    numbers = np.concatenate([seen[:-1], unseen])  # two batches
    found = []
    for way in (gpt.as_symbol, gpt.as_function):
        given = gpt.batches(numbers, size, shuffle=True), gpt.batches(unseen, size, shuffle=False)
        found.append(way(len(alphabet), size, *given, 2))
    (losses, held_out, params), (of_function, held_out_of_function, params_of_function) = found

    assert len(losses) == 4
    assert losses[-1] < losses[0] - 0.1
    np.testing.assert_allclose(of_function, losses, atol=1e-5)
    assert held_out_of_function == pytest.approx(held_out, abs=1e-5)
    for name, array in params.items():
        np.testing.assert_allclose(params_of_function[name].asnumpy(), array.asnumpy(), atol=1e-4)
