"""Each function of NumPy that an entry point names gives what NumPy gives, as an array that is recorded."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.metadata import entry_points
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from operad import NDArray, autograd, nd
from operad.errors import OperadError

X = np.float32([[3, -2, 1], [0.5, 4, -4]])
V = np.float32([2, -1, 0.5])
SQUARE = np.float32([[2, 1], [0.5, 3]])


def _put(put: Any, array: Any, places: Any) -> Any:
    """The array into which was written."""
    put(array, places, 7.0, 1)
    return array


Call = Callable[[Any, Callable[[Any], Any]], Any]
CALLS: dict[str, list[Call]] = {
    "sum": [lambda f, a: f(a(X)), lambda f, a: f(a(X), axis=1, keepdims=True)],
    "prod": [lambda f, a: f(a(X), axis=0)],
    "mean": [lambda f, a: f(a(X), (0, 1))],
    "max": [lambda f, a: f(a(X), 1)],
    "min": [lambda f, a: f(a(X), 1)],
    "amax": [lambda f, a: f(a(X), 0)],
    "amin": [lambda f, a: f(a(X), 0)],
    "nansum": [lambda f, a: f(a(np.where(X > 0, X, np.nan)), axis=1)],
    "nanprod": [lambda f, a: f(a(np.where(X > 0, X, np.nan)), axis=1)],
    "all": [lambda f, a: f(a(X), axis=0)],
    "any": [lambda f, a: f(a(X), axis=0)],
    "var": [lambda f, a: f(a(X), axis=0)],
    "std": [lambda f, a: f(a(X), axis=0)],
    "argmax": [lambda f, a: f(a(X)), lambda f, a: f(a(X), axis=1)],
    "argmin": [lambda f, a: f(a(X)), lambda f, a: f(a(X), axis=0)],
    "cumsum": [lambda f, a: f(a(X)), lambda f, a: f(a(X), axis=1)],
    "linalg.norm": [lambda f, a: f(a(X)), lambda f, a: f(a(X), axis=1, keepdims=True)],
    "concatenate": [lambda f, a: f([a(X), X], axis=1), lambda f, a: f((a(X), a(V)), axis=None)],
    "stack": [lambda f, a: f([a(X), X], axis=-1)],
    "vstack": [lambda f, a: f([a(X), V])],
    "hstack": [lambda f, a: f([a(X), X]), lambda f, a: f([a(V), V])],
    "split": [lambda f, a: f(a(X), 3, axis=1), lambda f, a: f(a(V), [1, -1]), lambda f, a: f(a(V), [2, 9])],
    "transpose": [lambda f, a: f(a(X)), lambda f, a: f(a(X), axes=(1, 0))],
    "moveaxis": [lambda f, a: f(a(X[None]), (0, 2), (1, 0))],
    "swapaxes": [lambda f, a: f(a(X[None]), 0, -1)],
    "reshape": [lambda f, a: f(a(X), (3, -1)), lambda f, a: f(a(X), 6)],
    "ravel": [lambda f, a: f(a(X))],
    "expand_dims": [lambda f, a: f(a(X), 1)],
    "squeeze": [lambda f, a: f(a(X[None])), lambda f, a: f(a(X[None]), axis=0)],
    "broadcast_to": [lambda f, a: f(a(V), (2, 3))],
    "flip": [lambda f, a: f(a(X)), lambda f, a: f(a(X), 1), lambda f, a: f(a(X), (0, 1))],
    "repeat": [lambda f, a: f(a(X), 2), lambda f, a: f(a(X), 2, axis=0)],
    "tile": [lambda f, a: f(a(X), 2), lambda f, a: f(a(X), (2, 1, 2))],
    "diag": [lambda f, a: f(a(V), 1), lambda f, a: f(a(X))],
    "sort": [lambda f, a: f(a(X)), lambda f, a: f(a(X), axis=None)],
    "argsort": [lambda f, a: f(a(X)), lambda f, a: f(a(X), axis=0)],
    "where": [
        lambda f, a: f(a(X) > 0, a(X), 0.0),
        lambda f, a: f(a(X) > 0, 1.0, a(V)),
        lambda f, a: f(X > 0, a(X), a(V)),
    ],
    "clip": [lambda f, a: f(a(X), -1, 2)],
    "take": [
        lambda f, a: f(a(X), [0, -1], axis=1),
        lambda f, a: f(a(X), [5, 0]),
        lambda f, a: f(a(X), a(np.array([[1, -1]])).astype("int64"), axis=1),
    ],
    "round": [lambda f, a: f(a(X + X.dtype.type(0.1)))],
    "fix": [lambda f, a: f(a(X))],
    "copy": [lambda f, a: f(a(X))],
    "zeros_like": [lambda f, a: f(a(X))],
    "ones_like": [lambda f, a: f(a(X))],
    "dot": [lambda f, a: f(a(X), a(V)), lambda f, a: f(a(X), a(X.T))],
    "outer": [lambda f, a: f(a(V), a(X)), lambda f, a: f(V, a(V))],
    "median": [lambda f, a: f(a(X)), lambda f, a: f(a(X), axis=1, keepdims=True)],
    "quantile": [
        lambda f, a: f(a(X).astype("float64"), [0.25, 0.5], axis=1),
        lambda f, a: f(a(X), 0.3, axis=0, method="higher"),
    ],
    "percentile": [lambda f, a: f(a(X).astype("float64"), 30, axis=1)],
    "count_nonzero": [lambda f, a: f(a(X > 0), axis=1)],
    "cumprod": [lambda f, a: f(a(X), axis=1), lambda f, a: f(a(X).astype("int32"))],
    "trace": [lambda f, a: f(a(X), 1), lambda f, a: f(a(SQUARE))],
    "tril": [lambda f, a: f(a(X), -1)],
    "triu": [lambda f, a: f(a(X), k=1)],
    "roll": [lambda f, a: f(a(X), 2), lambda f, a: f(a(X), (1, -1), axis=(0, 1))],
    "kron": [lambda f, a: f(a(V), a(X))],
    "cross": [lambda f, a: f(a(X), a(V)), lambda f, a: f(a(X.T), a(X.T), axis=0)],
    "tensordot": [lambda f, a: f(a(X), a(X), ([0, 1], [0, 1])), lambda f, a: f(a(SQUARE), a(X), 1)],
    "einsum": [
        lambda f, a: f("ij,kj->ik", a(X), a(X)),
        lambda f, a: f("...i->...", a(X)),
        lambda f, a: f("ij,jk,kl->il", a(SQUARE), a(SQUARE), a(X)),
    ],
    "meshgrid": [lambda f, a: f(a(V), a(SQUARE[0])), lambda f, a: f(a(V), a(V), indexing="ij")],
    "broadcast_arrays": [lambda f, a: f(a(X), a(V))],
    "unique": [
        lambda f, a: f(a(np.float32([[2, 1], [1, 3]])), return_inverse=True, return_counts=True),
        lambda f, a: f(a(np.float32([[2, 1], [0, 3], [2, 1]])), axis=0),
        lambda f, a: f(a(np.float32([[2, 2, 1]])), return_index=True, axis=1),
    ],
    "searchsorted": [lambda f, a: f(a(np.float32([-2, 1, 3])), a(X), side="right")],
    "nonzero": [lambda f, a: f(a(X) > 0)],
    "argwhere": [lambda f, a: f(a(X) > 0)],
    "bincount": [
        lambda f, a: f(a(np.array([1, 3, 1])).astype("int64"), minlength=6),
        lambda f, a: f(a(np.array([1, 0])).astype("int64"), a(V[:2]).astype("float64")),
    ],
    "take_along_axis": [
        lambda f, a: f(a(X), a(np.array([[2, -1], [0, 0]])).astype("int64"), axis=1),
        lambda f, a: f(a(X), np.array([[1], [0]]), axis=1),
    ],
    "put_along_axis": [lambda f, a: _put(f, a(X.copy()), np.array([[1], [0]]))],
    "nan_to_num": [lambda f, a: f(a(np.float32([1, np.nan, np.inf])), nan=2.0, posinf=9.0)],
    "linalg.det": [lambda f, a: f(a(SQUARE))],
    "linalg.inv": [lambda f, a: f(a(SQUARE))],
}
NAMES = sorted(
    point.name.removeprefix("numpy.")
    for point in entry_points(group="operad.attributes")
    if point.name.startswith("numpy.")
)


def compare(found: Any, expected: Any, name: str = "") -> None:
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for each, other in zip(found, expected, strict=True):
            compare(each, other)
        return
    assert isinstance(found, NDArray)
    if name in ("argmax", "argmin"):  # the operators count in floats
        expected = np.float32(expected)
    assert (found.shape, found.dtype) == (np.atleast_1d(expected).shape, expected.dtype)
    np.testing.assert_allclose(found.asnumpy(), np.atleast_1d(expected), rtol=1e-5, atol=1e-6)


def test_every_entry_point_has_calls_here() -> None:
    assert sorted(CALLS) == NAMES


@pytest.mark.walk
@pytest.mark.parametrize("name", NAMES)
def test_a_function_gives_what_numpy_gives(name: str) -> None:
    try:
        function = attrgetter(name)(np)
    except AttributeError:
        pytest.skip(f"NumPy {np.__version__} has no {name}")
    for call in CALLS[name]:
        found = call(function, nd.array)
        with warnings.catch_warnings():  # a release may deprecate what an older one has
            warnings.simplefilter("ignore", DeprecationWarning)
            expected = call(function, np.asarray)
        compare(found, expected, name)


@pytest.mark.parametrize(
    "name", ["sum", "where", "split", "cumsum", "moveaxis", "take", "hstack", "linalg.norm"]
)
def test_gradients_flow_through(name: str) -> None:
    x = nd.array(X if name != "moveaxis" else X[None])
    x.attach_grad()
    with autograd.record():
        made = CALLS[name][0](attrgetter(name)(np), lambda _: x)
        loss = sum(part.sum() for part in made) if isinstance(made, list) else made.sum()
    loss.backward()
    assert np.any(x.grad.asnumpy())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.linalg.norm(x, 1), lambda x: np.linalg.norm(x.astype("int32")),
        lambda x: np.reshape(x, (0, -1)), lambda x: np.split(x, 4, axis=1), lambda x: np.where(x > 0),
        lambda x: np.repeat(x, [1, 2], axis=0), lambda x: np.sum(x, dtype="int8"),
        lambda x: np.take(x, [6]),
    ],
)  # fmt: skip
def test_what_operators_do_not_compute_as_numpy_does_is_refused(call: Any) -> None:
    with pytest.raises(OperadError, match=r"^numpy\.\w+"):
        call(nd.array(X))
