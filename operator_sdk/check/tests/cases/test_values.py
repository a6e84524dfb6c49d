from __future__ import annotations

import numpy as np
import pytest

from operad_check.cases.values import _with_counted_zeros


@pytest.mark.parametrize("shape", [(), (1,), (6, 5), (0, 5), (3, 0), (2, 3, 4)])
def test_rows_of_any_length_and_number_have_counted_zeros(shape: tuple[int, ...]) -> None:
    found = _with_counted_zeros(np.random.default_rng(5), np.ones(shape))
    assert found.shape == shape
    if found.size > 20:
        zeros = (found == 0).sum(-1).ravel()
        length = shape[-1]
        wanted = [1, length - 1, 2, length - 2, 0, length]
        assert zeros.tolist() == wanted[: len(zeros)]
