"""`mx.contrib` and `nd.contrib`: loops, checks of elements, updates, the older autograd."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest

import operad as mx
from operad.errors import ArgumentError

nan, inf = np.nan, np.inf


def test_foreach_stacks_what_steps_give_and_is_recorded() -> None:
    data, state = mx.nd.array([[1, 2], [3, 4], [5, 6]]), mx.nd.array([0, 0])
    data.attach_grad()
    with mx.autograd.record():
        (outs, [twice]), last = mx.nd.contrib.foreach(lambda x, s: ([x + s, [x * 2]], x + s), data, state)
        outs.sum().backward()
    np.testing.assert_array_equal(outs.asnumpy(), np.cumsum(data.asnumpy(), axis=0))
    np.testing.assert_array_equal(last.asnumpy(), [9, 12])
    np.testing.assert_array_equal(twice.asnumpy(), data.asnumpy() * 2)
    np.testing.assert_array_equal(data.grad.asnumpy(), [[3, 3], [2, 2], [1, 1]])


def test_a_while_loop_ends_when_it_is_told_and_fills_up_with_zeros() -> None:
    outputs, (i, s) = mx.nd.contrib.while_loop(
        cond=lambda i, s: i <= 5,
        func=lambda i, s: ([i + s], [i + 1, s + i]),
        loop_vars=[mx.nd.array([0]), mx.nd.array([1])],
        max_iterations=10,
    )
    # MXNet 1.9.1 gives these six values, and then what was in the memory.
    assert outputs[0].asnumpy().ravel().tolist() == [1, 2, 4, 7, 11, 16, 0, 0, 0, 0]
    assert (i.asscalar(), s.asscalar()) == (6, 16)


def test_a_branch_is_chosen_by_the_condition() -> None:
    x = mx.nd.array([3])
    for limit, expected in ((5, 6), (1, -3)):
        made = mx.nd.contrib.cond(x < limit, lambda: x * 2, lambda: -x)
        assert made.asscalar() == expected


def test_loops_refuse_what_has_no_meaning() -> None:
    x = mx.nd.ones((2, 2))
    with pytest.raises(ArgumentError, match="foreach: data has lengths"):
        mx.nd.contrib.foreach(lambda x, s: (x, s), [x, mx.nd.ones(3)], x)
    with pytest.raises(ArgumentError, match="max_iterations is missing"):
        mx.nd.contrib.while_loop(lambda x: x, lambda x: (x, x), x)
    with pytest.raises(ArgumentError, match="func gave 2 loop_vars, expected 1"):
        mx.nd.contrib.while_loop(lambda x: x.sum(), lambda x: (x, [x, x]), [x], 2)
    with pytest.raises(ArgumentError, match="expected an array of one element"):
        mx.nd.contrib.cond(x, lambda: x, lambda: x)
    with pytest.raises(ArgumentError, match="those of the first step"):
        mx.nd.contrib.foreach(lambda x, n: (mx.nd.ones(n), n + 1), x, 1)


def test_elements_are_checked() -> None:
    x = mx.nd.array([1, nan, inf, -inf])
    for name in ("isnan", "isinf", "isfinite"):
        found = getattr(mx.nd.contrib, name)(x)
        assert (found.tolist(), found.dtype) == (getattr(np, name)([1, nan, inf, -inf]).tolist(), np.float32)


def test_zipfian_classes_are_drawn_by_their_law() -> None:
    mx.random.seed(1)
    drawn, of_true, of_drawn = mx.nd.contrib.rand_zipfian(mx.nd.array([3]), 20_000, 5)
    expected = np.log((np.arange(5) + 2) / (np.arange(5) + 1)) / np.log(6) * 20_000
    np.testing.assert_allclose(np.bincount(drawn.asnumpy()), expected, rtol=0.1)
    np.testing.assert_allclose(of_true.asnumpy(), expected[[3]])
    np.testing.assert_allclose(of_drawn.asnumpy(), expected[drawn.asnumpy()])
    symbols = mx.sym.contrib.rand_zipfian(mx.sym.var("x"), 4, 5)
    assert mx.sym.Group(symbols).eval(x=mx.nd.array([3]))[1].asnumpy() == pytest.approx(expected[3] / 5_000)


def weights(dtype: str = "float32") -> list[list[mx.nd.NDArray]]:
    rng = np.random.RandomState(0)
    return [[mx.nd.array(rng.rand(3), dtype=dtype) for _ in range(2)] for _ in range(4)]


def test_several_weights_move_as_each_would() -> None:
    together, apart = weights(), weights()
    mx.nd.contrib.multi_adamw_update(
        *together, 0.5, lrs=(0.1, 0.2), wds=(0, 0.1), etas=(1, 1), out=together[0]
    )
    for number, own in enumerate(zip(*apart, strict=True)):
        lr, wd = ((0.1, 0), (0.2, 0.1))[number]
        mx.nd.contrib.adamw_update(*own, mx.nd.array([0.5]), lr=lr, eta=1, wd=wd, out=own[0])
        np.testing.assert_array_equal(together[0][number].asnumpy(), own[0].asnumpy())
    lamb = weights()
    mx.nd.contrib.multi_lamb_update(*lamb, step_count=(1, 1), lrs=(0.1, 0.1), wds=(0, 0), out=lamb[0])
    assert not np.array_equal(lamb[0][0].asnumpy(), weights()[0][0].asnumpy())
    with pytest.raises(ArgumentError, match=r"lengths \[2, 3\]"):
        mx.nd.contrib.multi_lamb_update(*lamb, (1, 1), (0.1, 0.1), (0, 0), num_tensors=3)


def test_half_precision_moves_by_its_copy() -> None:
    w, g, m, v = (mx.nd.array([1, 2], dtype=kind) for kind in ("float16", "float16", "float32", "float32"))
    master = mx.nd.array([1, 2])
    mx.nd.contrib.mp_adamw_update(w, g, m, v, master, 1.0, lr=0.1, eta=1, out=w)
    np.testing.assert_array_equal(w.asnumpy(), master.asnumpy().astype("float16"))


def test_a_symbol_takes_a_number_as_rescale_grad() -> None:
    names = ("weight", "grad", "mean", "var")
    symbol = mx.sym.contrib.adamw_update(*map(mx.sym.var, names), 0.5, lr=0.1, eta=1)
    assert symbol.list_arguments() == ["weight", "grad"]


def test_the_older_autograd_gives_gradients_of_functions() -> None:
    autograd = mx.contrib.autograd
    x, y = mx.nd.array([1, 2]), mx.nd.array([3, 4])
    grads, value = autograd.grad_and_loss(lambda a, b: a * b)(x, y)
    assert ([g.tolist() for g in grads], value.tolist()) == ([[3, 4], [1, 2]], [3, 8])
    (only,) = autograd.grad(lambda a, b: a * b * b, argnum=1)(x, y)
    assert only.tolist() == [6, 16]
    with autograd.train_section():
        assert mx.autograd.is_recording()
        with autograd.test_section():
            assert not mx.autograd.is_training()
        assert mx.autograd.is_training()
    assert not mx.autograd.is_recording()


@pytest.mark.parametrize("module", ["contrib.nd", "contrib.ndarray", "nd.contrib"])
def test_parts_are_found_by_both_names(module: str) -> None:
    assert attrgetter(module)(mx).foreach is mx.nd.contrib.foreach


def test_parts_can_be_imported_by_both_names() -> None:
    from operad.contrib.ndarray import box_iou, foreach
    from operad.contrib.symbol import rand_zipfian

    assert (foreach, rand_zipfian) == (mx.nd.contrib.foreach, mx.sym.contrib.rand_zipfian)
    assert box_iou is mx.nd.contrib.box_iou
