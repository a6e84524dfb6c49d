"""Functions of NumPy that are composed of others, as forms, as programs and by their derivatives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import OpContext
from operad_sdk.differentiate import FORM, PROGRAM, Node, Traced, TraceError, form_of, merged, vector_jacobian
from operad_sdk.differentiate.errors import lasting_refusals
from operad_sdk.differentiate.made_up import zeros
from operad_sdk.programs.program import Program
from operad_sdk.vector import reason_against

FUNCTIONS = {
    "std": lambda x: x.std(axis=1, keepdims=True) + np.std(x, 0),
    "var of all": lambda x: x.var(),
    "var by position": lambda x: np.var(x, 1, None, None, 1),
    "ddof": lambda x: np.var(x, axis=-1, ddof=1) + np.std(x, axis=1, correction=2),
    "var of some": lambda x: np.var(x, axis=1, where=x > 0),
    "var about a mean": lambda x: np.var(x, axis=1, mean=np.mean(x, axis=1, keepdims=True)),
    "types": lambda x: np.var(x, 1, np.float64) + np.mean(x, 1, np.float64),
    "squares over n - 1": lambda x: (x * x).sum(1) / (x.shape[1] - 1),
    "keepdims by position": lambda x: np.sum(x, 1, None, None, True) + np.max(x, 1, None, True),
    "sum of some": lambda x: x.sum(axis=1, where=x > 0) + np.prod(x, axis=1, where=x > 0, initial=2),
    "mean of some": lambda x: np.mean(x, axis=0, where=x < 1),
    "extrema of some": lambda x: np.max(x, axis=1, where=x > 0, initial=-1) + x.min(where=x > 0, initial=3),
    "truth of some": lambda x: np.any(x > 0, axis=1, where=x < 1) | np.all(x, axis=1, where=x < 1),
    "truth": lambda x: np.logical_or.reduce(x > 0, axis=1) & np.logical_and.reduce(x < 9, axis=-1),
    "a typed sum": lambda x: np.sum(x, axis=1, dtype=x.dtype),
    "nansum": lambda x: np.nansum(x, axis=1) + np.nanmean(x, axis=1),
    "nanstd": lambda x: np.nanstd(x, axis=0, ddof=1, keepdims=True) * np.nanvar(x),
    "nanmax": lambda x: np.nanmax(x, axis=1) - np.nanmin(x),
    "average": lambda x: np.average(x, axis=1) + np.average(x, axis=1, weights=np.abs(x[0]) + 1),
    "average of all": lambda x: np.average(x, weights=np.abs(x) + 1),
    "count_nonzero": lambda x: np.count_nonzero(x, axis=1) + np.count_nonzero(x > 0, axis=1),
    "ptp": lambda x: np.ptp(x, 1) + np.ptp(x, axis=(0, 1), keepdims=True),
    "norm": lambda x: np.linalg.norm(x, axis=1, keepdims=True) + np.linalg.norm(x),
    "norms": lambda x: np.linalg.norm(x, 1, axis=1) + np.linalg.norm(x, np.inf, 1) - np.linalg.norm(x, "fro"),
    "diff": lambda x: np.diff(x, 2) * np.diff(x, axis=0)[:1, 1:-1],
    "diff with ends": lambda x: np.diff(x, prepend=x[:, :1], append=1),
    "diff of truth": lambda x: np.diff(x > 0),
    "select": lambda x: np.select([x > 1, x > 0], [x * 2, -x], 5) + np.select([x > 1], [x]),
    "clip": lambda x: np.clip(x, min=0) + x.clip(max=1) + np.clip(x, 0, 1, None) + np.clip(x, None, 1),
    "hstack": lambda x: np.hstack([x, x * 2, x > 0]),
    "vstack": lambda x: np.vstack((x, x[0])),
    "dstack": lambda x: np.dstack((x, -x)),
    "column_stack": lambda x: np.column_stack((x[0], x[0] * 2)),
    "hstack of vectors": lambda x: np.hstack((x[0], x.sum())),
    "concatenate flat": lambda x: np.concatenate([x, x[:1]], None) + np.append(x, x[0]),
    "ravel": lambda x: np.ravel(x) - x.ravel(order="F") + x.flatten("F"),
    "atleast": lambda x: np.atleast_3d(x) * np.atleast_2d(x[0])[..., None],
    "transposed": lambda x: x.mT + np.matrix_transpose(np.copy(x)),
    "turned": lambda x: np.rot90(x) + np.rot90(np.fliplr(x), -1) + np.rot90(np.flipud(x).T, 2),
    "broadcast": lambda x: np.broadcast_arrays(x, x[0])[1] + np.meshgrid(x[0], x[:, 0])[1],
    "meshgrid": lambda x: np.meshgrid(x[0], x[:, 0], indexing="ij", sparse=True)[1] + x.T,
    "split": lambda x: np.array_split(x, 3, axis=1)[1] + np.hsplit(x, [1])[0],
    "pad": lambda x: np.pad(x, ((0, 0), (1, 2)), "edge") + np.pad(x, ((0, 0), (2, 1)), "reflect"),
    "outer": lambda x: np.outer(x[0], x[:, 0]) + np.subtract.outer(x[0], x[:, 0]),
    "inner": lambda x: np.inner(x, x) + np.inner(x, x[0]) + np.vdot(x, x),
    "vecdot": lambda x: np.vecdot(x, x) + np.linalg.vecdot(x.T, x.T, axis=0),
    "multi_dot": lambda x: np.linalg.multi_dot([x, x.T, x]),
    "einsum": lambda x: np.einsum("...j,...j->...", x, x) + np.einsum("ij,kj", x, x),
    "sinc": lambda x: np.sinc(x) + np.around(x) + np.real(x),
    "divmod": lambda x: np.divmod(x, 0.75)[1] - divmod(x, 0.75)[0],
    "polyval": lambda x: np.polyval([1.0, 2.0, 3.0], x),
    "accumulate": lambda x: np.add.accumulate(x, 1) + np.maximum.accumulate(x, axis=1),
    "sorted": lambda x: np.median(x, axis=1, keepdims=True) + np.quantile(x, 0.25, axis=0),
    "equal numbers": lambda x: x * np.full(x.shape[1], 3, x.dtype) + np.zeros(x.shape[1], x.dtype),
    "a result type": lambda x: x.astype(np.result_type(x, np.float32)) * x.itemsize + x.nbytes,
}


def stable_sigmoid(x):
    out, above = np.empty_like(x), x >= 0
    out[above] = 1 / (1 + np.exp(-x[above]))
    power = np.exp(x[~above])
    out[~above] = power / (1 + power)
    return out


def written_between(x):
    y, above = x * 1, x > 0
    part = y[above]
    y[...] = 5
    part -= x[above].mean()
    y[above] = part * np.max(x)
    return y


def leaky(x):
    y = x.copy()
    y[x < 0] *= 0.5
    y[np.isnan(y)] = 0
    return y


FUNCTIONS |= {"sigmoid": stable_sigmoid, "written between": written_between, "leaky": leaky}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 2.5]


def drawn(shape, dtype, special):
    rng = np.random.default_rng(3)
    x = rng.normal(size=shape) * 2
    x = np.where(rng.random(shape) < 0.3 * special, rng.choice(SPECIAL, size=shape), x)
    return (
        x.astype(dtype)
        if np.dtype(dtype).kind == "f"
        else np.abs(np.nan_to_num(x, posinf=3, neginf=-3)).astype(dtype)
    )


def form_result(function, x, want):
    cell = Traced(Node(FORM, x, is_input=True))
    given = Traced(cell.node)
    form, _ = form_of("f", [("x", given)], [("y", function(cell))])
    return form.evaluate([x], form.space({"x": x.shape, "y": want.shape}))[0]


def program_result(function, x, want):
    cell = Traced(Node(PROGRAM, zeros(x.shape, x.dtype), is_input=True))
    given = cell.node
    program = Program([given], [function(cell).node], always=True)
    assert program.specs == [(want.shape, want.dtype)]
    found = np.empty(want.shape, want.dtype)
    program.run(OpContext(cpu(), is_train=False), [x], (0,), [found])
    return found


def expect_same(result, function, x):
    """Return whether the function's trace gives what NumPy does; there may be none."""
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        try:
            want = np.asarray(function(x.copy()))
        except (TypeError, ValueError, IndexError, ArithmeticError):
            return True
        try:
            found = result(function, x, want)
        except (TraceError, ValueError, ArithmeticError):
            return False
    assert (found.dtype, found.shape) == (want.dtype, want.shape)
    tolerance = {2: 8e-3, 4: 4e-5}.get(want.dtype.itemsize, 1e-10) * (want.dtype.kind == "f")
    np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance)
    return True


