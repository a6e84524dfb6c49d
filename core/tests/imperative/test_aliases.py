"""Recorded results written to memory that several arrays see: followed, or refused, never lost."""

from __future__ import annotations

import numpy as np
import pytest

from operad import autograd, nd
from operad.errors import BindError

pytestmark = pytest.mark.usefixtures("operators")

A = np.float32([1, 2, 3])


def marked():
    x = nd.array(A)
    x.attach_grad()
    return x


WRITES = {
    "out": lambda x, b: nd.square(x, out=b),
    "copyto": lambda x, b: x.copyto(b),
    "in-place": lambda x, b: b.__iadd__(x),
}
ALIASES = {
    "slice": lambda b: b[:],
    "reshaped": lambda b: b.reshape(1, 3),
    "part": lambda b: b[:2],
    "transposed": lambda b: b.transpose(),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("alias", ALIASES.values(), ids=ALIASES)
def test_a_view_made_before_the_write_is_refused_in_a_recorded_call(write, alias):
    x, b = marked(), nd.array(A)
    view = alias(b)
    with autograd.record():
        write(x, b)
        with pytest.raises(BindError, match="shares memory"):
            nd.square(view)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("alias", ["slice", "transposed"])
def test_the_array_itself_is_refused_where_a_view_of_it_was_written(write, alias):
    x, b = marked(), nd.array(A)
    with autograd.record():
        write(x, ALIASES[alias](b))
        with pytest.raises(BindError, match="shares memory"):
            nd.square(b)
        with pytest.raises(BindError, match="shares memory"):
            nd.elemwise_mul(x, b)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_the_array_that_was_written_is_followed(write):
    x, b = marked(), nd.array(A)
    with autograd.record():
        write(x, b)
        y = b * 3
    y.backward()
    slope = 2 * A if write is WRITES["out"] else np.ones(3)
    np.testing.assert_array_equal(x.grad.asnumpy(), 3 * slope)


@pytest.mark.parametrize(
    "overwrite", [lambda v: v.__setitem__(0, 5), lambda v: nd.square(nd.array(A), out=v)]
)
def test_an_alias_is_not_written_behind_the_tapes_back(overwrite):
    x, b = marked(), nd.array(A)
    view = b[:]
    with autograd.record():
        nd.square(x, out=b)
        with pytest.raises(BindError, match="shares memory"):
            overwrite(view)


def test_what_was_detached_and_its_views_are_constants():
    x, b = marked(), nd.array(A)
    with autograd.record():
        nd.square(x, out=b)
        y = nd.elemwise_mul(b, b.detach()[:])
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * A * A * A)


def test_new_contents_make_an_alias_a_constant_again():
    x, b = marked(), nd.array(A)
    view = b[:]
    with autograd.record():
        nd.square(x, out=b)
    view[:] = 2
    with autograd.record():
        y = nd.elemwise_mul(x, view)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 2, 2])


def test_nothing_is_refused_outside_recording():
    x, b = marked(), nd.array(A)
    view = b[:]
    with autograd.record():
        nd.square(x, out=b)
    np.testing.assert_array_equal(nd.square(view).asnumpy(), A**4)
