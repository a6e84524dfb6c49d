"""Kernels of layers for large data: blocks of rows, and rows that are walked over twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.operator import BackwardArrays, ForwardArrays, KernelCall, OpContext, OpReq, choose
from operad_normalization import two_walks
from operad_normalization.group_norm import GroupNorm
from operad_normalization.instance_norm import InstanceNorm
from operad_normalization.layer_norm import LayerNorm
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

GRADIENTS = ("data_grad", "gamma_grad", "beta_grad")


def definition(x: Any, g: Any, gain: Any, axes: Any, others: Any, eps: float) -> list[Any]:
    """Output and gradients in extended precision; the gain broadcasts to the data."""
    x, g, gain = (array.astype(np.longdouble) for array in (x, g, gain))
    d = x - x.mean(axes, keepdims=True)
    r = 1 / np.sqrt((d * d).mean(axes, keepdims=True) + eps)
    h, k = d * r, g * gain
    slope = (k * h).mean(axes, keepdims=True)
    return [h * gain, r * (k - k.mean(axes, keepdims=True) - h * slope), (g * h).sum(others), g.sum(others)]


def run(
    prop: Any, kernels: dict[str, str], arrays: list[Any], wanted: Any = GRADIENTS, **options: Any
) -> Any:
    """Outputs and gradients by the kernels that are chosen, which have to be these."""
    data, gain, head = arrays
    shapes = [data.shape, gain.shape, gain.shape]
    call = KernelCall(prop, od.cpu(), shapes, [data.dtype] * 3)
    choice = choose(call)
    for part, name in kernels.items():
        assert choice.kernel_of(part).name.rpartition(".")[2] == name
    made, context = choice.operator(), OpContext(od.cpu(), is_train=True)
    inferred = prop.infer_shape(shapes)[1], prop.infer_type([data.dtype] * 3)[1]
    outs = [np.empty(shape, dtype) for shape, dtype in zip(*inferred, strict=True)]
    made.forward(context, ForwardArrays([data, gain, np.zeros_like(gain)], [OpReq.WRITE] * 4, outs))
    grads = [
        head if options.get("in_place") else np.empty_like(data),
        np.empty_like(gain),
        np.empty_like(gain),
    ]
    req = [OpReq.WRITE if name in wanted else OpReq.NULL for name in GRADIENTS]
    if options.get("in_place"):
        req[0] = OpReq.INPLACE
    made.backward(
        context, BackwardArrays([head, None, None, None], [data, gain, None], [None, *outs[1:]], req, grads)
    )
    return [outs[0], *(grad if one is not OpReq.NULL else None for grad, one in zip(grads, req, strict=True))]


def layer(rows: int, columns: int, dtype: str, mean: float = 0.0) -> list[Any]:
    rng = np.random.default_rng(7)
    data, head = (rng.normal(size=(rows, columns)).astype(dtype) for _ in range(2))
    return [data + np.asarray(mean, dtype), rng.uniform(0.5, 2, columns).astype(dtype), head]


def expect_near(found: list[Any], expected: list[Any], dtype: str) -> None:
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one is not None:
            allowed = (1e-4 if dtype == "float32" else 1e-10) * np.abs(other).max()
            np.testing.assert_allclose(
                one, other.astype(np.float64), rtol=0, atol=allowed, err_msg=str(number)
            )


@pytest.mark.parametrize(
    ("dtype", "mean"),
    [
        ("float32", 1000.0),
        pytest.param("float64", 0.0, marks=pytest.mark.more),
        pytest.param("float32", 0.0, marks=pytest.mark.more),
        pytest.param("float64", 1000.0, marks=pytest.mark.more),
    ],
)
@pytest.mark.parametrize("shape", [(1100, 1000), (60, 30_000), (250_000, 7)])
def test_blocks_of_rows_give_the_gradients_of_the_whole(shape: Any, dtype: str, mean: float) -> None:
    arrays = layer(*shape, dtype, mean)
    data, gain, head = arrays
    expected = definition(data, head, gain, 1, 0, 1e-5)
    for in_place in (False, True):
        given = [data, gain, head.copy()]
        found = run(LayerNorm(), dict.fromkeys(GRADIENTS, "by_rows"), given, in_place=in_place)
        expect_near(found, expected, dtype)


def test_rows_longer_than_a_block_are_computed_whole() -> None:
    arrays = layer(2, 500_000, "float64")
    data, gain, head = arrays
    found = run(LayerNorm(), {"data_grad": "vector_data_grad"}, arrays)
    expect_near(found, definition(data, head, gain, 1, 0, 1e-5), "float64")


@pytest.mark.parametrize("wanted", [("data_grad",), ("gamma_grad", "beta_grad"), ("beta_grad",)])
def test_blocks_of_rows_give_the_gradients_that_are_wanted(wanted: Any) -> None:
    arrays = layer(1100, 1000, "float32")
    data, gain, head = arrays
    found = run(LayerNorm(), dict.fromkeys(wanted, "by_rows"), arrays, wanted)
    expect_near(found, definition(data, head, gain, 1, 0, 1e-5), "float32")
    assert [one is not None for one in found[1:]] == [name in wanted for name in GRADIENTS]


def test_threads_and_earlier_calls_change_no_bit_of_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are kept for arrays that lie alike, and the last block is a loop of its own."""
    data, gain, head = layer(1100, 1000, "float32")
    found: dict[bool, set[Any]] = {False: set(), True: set()}
    for threads in (1, 2, 3, 40):
        monkeypatch.setattr(OpContext, "num_threads", property(lambda _, threads=threads: threads))
        for in_place in (False, True):
            for scale in (1, 3, 1):
                given = [data * np.float32(scale), gain.copy(), head.copy()]
                _, *grads = run(LayerNorm(), {"data_grad": "by_rows"}, given, in_place=in_place)
                found[scale == 1].add(tuple([one.tobytes() for one in grads]))
    assert len(found[True]) == len(found[False]) == 1
    assert found[True] != found[False]


