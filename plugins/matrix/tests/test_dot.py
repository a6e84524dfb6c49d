from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_matrix.dot import BatchDot, Dot

RNG = np.random.default_rng(53)

# shapes, and how the sum is written for einsum
DOTS: list[tuple[Any, Any, dict[str, bool], str]] = [
    ((3,), (3,), {}, "i,i->"),
    ((3,), (3, 4), {}, "i,ij->j"),
    ((2, 3), (3,), {}, "ij,j->i"),
    ((2, 3), (3, 4), {}, "ij,jk->ik"),
    ((3, 2), (3, 4), {"transpose_a": True}, "ji,jk->ik"),
    ((2, 3), (4, 3), {"transpose_b": True}, "ij,kj->ik"),
    ((3, 2), (4, 3), {"transpose_a": True, "transpose_b": True}, "ji,kj->ik"),
    ((2, 2, 3), (3, 4, 2), {}, "abj,jcd->abcd"),
    ((3, 2, 2), (3, 4), {"transpose_a": True}, "jab,jc->abc"),
    ((2, 2, 3), (2, 4, 3), {"transpose_b": True}, "abj,cdj->abcd"),
    ((3,), (4, 3), {"transpose_b": True}, "i,ji->j"),
    ((3, 2), (3,), {"transpose_a": True}, "ji,j->i"),
    ((2, 0), (0, 3), {}, "ij,jk->ik"),
    ((0, 2), (2, 3), {}, "ij,jk->ik"),
    ((2, 3), (3, 0), {}, "ij,jk->ik"),
    ((0,), (0,), {}, "i,i->"),
]
BATCHES: list[tuple[Any, Any, dict[str, bool], str]] = [
    ((2, 2, 3), (2, 3, 4), {}, "bij,bjk->bik"),
    ((2, 3, 2), (2, 3, 4), {"transpose_a": True}, "bji,bjk->bik"),
    ((2, 2, 3), (2, 4, 3), {"transpose_b": True}, "bij,bkj->bik"),
    ((2, 3, 2), (2, 4, 3), {"transpose_a": True, "transpose_b": True}, "bji,bkj->bik"),
    ((2, 1, 2, 3), (2, 1, 3, 2), {}, "abij,abjk->abik"),
    ((0, 2, 3), (0, 3, 2), {}, "bij,bjk->bik"),
    ((2, 2, 0), (2, 0, 3), {}, "bij,bjk->bik"),
]


@pytest.mark.walk
@pytest.mark.parametrize(
    ("op", "lhs", "rhs", "params", "letters"),
    [(Dot, *case) for case in DOTS] + [(BatchDot, *case) for case in BATCHES],
    ids=str,
)
def test_values_and_gradients(op: Any, lhs: Any, rhs: Any, params: dict[str, bool], letters: str) -> None:
    inputs = [RNG.normal(size=lhs), RNG.normal(size=rhs)]
    check_forward(op, inputs, np.atleast_1d(np.einsum(letters, *inputs)), **params)
    gradient_check(op, inputs, rtol=1e-4, atol=1e-6, **params)


@pytest.mark.parametrize(("op", "lead"), [(Dot, ()), (BatchDot, (1,))])
def test_half_precision_is_summed_in_single_precision(op: Any, lead: Any) -> None:
    ones = np.ones((*lead, 1, 4096), "float16")
    (output,) = check_forward(op, [ones, ones], transpose_b=True)
    np.testing.assert_array_equal(output, np.full((*lead, 1, 1), 4096, "float16"))


@pytest.mark.parametrize(("op", "lead"), [(Dot, ()), (BatchDot, (2,))])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_the_type_stays(op: Any, lead: Any, dtype: str) -> None:
    square = RNG.integers(-3, 4, (*lead, 3, 3)).astype(dtype)
    assert check_forward(op, [square, square], square @ square)[0].dtype == dtype