@pytest.mark.walk
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_form_of_a_composition_computes_what_numpy_does(name):
    expect_same(form_result, FUNCTIONS[name], drawn((6, 7), "f4", True))


@pytest.mark.more
@pytest.mark.walk
@pytest.mark.parametrize("name", FUNCTIONS)
def test_forms_of_compositions_have_numpys_types(name):
    for dtype in ("f4", "f8", "f2", "i4", "?"):
        for shape in ((6, 7), (1, 4)):
            for special in (False, True):
                expect_same(form_result, FUNCTIONS[name], drawn(shape, dtype, special))


@pytest.mark.more
@pytest.mark.walk
@pytest.mark.skipif(bool(reason_against()), reason="there is no vector code")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_program_of_a_composition_computes_what_numpy_does(name):
    assert expect_same(program_result, FUNCTIONS[name], drawn((6, 7), "f4", False))
    for shape, dtype in (((6, 7), "f4"), ((3, 0), "f4"), ((1, 4), "i4")):
        expect_same(program_result, FUNCTIONS[name], drawn(shape, dtype, True))


SMOOTH = [
    "std", "ddof", "var of some", "var about a mean", "squares over n - 1", "sum of some", "mean of some",
    "nansum", "nanstd", "nanmax", "average", "average of all", "ptp", "norm", "diff with ends", "select",
    "clip", "hstack", "dstack", "concatenate flat", "ravel", "turned", "broadcast", "pad", "outer", "inner",
    "vecdot", "einsum", "sinc", "divmod", "polyval",
]  # fmt: skip


