"""Methods of arrays that change a shape."""

from __future__ import annotations

import numpy as np
import pytest

from operad import nd

X = np.float32([[1, -2, 3], [0.5, 0, -4]])


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda x, **o: x.flatten(**o), (2, 3)), (lambda x, **o: x.squeeze(**o), (2, 3)),
        (lambda x, **o: x.squeeze(axis=1, **o), (2, 3)), (lambda x, **o: x.expand_dims(0, **o), (1, 2, 1, 3)),
        (lambda x, **o: x.expand_dims(axis=-1, **o), (2, 1, 3, 1)),
    ],
)  # fmt: skip
def test_a_new_shape_in_place_is_a_view(call, shape):
    x = nd.array(X[:, None])
    copy, view = call(x), call(x, inplace=True)
    assert copy.shape == view.shape == shape
    view[:] = 7
    assert (x.asnumpy() == 7).all()
    assert not (copy.asnumpy() == 7).any()