@pytest.mark.parametrize(("op", "lead"), [(Dot, ()), (BatchDot, (2,))])
def test_strided_operands_are_as_good_as_contiguous_ones(op: Any, lead: Any) -> None:
    lhs, rhs = RNG.normal(size=(*lead, 4, 6))[..., ::2], RNG.normal(size=(*lead, 3, 10))[..., ::-2]
    check_forward(op, [lhs, rhs], lhs @ rhs)


@pytest.mark.parametrize("req", [od.operator.OpReq.WRITE, od.operator.OpReq.ADD])
def test_strided_outputs_are_as_good_as_contiguous_ones(req: Any) -> None:
    lhs, rhs = RNG.normal(size=(2, 2, 3)), RNG.normal(size=(3, 2))
    operator = Dot().create_operator(od.cpu(), [lhs.shape, rhs.shape], [np.dtype("float64")] * 2)
    wide = np.ones((2, 2, 4))
    operator.forward(
        od.operator.OpContext(od.cpu(), False), od.operator.ForwardArrays([lhs, rhs], [req], [wide[..., ::2]])
    )
    base = 1 if req is od.operator.OpReq.ADD else 0
    np.testing.assert_allclose(wide[..., ::2], base + np.tensordot(lhs, rhs, 1))


@pytest.mark.parametrize(
    ("op", "shapes", "params", "message"),
    [
        (
            Dot,
            [(2, 3), (4, 2)],
            {},
            r"rhs has shape \(4, 2\).*axis 0 is 4, expected 3 \(K is 3 from lhs \(2, 3\)\)",
        ),
        (Dot, [(2, 3), (4, 2)], {"transpose_b": True}, "axis 1 is 2, expected 3"),
        (Dot, [(), (4, 2)], {}, "lhs has 0 axes .*expected at least 1"),
        (BatchDot, [(2, 3), (3, 2)], {}, "batch_dot"),
        (BatchDot, [(2, 2, 3), (1, 3, 2)], {}, "batch_dot: rhs has shape"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(op: Any, shapes: Any, params: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        op(**params).infer_shape(shapes)


def test_the_summed_length_is_known_from_either_operand() -> None:
    assert Dot().infer_shape([(2, None), (3, 4)]) == ([(2, 3), (3, 4)], [(2, 4)], [])
    assert Dot(transpose_a=True).infer_shape([(3, 2), (None, 4)]) == ([(3, 2), (3, 4)], [(2, 4)], [])
    assert Dot().infer_shape([(2, 3), None]) == ([(2, 3), None], [None], [])


def test_products_that_overflow_or_are_undefined_warn_nobody() -> None:
    for left, right, expected in ((1e30, 1e30, np.inf), (np.inf, 0, np.nan)):
        found = od.nd.dot(od.nd.array([[left]]), od.nd.array([[right]]))
        np.testing.assert_array_equal(found.asnumpy(), [[expected]])


@pytest.mark.parametrize("op", [Dot, BatchDot])
def test_each_gradient_keeps_only_the_other_operand(op: Any) -> None:
    reads = [op().backward_dependency([wanted == 0, wanted == 1]) for wanted in (0, 1)]
    assert [[(entry.kind, entry.index) for entry in entries] for entries in reads] == [
        [("out_grad", 0), ("in_data", 1)],
        [("out_grad", 0), ("in_data", 0)],
    ]


@pytest.mark.parametrize(("name", "lead"), [("dot", ()), ("batch_dot", (2,))])
def test_runs_imperatively_and_symbolically(name: str, lead: Any) -> None:
    arrays = {key: od.nd.array(RNG.normal(size=(*lead, 3, 3))) for key in ("lhs", "rhs")}
    eager = getattr(od.nd, name)(**arrays, transpose_b=True).asnumpy()
    symbol = getattr(od.sym, name)(*map(od.sym.var, arrays), transpose_b=True)
    np.testing.assert_array_equal(symbol.bind(od.cpu(), arrays).forward()[0].asnumpy(), eager)
