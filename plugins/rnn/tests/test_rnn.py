from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_rnn import setup, vector_steps, ways
from operad_rnn.reference import unrolled
from operad_rnn.rnn import RNN
from operad_sdk import OpContext, multiplication
from operad_sdk.vector import KeptLoops, reason_against, run_steps
from operad_sdk.vector.settings import is_checked

MODES = ("rnn_relu", "rnn_tanh", "lstm", "gru")
ARRANGEMENTS = [
    {"num_layers": layers, "bidirectional": both, "use_sequence_length": lengths}
    for layers, both, lengths in product((1, 2), (False, True), (False, True))
]
# Code is compiled for each of these; the most general go through all of it.
COMPILED = [
    pytest.param(p, marks=() if p["bidirectional"] and p["num_layers"] > 1 else pytest.mark.more)
    for p in ARRANGEMENTS
]


def each_with_or_without_lengths() -> list[Any]:
    """Arrangements and modes; in the fast suite one mode, which has no lengths."""
    cases = []
    for case, mode in product(COMPILED, MODES):
        is_fast = (mode, case.values[0]["use_sequence_length"]) == ("gru", False)
        cases.append(pytest.param(*case.values, mode, marks=case.marks if is_fast else pytest.mark.more))
    return cases


def network(
    mode: str, steps: int = 3, batch: int = 2, features: int = 3, state_size: int = 2, **params: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Parameters, and normal numbers for all arguments; lengths from none to all steps."""
    params = {"mode": mode, "state_size": state_size, "num_layers": 1, **params}
    prop, rng = RNN(**params), np.random.default_rng(0)
    arrays = [
        rng.normal(size=(steps, batch, features)),
        rng.normal(scale=0.5, size=prop.layout(features).size),
        rng.normal(size=(prop.cells, batch, prop.recurrent_size)),
    ]
    if prop.is_lstm:
        arrays.append(rng.normal(size=(prop.cells, batch, state_size)))
    if prop.use_sequence_length:
        arrays.append(np.linspace(0, steps, batch).round())
    return params, arrays


def by_steps(params: dict[str, Any], arrays: list[Any]) -> Any:
    """What the reference makes of them."""
    prop = RNN(**params)
    names = set(RNN.params) - {"p"}
    return unrolled(*arrays, **{name: getattr(prop, name) for name in names})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arrangement", ARRANGEMENTS, ids=str)
def test_outputs_are_those_of_the_unrolled_network_and_gradients_are_theirs(
    mode: str, arrangement: dict[str, Any]
) -> None:
    params, arrays = network(mode, state_outputs=True, **arrangement)
    check_forward(RNN, arrays, by_steps(params, arrays), **params)
    gradient_check(RNN, arrays, **params)


def _noted(loop: Callable[..., None], calls: list[str]) -> Callable[..., None]:
    def noted(*args: Any) -> None:
        calls.append(loop.__name__)
        loop(*args)

    return noted


@pytest.mark.parametrize("small", [1 << 16, -1], ids=["by steps", "in vectors"])
@pytest.mark.parametrize("arrangement", COMPILED, ids=str)
def test_a_projected_lstm_is_trained_too(
    arrangement: dict[str, Any], small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "_SMALL", small)
    params, arrays = network("lstm", state_outputs=True, projection_size=1, **arrangement)
    check_forward(RNN, arrays, by_steps(params, arrays), **params)
    gradient_check(RNN, arrays, **params)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("steps", "batch", "features", "state_size"), [(1, 2, 3, 2), (3, 1, 2, 1), (2, 2, 1, 4)]
)
def test_axes_of_one(mode: str, steps: int, batch: int, features: int, state_size: int) -> None:
    params, arrays = network(mode, steps, batch, features, state_size, num_layers=2, bidirectional=True)
    check_forward(RNN, arrays, by_steps(params, arrays), **params)
    gradient_check(RNN, arrays, **params)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("small", [1 << 16, -1], ids=["by steps", "in vectors"])
@pytest.mark.parametrize(("steps", "batch", "features"), [(0, 2, 3), (3, 0, 3), (3, 2, 0)])
def test_empty_axes(
    mode: str, steps: int, batch: int, features: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "_SMALL", small)
    params, arrays = network(mode, steps, batch, features, state_outputs=True, num_layers=2)
    check_forward(RNN, arrays, by_steps(params, arrays), **params)
    gradient_check(RNN, arrays, **params)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", ["_COPIED_BY_BLAS", "_LARGE"])
def test_large_matrices_go_another_way_to_the_same_result(
    mode: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multiplication, way, 0)
    monkeypatch.setattr(multiplication, "_VECTORS_HELD", 0)
    params, arrays = network(mode, bidirectional=True, num_layers=2)
    check_forward(RNN, arrays, by_steps(params, arrays), **params)


@pytest.mark.skipif(reason_against() is not None, reason="there is no vector code")
@pytest.mark.parametrize(("arrangement", "mode"), each_with_or_without_lengths(), ids=str)
def test_kernels_in_vector_code_over_all_steps_compute_the_same(
    mode: str, arrangement: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    params, arrays = network(mode, state_size=5, state_outputs=True, **arrangement)
    taken = []
    monkeypatch.setattr(ways, "_SMALL", -1)
    for way in ("go_forward", "go_back"):
        monkeypatch.setattr(vector_steps, way, _noted(getattr(vector_steps, way), taken))
    check_forward(RNN, arrays, by_steps(params, arrays), **params)
    gradient_check(RNN, arrays, **params)
    assert set(taken) == {"go_forward", "go_back"}


@pytest.mark.skipif(reason_against() is not None, reason="there is no vector code")
@pytest.mark.parametrize("options", [{}, {"use_sequence_length": True}], ids=str)
def test_cell_states_are_clipped_in_vector_code_too(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "_SMALL", -1)
    bounds = {"lstm_state_clip_min": -0.1, "lstm_state_clip_max": 0.2}
    params, arrays = network("lstm", steps=4, batch=3, state_size=5, state_outputs=True, **bounds, **options)
    check_forward(RNN, arrays, by_steps(params, arrays), **params)
    gradient_check(RNN, arrays, **params)


@pytest.mark.skipif(reason_against() is not None, reason="there is no vector code")
@pytest.mark.parametrize(
    ("mode", "options"),
    [*product(MODES, ({}, {"use_sequence_length": True})), ("lstm", {"projection_size": 4})],
    ids=str,
)
def test_threads_share_the_rows_of_a_batch_and_change_no_bit(
    mode: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "_SMALL", -1)
    monkeypatch.setattr(vector_steps, "ROWS", 1)
    monkeypatch.setattr(setup, "_DIVIDED", 0)
    monkeypatch.setattr(setup, "_TOGETHER", 5)
    params, arrays = network(
        mode, steps=4, batch=5, state_size=9, num_layers=2, state_outputs=True, **options
    )
    found = []
    for num_threads in (1, 2, 3):
        monkeypatch.setattr(OpContext, "num_threads", num_threads)
        inputs = [od.nd.array(array, dtype="float32") for array in arrays]
        for array in inputs:
            array.attach_grad()
        with od.autograd.record():
            outputs = od.nd.RNN(*inputs, **params)
        od.autograd.backward(list(outputs))
        kept = [*outputs, *(array.grad for array in inputs)]
        found.append([each.asnumpy().tobytes() for each in kept if each is not None])
    assert found[0] == found[1] == found[2]
    assert np.isfinite(outputs[0].asnumpy()).all()


@pytest.mark.more
@pytest.mark.skipif(reason_against() is not None, reason="there is no vector code")
@pytest.mark.parametrize(
    ("mode", "options"),
    [
        *product(MODES, ({}, {"use_sequence_length": True, "bidirectional": True})),
        ("lstm", {"projection_size": 4}),
    ],
    ids=str,
)
def test_loops_of_an_earlier_call_give_the_bits_of_new_ones(
    mode: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "_SMALL", -1)
    params, arrays = network(
        mode, steps=4, batch=5, state_size=9, num_layers=2, state_outputs=True, **options
    )
    kept, alive = KeptLoops(), []
    for seed in range(3):
        rng, found = np.random.default_rng(seed), []
        given = [
            rng.normal(size=array.shape)
            for array in arrays[: len(arrays) - ("use_sequence_length" in options)]
        ]
        given += [rng.integers(0, 5, 5)] * (len(arrays) - len(given))
        for loops in (kept, KeptLoops()):
            monkeypatch.setattr(vector_steps, "_LOOPS", loops)
            inputs = [od.nd.array(array, dtype="float32") for array in given]
            for array in inputs:
                array.attach_grad()
            with od.autograd.record():
                outputs = od.nd.RNN(*inputs, **params)
            od.autograd.backward(list(outputs))
            results = [*outputs, *(array.grad for array in inputs if array.grad is not None)]
            found.append([each.asnumpy().tobytes() for each in results])
            alive += [inputs, outputs]  # so that none has the address of another one
        assert found[0] == found[1]
    assert [*map(len, kept._free.values())] == ([] if is_checked() else [1] * 4)  # each layer, both passes


@pytest.mark.skipif(reason_against() is not None, reason="there is no vector code")
@pytest.mark.parametrize(("rows", "units", "strides"), [(5, 1, (4, 80)), (1, 5, (400, 4)), (3, 4, (32, 4))])
def test_a_first_state_gets_the_strides_of_the_others(
    rows: int, units: int, strides: tuple[int, int]
) -> None:
    first = np.arange(2 * rows * units, dtype=np.float32).reshape(rows, units, 2)[..., 0]
    arrays = np.lib.stride_tricks.as_strided(np.zeros(200, np.float32), (1, rows, units), (0, *strides))
    before = setup.Setup(threads=1)
    found = before.alike(first, arrays)
    run_steps(before.loops())
    assert found.strides == strides
    np.testing.assert_array_equal(found, first)


@pytest.mark.parametrize("bounds", [(-0.2, 0.1), (None, 0.1), (-0.2, None)])
def test_cell_states_are_clipped(bounds: tuple[float | None, float | None]) -> None:
    clip = {"lstm_state_clip_min": bounds[0], "lstm_state_clip_max": bounds[1]}
    params, arrays = network("lstm", state_outputs=True, num_layers=2, **clip)
    *_, states = check_forward(RNN, arrays, by_steps(params, arrays), **params)[:3]
    np.testing.assert_array_equal(states, np.clip(states, *bounds))
    gradient_check(RNN, arrays, **params)


def test_clipping_stops_nan_where_asked() -> None:
    clip = {"lstm_state_clip_min": -1.0, "lstm_state_clip_max": 1.0}
    params, arrays = network("lstm", **clip)
    arrays[3][0, 0, 0] = np.nan
    assert np.isnan(check_forward(RNN, arrays, **params)[0][:, 0]).any()
    params["lstm_state_clip_nan"] = True
    assert np.isfinite(check_forward(RNN, arrays, by_steps(params, arrays), **params)[0]).all()


@pytest.mark.parametrize("mode", MODES)
def test_a_sequence_that_ends_early_is_the_shorter_sequence(mode: str) -> None:
    params, arrays = network(mode, steps=4, batch=1, bidirectional=True, num_layers=2, state_outputs=True)
    shorter = check_forward(RNN, [arrays[0][:3], *arrays[1:]], **params)
    longer = check_forward(RNN, [*arrays, np.array([3.0])], use_sequence_length=True, **params)
    np.testing.assert_allclose(longer[0][:3], shorter[0], rtol=1e-12)
    assert not longer[0][3:].any()
    np.testing.assert_allclose(longer[1], shorter[1], rtol=1e-12)


@pytest.mark.parametrize("mode", ["lstm", "gru"])
def test_gates_saturate_without_overflow(mode: str) -> None:
    params, arrays = network(mode)
    with np.errstate(over="raise", invalid="raise"):
        output, *_ = check_forward(RNN, [1e4 * arrays[0], *arrays[1:]], **params)
    assert np.isfinite(output).all()


@pytest.mark.parametrize("mode", MODES)
def test_half_precision_is_summed_in_single(mode: str) -> None:
    params, arrays = network(mode, features=400, num_layers=2)
    arrays[1] /= 20
    half = [array.astype(np.float16) for array in arrays]
    wide = by_steps(params, [array.astype(np.float64) for array in half])
    output, *_ = check_forward(RNN, half, **params)
    assert output.dtype == np.float16
    np.testing.assert_allclose(output, wide, rtol=2e-3, atol=1e-3)  # one rounding to 11 bits


def test_what_half_precision_cannot_hold_is_kept_for_the_gradient() -> None:
    params, arrays = network("gru", features=1)
    half = [np.full(array.shape, 300.0, np.float16) for array in arrays]  # products of 2 * 300^2
    leaves = [od.nd.array(array, dtype="float16") for array in half]
    for leaf in leaves:
        leaf.attach_grad()
    with od.autograd.record():
        output = od.nd.RNN(*leaves, **params)
    output.backward()
    assert all(np.isfinite(leaf.grad.asnumpy()).all() for leaf in leaves)


@pytest.mark.parametrize("mode", ["lstm", "gru"])
@pytest.mark.parametrize("only", ["data", "parameters", "state"])
@pytest.mark.parametrize("req", ["write", "add"])
def test_gradients_can_be_asked_for_one_by_one(mode: str, only: str, req: str) -> None:
    params, arrays = network(mode, num_layers=2, bidirectional=True)
    net = od.sym.RNN(od.sym.var("data"), **params, name="net")
    names = net.list_arguments()
    args = dict(zip(names, (od.nd.array(array, dtype="float64") for array in arrays), strict=True))
    name = only if only == "data" else f"net_{only}"

    def gradient(reqs: dict[str, str]) -> Any:
        executor = net.bind(
            od.cpu(), args, {n: od.nd.ones(a.shape, dtype="float64") for n, a in args.items()}, reqs
        )
        executor.forward(is_train=True)
        executor.backward(od.nd.ones(executor.outputs[0].shape, dtype="float64"))
        return executor.grad_dict[name].asnumpy()

    every = gradient(dict.fromkeys(names, "write"))
    alone = gradient({n: req if n == name else "null" for n in names})
    np.testing.assert_allclose(alone, every + (req == "add"), rtol=1e-12)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"mode": "gru", "projection_size": 2}, "only an lstm is projected"),
        ({"mode": "lstm", "lstm_state_clip_min": 1.0, "lstm_state_clip_max": 0.0}, "expected at most"),
        ({"mode": "rnn"}, "rnn_tanh"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params: dict[str, Any], words: str) -> None:
    with pytest.raises(ParamError, match=words):
        RNN(state_size=3, num_layers=1, **params)


def test_parameters_of_another_length_are_refused() -> None:
    params, arrays = network("gru")
    with pytest.raises(ShapeError, match="parameters"):
        check_forward(RNN, [arrays[0], arrays[1][:-1], arrays[2]], **params)


def test_integers_are_refused() -> None:
    params, arrays = network("rnn_tanh")
    with pytest.raises(DTypeError):
        check_forward(RNN, [array.astype(np.int32) for array in arrays], **params)