@pytest.mark.walk
@pytest.mark.parametrize("name", SMOOTH)
def test_a_composition_has_the_derivative_of_what_it_is_composed_of(name):
    x, rng = np.random.default_rng(1).uniform(0.2, 0.9, (4, 4)), np.random.default_rng(2)
    head, way = rng.normal(size=np.shape(FUNCTIONS[name](x))), rng.normal(size=x.shape)
    (found,) = vector_jacobian(lambda xs: [FUNCTIONS[name](xs[0])], [x], [np.asarray(head)], [True])
    ahead, behind = (FUNCTIONS[name](x + step * way) for step in (1e-6, -1e-6))
    np.testing.assert_allclose((found * way).sum(), (head * (ahead - behind)).sum() / 2e-6, rtol=1e-6)


def test_what_a_masked_variance_leaves_out_reaches_no_slope():
    x = np.array([[1.0, np.nan, 4.0]])
    (found,) = vector_jacobian(lambda xs: [np.nanvar(xs[0], axis=1)], [x], [np.ones(1)], [True])
    np.testing.assert_allclose(found, [[-1.5, 0.0, 1.5]])


@pytest.mark.parametrize("ddof", [1, 2])
def test_degrees_of_freedom_follow_from_lengths(ddof):
    def spread(x):
        return np.var(x, axis=1, ddof=ddof)

    traces = []
    for shape in ((6, 7), (23, 19)):
        cell = Traced(Node(FORM, drawn(shape, "f8", False), is_input=True))
        given = Traced(cell.node)
        traces.append(form_of("f", [("x", given)], [("y", spread(cell))]))
    form = merged(traces[0][0], traces[1][0], (traces[0][1], traces[1][1]))
    for columns in (3, 5, 100):
        x = drawn((3, columns), "f8", False)
        np.testing.assert_allclose(form.evaluate([x], x.shape)[0], spread(x), rtol=1e-12)


def test_more_degrees_of_freedom_than_the_least_length_are_no_form():
    with pytest.raises(TraceError, match="ddof"):
        form_result(lambda x: np.var(x, axis=1, ddof=3), drawn((6, 7), "f4", False), np.empty(6, "f4"))


def test_a_variance_is_found_about_the_mean():
    x = np.float32(1e4) + drawn((40, 300), "f4", False)
    expected = np.var(x.astype("f8"), axis=1)
    np.testing.assert_allclose(form_result(lambda x: np.var(x, axis=1), x, expected), expected, rtol=1e-4)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.concatenate([x[x > 0], x[x <= 0]]),
        lambda x: x[x > 0] + x[x > 1],
        lambda x: x[x > 0] * x[0],
        lambda x: np.sort(x[x > 0]),
    ],
)
def test_what_depends_on_how_many_elements_a_mask_names_is_refused(function):
    with pytest.raises(TraceError, match="how many elements"), lasting_refusals():
        function(Traced(Node(FORM, drawn((6, 7), "f4", False), is_input=True)))