@pytest.mark.parametrize("groups", [0, 3])
@pytest.mark.parametrize("scale", [1.0, 1e160])
@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_rows_of_float64_are_walked_over_twice_whatever_their_size(
    groups: int, scale: float, mean: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Squares beyond the range are those of smaller numbers."""
    monkeypatch.setattr(two_walks, "_FROM_SIZE", 1)
    rng = np.random.default_rng(5)
    shape = (5, 6, 700)
    data = (mean + rng.normal(size=shape)) * scale
    head, count = rng.normal(size=shape), groups or 6
    gain = rng.uniform(0.5, 2, count)
    prop = GroupNorm(num_groups=groups) if groups else InstanceNorm()
    found = run(prop, {"forward": "in_two_walks"}, [data, gain, head])
    split = (5, count, 6 // count, 700)
    given = data.reshape(split).astype(np.longdouble) / scale
    wide = [given, head.reshape(split), gain[:, None, None]]
    expected = definition(*wide, (2, 3), (0, 2, 3), float(prop.eps) / scale / scale)
    expected[1] /= scale
    expect_near(found, [*(one.reshape(shape) for one in expected[:2]), *expected[2:]], "float64")


def test_what_forward_keeps_is_what_the_mean_has_lost() -> None:
    data = (10000 + np.random.default_rng(3).normal(size=(40, 300))).astype("float32")
    for shape in (data.shape, (40, 3, 100)):
        prop: Any = LayerNorm() if len(shape) == 2 else InstanceNorm()
        x = data.reshape(shape)
        vector = np.ones(shape[1], "float32")
        outs = [np.empty(one, "f4") for one in prop.infer_shape([shape, vector.shape, vector.shape])[1]]
        made = prop.create_operator(od.cpu(), [shape, vector.shape, vector.shape], [x.dtype] * 3)
        made.forward(OpContext(od.cpu(), True), ForwardArrays([x, vector, vector], [OpReq.WRITE] * 4, outs))
        exact = x.astype(np.float64).mean(-1).ravel()
        lost = exact - outs[1].astype(np.float64).ravel()
        assert np.abs(lost).max() > 1e-5
        np.testing.assert_allclose(4 * outs[3].ravel(), lost, rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", ["LayerNorm", "GroupNorm"])
def test_a_mean_of_half_precision_that_is_shown_loses_no_gradient(name: str) -> None:
    rng = np.random.default_rng(9)
    data, head = (
        (1000 + rng.normal(size=(8, 512))).astype("float16"),
        rng.normal(size=(8, 512)).astype("float16"),
    )
    count = 512 if name == "LayerNorm" else 1
    arrays = [od.nd.array(one, dtype="float16") for one in (data, np.ones(count), np.zeros(count))]
    arrays[0].attach_grad()
    with od.autograd.record():
        output, *_ = getattr(od.nd, name)(*arrays, output_mean_var=True)
    output.backward(od.nd.array(head, dtype="float16"))
    expected = definition(data, head, np.ones(1), 1, 0, 1e-5)
    np.testing.assert_allclose(arrays[0].grad.asnumpy(), expected[1].astype("float64"), atol=0.02)
