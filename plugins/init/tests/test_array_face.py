"""Functions of `od.nd` that make arrays."""

from __future__ import annotations

import pytest

from operad import nd
from operad.errors import ContextError


@pytest.mark.parametrize(
    "call",
    [
        lambda: nd.ones(2, 3), lambda: nd.zeros((2,), ctx="cpu"), lambda: nd.full((2,), 1, "gpu"),
        lambda: nd.arange(3, ctx=-1), lambda: nd.eye(3, ctx=0), lambda: nd._arange(start=0, stop=3, ctx=-1),
        lambda: nd._zeros(shape=(2,), ctx="cpu"),
    ],
)  # fmt: skip
def test_what_is_no_context_is_refused_by_functions_that_make_arrays(call):
    with pytest.raises(ContextError, match=r"^\w+: ctx is .*expected a Context.*operad\.cpu\(\).*one shape"):
        call()
