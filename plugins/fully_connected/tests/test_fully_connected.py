from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_fully_connected import FullyConnected
from operad_sdk.vector import host, reason_against
from operator_sdk.check.tests.halves import assert_gradients_near_in_half

RNG = np.random.default_rng(7)


def arrays(data_shape: tuple[int, ...], rows: int, length: int, dtype: str = "float64") -> list[Any]:
    shapes = [data_shape, (rows, length), (rows,)]
    return [RNG.uniform(-1, 1, shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize(
    ("data_shape", "flatten", "length"),
    [((4, 3), True, 3), ((2, 3, 2), True, 6), ((2, 3, 2), False, 2), ((3,), False, 3), ((5,), True, 1)],
)
@pytest.mark.parametrize("no_bias", [False, True])
def test_is_an_affine_map_of_each_row(
    data_shape: tuple[int, ...], flatten: bool, length: int, no_bias: bool
) -> None:
    data, weight, bias = arrays(data_shape, 4, length)
    inputs = [data, weight] if no_bias else [data, weight, bias]
    lead = data_shape[:1] if flatten else data_shape[:-1]
    expected = (data.reshape(-1, length) @ weight.T + (0 if no_bias else bias)).reshape(*lead, 4)
    params = {"num_hidden": 4, "flatten": flatten, "no_bias": no_bias}
    check_forward(FullyConnected, inputs, expected, **params)
    gradient_check(FullyConnected, inputs, **params)


@pytest.mark.parametrize("data_shape", [(0, 3), (2, 0)])
def test_empty_data_gives_the_bias_alone(data_shape: tuple[int, int]) -> None:
    data, weight, bias = arrays(data_shape, 2, data_shape[1])
    check_forward(FullyConnected, [data, weight, bias], np.broadcast_to(bias, (len(data), 2)), num_hidden=2)
    gradient_check(FullyConnected, [data, weight, bias], num_hidden=2)


def test_strided_inputs_and_outputs_are_as_good_as_contiguous_ones() -> None:
    data, weight, bias = arrays((3, 2, 6), 4, 3, "float32")
    expected = data[..., ::2] @ weight.T + bias
    check_forward(FullyConnected, [data[..., ::2], weight, bias], expected, num_hidden=4, flatten=False)
    op = FullyConnected(num_hidden=4, flatten=False)
    wide = np.zeros((3, 2, 8), np.float32)
    got = check_forward(op, [np.ascontiguousarray(data[..., ::2]), weight, bias])[0]
    operator = op.create_operator(od.cpu(), [(3, 2, 3), (4, 3), (4,)], [np.dtype("float32")] * 3)
    inputs = [data[..., ::2], weight, bias]
    ctx = od.operator.OpContext(od.cpu(), False)
    operator.forward(ctx, od.operator.ForwardArrays(inputs, [od.operator.OpReq.WRITE], [wide[..., ::2]]))
    np.testing.assert_allclose(wide[..., ::2], got, rtol=1e-5)


def test_half_precision_is_summed_in_single_precision() -> None:
    data, weight = np.full((1, 4096), 1, np.float16), np.full((2, 4096), 0.5, np.float16)
    (got,) = check_forward(FullyConnected, [data, weight], num_hidden=2, no_bias=True)
    np.testing.assert_array_equal(got, np.full((1, 2), 2048, np.float16))


def test_single_precision_stays_single() -> None:
    inputs = arrays((2, 3), 4, 3, "float32")
    assert check_forward(FullyConnected, inputs, num_hidden=4)[0].dtype == np.float32


def test_each_gradient_keeps_only_what_it_reads() -> None:
    op = FullyConnected(num_hidden=4)
    reads = {
        name: [
            (entry.kind, entry.index)
            for entry in op.backward_dependency([name == n for n in op.list_arguments()])
        ]
        for name in op.list_arguments()
    }
    assert reads == {
        "data": [("out_grad", 0), ("in_data", 1)],
        "weight": [("out_grad", 0), ("in_data", 0)],
        "bias": [("out_grad", 0)],
    }


def test_shapes_follow_from_the_data() -> None:
    layer = od.sym.FullyConnected(od.sym.var("x"), num_hidden=4, name="fc")
    arguments, outputs, _ = layer.infer_shape(x=(2, 3, 5))
    assert (arguments, outputs) == ([(2, 3, 5), (4, 15), (4,)], [(2, 4)])


def test_a_wrong_weight_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"weight has shape \(4, 2\), expected \(4, 3\)"):
        FullyConnected(num_hidden=4).infer_shape([(2, 3), (4, 2), None])


def test_num_hidden_is_at_least_one() -> None:
    with pytest.raises(ParamError, match="num_hidden"):
        FullyConnected(num_hidden=0)


def test_runs_imperatively_and_symbolically() -> None:
    data, weight, bias = map(od.nd.array, arrays((2, 3), 4, 3, "float32"))
    eager = od.nd.FullyConnected(data, weight, bias, num_hidden=4)
    symbol = od.sym.FullyConnected(*map(od.sym.var, ["data", "weight", "bias"]), num_hidden=4)
    bound = symbol.bind(od.cpu(), {"data": data, "weight": weight, "bias": bias})
    np.testing.assert_array_equal(bound.forward()[0].asnumpy(), eager.asnumpy())


def test_gradients_in_half_precision_are_near_those_in_single_precision() -> None:
    values = [RNG.uniform(0.1, 1, shape) for shape in [(3, 4), (2, 4), (2,)]]
    assert_gradients_near_in_half(partial(od.nd.FullyConnected, num_hidden=2), values)


in_vectors = pytest.mark.skipif(
    reason_against() is not None or host().vectors_held < 32,
    reason=reason_against() or "BLAS is as fast on this processor",
)


def kernels_of(executor: Any) -> set[str]:
    return {row.kernel.rpartition(".")[2] for row in executor.why().rows if row.kernel is not None}


def layer(rows: int, length: int, num_hidden: int, **options: Any) -> tuple[Any, Any, list[Any]]:
    """A bound layer, and its product and gradients in double precision for gradients of ones."""
    data, weight, bias = arrays((rows, length), num_hidden, length, "float32")
    symbol = od.sym.FullyConnected(*map(od.sym.var, ["data", "weight", "bias"]), num_hidden=num_hidden)
    executor = symbol.simple_bind(od.cpu(), data=data.shape, **options)
    executor.copy_params_from(
        {n: od.nd.array(v) for n, v in (("data", data), ("weight", weight), ("bias", bias))}
    )
    wide = [each.astype("float64") for each in (data, weight, bias)]
    head = np.ones((rows, num_hidden))
    return executor, wide[0] @ wide[1].T + wide[2], [head @ wide[1], head.T @ wide[0], head.sum(0)]


@in_vectors
@pytest.mark.parametrize("threads", [1, 2])
def test_large_layers_are_computed_in_vector_code(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(od.operator.OpContext, "num_threads", threads)
    executor, output, gradients = layer(96, 700, 450)
    found = executor.forward(is_train=True)[0].asnumpy()
    np.testing.assert_allclose(found, output, rtol=1e-4, atol=1e-4)
    executor.backward(od.nd.ones(output.shape))
    for name, expected in zip(("data", "weight", "bias"), gradients, strict=True):
        np.testing.assert_allclose(executor.grad_dict[name].asnumpy(), expected, rtol=1e-4, atol=1e-3)
    own = kernels_of(executor) - {"forward", "vector_bias_grad"}
    assert all(kernel.endswith(("in_vectors", "in_parts")) for kernel in own)
    assert any("in_vectors" in kernel for kernel in kernels_of(executor))


@in_vectors
def test_gradients_in_vector_code_are_added_where_that_is_asked() -> None:
    executor, output, gradients = layer(96, 700, 450, grad_req="add")
    for grad in executor.grad_dict.values():
        grad[:] = 3
    executor.forward(is_train=True)
    executor.backward(od.nd.ones(output.shape))
    for name, expected in zip(("data", "weight", "bias"), gradients, strict=True):
        np.testing.assert_allclose(executor.grad_dict[name].asnumpy(), 3 + expected, rtol=1e-4, atol=1e-3)


@in_vectors
def test_weights_are_packed_where_few_rows_are_predicted_and_packed_anew_when_they_change() -> None:
    executor, output, _ = layer(6, 300, 500, grad_req="null")
    assert "packed" in kernels_of(executor)
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), output, rtol=1e-4, atol=1e-4)
    executor.arg_dict["weight"][:] = 1
    executor.arg_dict["data"][:] = 2
    executor.arg_dict["bias"][:] = 5
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), np.full((6, 500), 605, np.float32))


@in_vectors
def test_a_prediction_has_the_bits_that_training_and_calls_have() -> None:
    predicting, *_ = layer(24, 300, 500, grad_req="null")
    training, *_ = layer(24, 300, 500)
    training.copy_params_from(predicting.arg_dict)
    found = [
        predicting.forward()[0],
        training.forward(is_train=True)[0],
        od.nd.FullyConnected(*(predicting.arg_dict[n] for n in ("data", "weight", "bias")), num_hidden=500),
    ]
    assert len({each.asnumpy().tobytes() for each in found}) == 1
