"""Every rule against central differences, and once more for its own derivative."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from operad_sdk.differentiate import dispatch, vector_jacobian

RNG = np.random.default_rng(5)
X = RNG.uniform(0.2, 0.9, (3, 4))
Y = RNG.uniform(0.2, 0.9, (3, 4))
SQUARE = X[:, :3] + 3 * np.eye(3)
STEP = 1e-5

UNARY = sorted(
    (ufunc for ufunc in dispatch.UFUNCS if ufunc.nin == ufunc.nout == 1 and ufunc is not np.arccosh),
    key=lambda u: u.__name__,
)
BINARY = sorted(
    (ufunc for ufunc in dispatch.UFUNCS if ufunc.nin == 2 and ufunc.nout == 1 and ufunc is not np.matmul),
    key=lambda u: u.__name__,
)


def _filled(x):
    out = np.empty_like(x)
    np.multiply(x, x, out=out)
    out[:, 1:] *= x[:, :-1]
    view = out.reshape(-1)[2:5]
    np.exp(view, out=view)
    out.T[0] = x[:, 2]
    out += np.tanh(out)
    return out


def _added_at(x):
    out = np.zeros_like(x)
    np.add.at(out, (np.array([0, 0, 2]), slice(None)), np.square(x))
    return out


def _put_along(x):
    out = x * x
    np.put_along_axis(out, np.argsort(x, 1)[:, :2], np.sin(x[:, :2]), 1)
    return out


def _copied(x):
    out = np.zeros_like(x)
    np.copyto(out, x**3, where=x > 0.5)
    return out


FUNCTIONS = {
    "sum": lambda x: np.sum(x * x, axis=0, keepdims=True),
    "add.reduce": lambda x: np.add.reduce(x * x, axis=(0, 1)),
    "mean": lambda x: np.mean(x**3, axis=-1),
    "max": lambda x: np.max(x, axis=1) ** 2,
    "min": lambda x: x.min() ** 2,
    "prod": lambda x: np.prod(x, axis=0),
    "cumsum": lambda x: np.cumsum(x * x),
    "reshape": lambda x: x.reshape(2, 6) ** 2,
    "transpose": lambda x: np.transpose(x) ** 2,
    "moveaxis": lambda x: np.moveaxis(x[None] ** 2, 0, -1),
    "broadcast_to": lambda x: np.broadcast_to(x[:1], (3, 4)) ** 2,
    "squeeze": lambda x: np.expand_dims(x, 1).squeeze(1) ** 2,
    "flip": lambda x: np.flip(x, 0) ** 2,
    "concatenate": lambda x: np.concatenate([x, x * x, np.ones((1, 4))]) ** 2,
    "stack": lambda x: np.stack([x, x * x], axis=1) ** 2,
    "pad": lambda x: np.pad(x, ((1, 0), (0, 2))) ** 2,
    "where": lambda x: np.where(x > 0.5, x * x, np.sin(x)),
    "clip": lambda x: np.clip(x, 0.4, 0.6) ** 2,
    "nan_to_num": lambda x: np.nan_to_num(x) ** 2,
    "astype": lambda x: x.astype(np.float64) ** 2,
    "matmul": lambda x: x @ x.T @ x,
    "matmul of vectors": lambda x: x[0] @ x.T @ x,
    "dot": lambda x: x.dot(x[1]),
    "tensordot": lambda x: np.tensordot(x, x, ((0, 1), (0, 1))),
    "einsum": lambda x: np.einsum("ij,kj,k->i", x, x, x[:, 0]),
    "inv": lambda x: np.linalg.inv(x[:, :3] + 3 * np.eye(3)),
    "solve": lambda x: np.linalg.solve(x[:, :3] + 3 * np.eye(3), x),
    "part": lambda x: x[1:, ::2] ** 2,
    "rows": lambda x: x[[0, 2, 0]] ** 2,
    "mask": lambda x: x[X > 0.5] ** 2,
    "take": lambda x: np.take(x, [3, 0, 3], axis=1) ** 2,
    "take_along_axis": lambda x: np.take_along_axis(x, np.argsort(x, 1), 1) ** 2,
    "put_along_axis": _put_along,
    "diagonal": lambda x: np.diagonal(x, 1) ** 2,
    "diag": lambda x: np.diag(x[0] ** 2, -1),
    "tril": lambda x: np.tril(x, 1) ** 2,
    "add.at": _added_at,
    "copyto": _copied,
    "bincount": lambda x: np.bincount([0, 2, 1, 0], np.square(x[0]), 5) ** 2,
    "filled and viewed": _filled,
    "iterated": lambda x: sum(row * row for row in x),
    "fixed branch": lambda x: x * x if x.shape[0] == 3 else x,
}


def along(function, arrays, directions):
    """The derivative of a function of arrays along directions, by central differences."""
    ahead, behind = (
        function([a + sign * STEP * d for a, d in zip(arrays, directions, strict=True)]) for sign in (1, -1)
    )
    return (ahead - behind) / (2 * STEP)


def expect_derivatives(function, arrays, order=3):
    """Compare up to an order: each is the derivative of the one before."""
    for _ in range(order):
        value = np.asarray(function(arrays))
        cotangent = RNG.uniform(-1, 1, value.shape)
        directions = [RNG.uniform(-1, 1, a.shape) for a in arrays]
        found = vector_jacobian(lambda xs, f=function: [f(xs)], arrays, [cotangent], [True] * len(arrays))
        expected = float((along(function, arrays, directions) * cotangent).sum())
        computed = sum(float((g * d).sum()) for g, d in zip(found, directions, strict=True))
        assert computed == pytest.approx(expected, rel=2e-5, abs=1e-6)
        weights = [RNG.uniform(-1, 1, a.shape) for a in arrays]

        def gradient(xs, f=function, c=cotangent, w=weights):
            grads = vector_jacobian(lambda ys: [f(ys)], xs, [c], [True] * len(xs))
            total = 0.0
            for one, weight in zip(grads, w, strict=True):
                total = total + (one * weight).sum()
            return total

        function = gradient


@pytest.mark.walk
@pytest.mark.parametrize("ufunc", UNARY, ids=lambda u: u.__name__)
def test_ufuncs_of_one_array(ufunc):
    expect_derivatives(lambda xs: ufunc(xs[0]), [X])


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda u: u.__name__)
def test_ufuncs_of_two_arrays_that_broadcast(ufunc):
    expect_derivatives(lambda xs: ufunc(xs[0], xs[1]), [X, Y[1:2]])


@pytest.mark.walk
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    expect_derivatives(lambda xs: FUNCTIONS[name](xs[0]), [X])


def test_arccosh_beyond_1():
    expect_derivatives(lambda xs: np.arccosh(xs[0]), [X + 1])


def test_functions_without_a_slope_give_plain_arrays():
    def function(xs):
        assert type(xs[0] > 0.5) is np.ndarray
        assert type(np.argmax(xs[0], 1)) is np.ndarray
        return [xs[0] * np.sign(xs[0]) + np.floor(xs[0])]

    (found,) = vector_jacobian(function, [X], [np.ones_like(X)], [True])
    np.testing.assert_array_equal(found, np.ones_like(X))


def pulled(function, arrays, head=1.0):
    """The gradients of a function of arrays, where that of its result is `head`."""
    cotangent = np.full_like(arrays[0], head)
    with np.errstate(all="ignore"):
        return vector_jacobian(lambda xs: [function(*xs)], arrays, [cotangent], [True] * len(arrays))


def slope_of_base(a, b):
    return vector_jacobian(lambda xs: [np.power(*xs)], [a, b], [np.ones(1)], [True, False])[0]


@pytest.mark.parametrize("base", [5e-324, 1e-310, -1e-310, 1e-300, 0.5, 1.0, 2.0])
def test_a_power_of_exponent_0_is_flat_along_every_base_and_its_slope_is_too(base):
    point = [np.array([base]), np.zeros(1)]
    assert pulled(np.power, point)[0] == 0
    assert pulled(slope_of_base, point)[0] == 0
    if base > 0:
        with np.errstate(all="ignore"):
            assert pulled(slope_of_base, point)[1] == 1 / np.float64(base)


def test_a_small_power_of_a_small_base_has_the_slope_of_any():
    base, exponent = np.array([1e-310, 1e-310, 1e-307, 1e-3]), np.array([1e-300, -1e-5, -9e-4, 1e-4])
    found = pulled(np.power, [base, exponent])[0]
    pairs = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(base, exponent, strict=True)]
    expected = [float(b * a ** (b - 1)) for a, b in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize(
    ("function", "place", "expected"), [(np.hypot, 0, 0.6), (np.hypot, 1, 0.8), (np.divide, 1, -0.1875)]
)
def test_a_slope_is_found_before_it_meets_the_gradient(function, place, expected, size):
    """`g (a / y)` of a length, `-g (y / b)` of a quotient: `g a` would overflow, or vanish."""
    found = pulled(function, [np.array([3 * size]), np.array([4 * size])], size)[place]
    np.testing.assert_allclose(found, expected * (1 if function is np.divide else size), rtol=1e-14)
