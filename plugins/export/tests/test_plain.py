"""Operators as functions of plain arrays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from operad import engine, registry
from operad.config import settings
from operad.device import cpu
from operad.engine.thread import local
from operad.errors import ShapeError, UnsupportedError
from operad.op import Kernel, Operator, OperatorProperty, assign, param
from operad_export import PlainOperator
from operad_export.plain import check_exportable

pytestmark = pytest.mark.usefixtures("operators")

FLOAT = np.dtype("float32")


def plain(name, **params):
    return PlainOperator(registry.get(name)(**params))


def computed(operator, *arguments, states=(), **options):
    shapes, types = [a.shape for a in arguments], [a.dtype for a in arguments]
    outputs = [np.empty(*spec) for spec in operator.infer(shapes, types, [s.shape for s in states])]
    operator.forward(arguments, states, outputs, **options)
    return outputs


def gradients(operator, arguments, outputs, heads, wanted, states=()):
    found = {"in_data": arguments, "out_data": outputs, "out_grad": heads}
    arrays = [found[kind][index] for kind, index in operator.reads(wanted)]
    grads = [np.full_like(a, np.nan) for a, flag in zip(arguments, wanted, strict=True) if flag]
    shapes, types = [a.shape for a in arguments], [a.dtype for a in arguments]
    operator.backward(wanted, arrays, states, shapes, types, grads)
    return grads


def test_outputs_are_the_operators(each_engine):
    x = np.linspace(-1, 1, 6, dtype=FLOAT).reshape(2, 3)
    (found,) = computed(plain("tanh"), x)
    np.testing.assert_array_equal(found, np.tanh(x))


def test_arrays_may_have_any_strides():
    x = np.arange(12, dtype=FLOAT).reshape(3, 4).T
    (found,) = computed(plain("square"), x[::2])
    np.testing.assert_array_equal(found, np.square(x[::2]))


def test_a_large_call_is_pushed_and_waited_for(two_threads):
    seen = []

    class Where(OperatorProperty):
        def infer_shape(self, in_shapes):
            return list(in_shapes), list(in_shapes), []

    class WhereOperator(Operator):
        def __init__(self, prop, ctx, in_shapes, in_types):
            pass

        def forward(self, op_ctx, arrays):
            seen.append(
                local.state.worker
            )  # a worker's, or that of a thread which waits; none of an inline run
            assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0])

    Where.kernels = [Kernel("Where.array", WhereOperator)]
    small, large = np.ones(3, FLOAT), np.ones(settings().inline_us * 100_000, FLOAT)
    for array in (small, large):
        (found,) = computed(PlainOperator(Where()), array)
        assert found[-1] == 1
    assert seen[0] is None
    assert seen[1] is not None


def test_states_change_in_place():
    data, mean = np.array([[2.0], [4.0]], FLOAT), np.zeros(1, FLOAT)
    computed(plain("Centre"), data, states=[mean], is_train=True)
    assert mean[0] == 1.5
    computed(plain("Centre"), data, states=[mean])
    assert mean[0] == 1.5


def test_gradients_are_computed_from_what_is_declared():
    x = np.array([0.5, 1.0], FLOAT)
    operator = plain("tanh")
    assert [entry.kind for entry in operator.reads([True])] == ["out_grad", "out_data"]
    (found,) = gradients(operator, [x], computed(operator, x), [np.ones_like(x)], [True])
    np.testing.assert_allclose(found, 1 - np.tanh(x) ** 2, rtol=1e-6)


def test_only_wanted_gradients_are_computed():
    a, b = np.array([2.0], FLOAT), np.array([3.0], FLOAT)
    operator = plain("elemwise_mul")
    found = gradients(operator, [a, b], computed(operator, a, b), [np.ones_like(a)], [False, True])
    assert [g.tolist() for g in found] == [[2.0]]


def test_hidden_outputs_are_given_last():
    operator = plain("SineCosine")
    assert (operator.outputs, operator.num_visible) == (["sine", "cosine", "hidden"], 2)
    x = np.array([0.0], FLOAT)
    assert [o.tolist() for o in computed(operator, x)] == [[0.0], [1.0], [0.0]]


def test_the_seed_alone_decides_what_is_drawn(each_engine):
    operator, x = plain("draw"), np.zeros(5, FLOAT)
    assert operator.draws([(5,)], [FLOAT])
    first, again, other = (computed(operator, x, seed=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_threads_do_not_disturb_each_others_draws():
    operator, x = plain("draw"), np.zeros(50, FLOAT)
    alone = [computed(operator, x, seed=seed)[0] for seed in range(40)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda seed: computed(operator, x, seed=seed)[0], range(40)))
    np.testing.assert_array_equal(together, alone)


def test_an_error_is_raised_by_the_call_and_names_the_operator(each_engine):
    with pytest.raises(ZeroDivisionError, match="above 0") as caught:
        computed(plain("explode_scratch"), np.ones(2, FLOAT))
    assert any(note.startswith("explode_scratch (") for note in caught.value.__notes__)
    # Scratch memory that a failed call used serves the next one.
    computed(plain("explode_scratch"), -np.ones(2, FLOAT))


def test_a_call_inside_an_operation_runs_at_once(each_engine):
    found, done = [], engine.get().new_variable()

    def operation(_):
        found.append(computed(plain("square"), np.array([3.0], FLOAT))[0][0])

    engine.get().push_sync(operation, cpu(), (), (done,))
    engine.get().wait_for_var(done)
    assert found == [9.0]


def test_shapes_that_do_not_fit_are_refused():
    dense = plain("Dense", num_hidden=4)
    with pytest.raises(ShapeError, match="weight has shape"):
        dense.infer([(2, 3), (4, 5), (4,)], [FLOAT] * 3, [])
    with pytest.raises(ShapeError, match=r"mean has shape \(2,\), expected \(1,\)"):
        plain("Centre").infer([(2, 1)], [FLOAT], [(2,)])


def test_what_keeps_something_is_refused():
    class Keeps(OperatorProperty):
        is_stateful = True

        def infer_shape(self, in_shapes):
            return list(in_shapes), list(in_shapes), []

    with pytest.raises(UnsupportedError, match="Keeps: an operator that keeps something"):
        check_exportable(Keeps)


def test_what_keeps_something_for_some_parameters_is_refused_for_those():
    class Sometimes(OperatorProperty):
        keeps = param(bool, False)

        def __init__(self, **params):
            super().__init__(**params)
            self.is_stateful = self.keeps

        def infer_shape(self, in_shapes):
            return list(in_shapes), list(in_shapes), []

    assert PlainOperator(Sometimes()).arguments == ["data"]
    with pytest.raises(UnsupportedError, match="Sometimes: an operator that keeps something"):
        PlainOperator(Sometimes(keeps=True))
