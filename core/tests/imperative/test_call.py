"""Imperative calls: targets, errors, threads, random order."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tests.together import run_together
from operad import engine, nd, random
from operad.device import cpu
from operad.errors import ArgumentError, BindError, OperadError

pytestmark = pytest.mark.usefixtures("operators", "two_threads")

A, B = np.float32([1, 2, 3, 4]), np.float32([5, 6, 7, 8])

READS = {
    "asnumpy": lambda x: x.asnumpy(),
    "asscalar": lambda x: x.asscalar(),
    "bool": bool,
    "array": np.asarray,
    "repr": repr,
    "dlpack": np.from_dlpack,
    "pickle": pickle.dumps,
    "copy": lambda x: x.copy().asnumpy(),
    "copyto": lambda x: x.copyto(nd.empty(x.shape)).asnumpy(),
    "astype": lambda x: x.astype("float64").asnumpy(),
    "view": lambda x: x[0:].asnumpy(),
    "gather": lambda x: x[[0]].asnumpy(),
    "index": lambda x: nd.array([0.0, 1.0])[x],
    "operator": lambda x: nd.tanh(x).asnumpy(),
    "in place": lambda x: x.__iadd__(1).asnumpy(),
    "wait_to_read": lambda x: x.wait_to_read(),
    "wait_to_write": lambda x: x.wait_to_write(),
}

OVERWRITES = {
    "assigned": lambda x: x.__setitem__(slice(None), 0),
    "out": lambda x: nd.tanh(nd.array(np.zeros(4)), out=x),
    "copied": lambda x: nd.array(np.zeros(4)).copyto(x),
    "through a view of all of it": lambda x: x[0:4].__setitem__(slice(None), 0),
}

PARTIAL_WRITES = {
    "slice": lambda x: x.__setitem__(slice(0, 1), 0),
    "view": lambda x: x[0:3].__setitem__(slice(None), 0),
    "index array": lambda x: x.__setitem__([0, 1, 2, 3], 0),
    "out": lambda x: nd.tanh(nd.array([0.0, 0.0]), out=x[1:3]),
    "in place": lambda x: x.__iadd__(1),
    "same array": lambda x: x.__setitem__(slice(1, None), x[:3]),
}


def overwritten(write):
    """An array whose computation has failed, after `write`."""
    x = nd.explode(nd.array(A))
    with pytest.raises(ZeroDivisionError):
        x.asnumpy()
    write(x)
    return x


class TestOut:
    def test_is_written_and_returned(self):
        out = nd.empty(4)
        assert nd.elemwise_add(nd.array(A), nd.array(B), out=out) is out
        np.testing.assert_array_equal(out.asnumpy(), A + B)

    def test_may_be_a_view(self):
        target = nd.array(np.zeros((2, 4)))
        nd.tanh(nd.array(A), out=target[1])
        np.testing.assert_array_equal(target.asnumpy(), [np.zeros(4), np.tanh(A)])

    @pytest.mark.parametrize("op", ["tanh", "reverse_last"])
    def test_may_be_an_input(self, op):
        expected = getattr(nd, op)(nd.array(A)).asnumpy()
        x = nd.array(A)
        getattr(nd, op)(x, out=x)
        np.testing.assert_array_equal(x.asnumpy(), expected)

    @pytest.mark.parametrize("op", ["tanh", "reverse_last"])
    @pytest.mark.parametrize(("source", "target"), [((0, 3), (1, 4)), ((1, 4), (0, 3))])
    def test_may_overlap_an_input(self, op, source, target):
        values = np.arange(4, dtype=np.float32)
        expected = values.copy()
        expected[slice(*target)] = getattr(nd, op)(nd.array(values[slice(*source)])).asnumpy()
        x = nd.array(values)
        getattr(nd, op)(x[slice(*source)], out=x[slice(*target)])
        np.testing.assert_array_equal(x.asnumpy(), expected)

    def test_may_be_a_list_for_several_outputs(self):
        x, sine, cosine = nd.array(A), nd.empty(4), nd.empty(4)
        nd.SineCosine(x, out=[sine, cosine])
        np.testing.assert_array_equal(sine.asnumpy(), np.sin(A))
        np.testing.assert_array_equal(cosine.asnumpy(), np.cos(A))

    @pytest.mark.parametrize("out", [nd.empty(3), nd.empty(4, dtype="float64"), nd.empty(4, cpu(1))])
    def test_must_be_like_the_result(self, out):
        with pytest.raises(
            BindError, match=r"tanh: out \(output\) is .*, expected float32\(4,\) on cpu\(0\)"
        ):
            nd.tanh(nd.array(A), out=out)

    def test_must_be_an_array_of_ours(self):
        with pytest.raises(BindError, match=r"tanh: out \(output\) is ndarray"):
            nd.tanh(nd.array(A), out=np.empty(4, np.float32))

    def test_must_be_as_many_as_the_results(self):
        with pytest.raises(ArgumentError, match="out has 1 arrays, expected 2"):
            nd.SineCosine(nd.array(A), out=nd.empty(4))


def test_hidden_outputs_are_not_returned():
    found = nd.SineCosine(nd.array(A))
    assert len(found) == 2


class TestErrors:
    """A failure is raised wherever its value is read, naming the operator, until it is overwritten."""

    def test_at_the_wait_and_not_at_the_call(self, each_engine):
        y = nd.tanh(nd.explode(nd.array(A)))
        with pytest.raises(ZeroDivisionError, match="above 0") as caught:
            y.asnumpy()
        assert "explode" in "".join(caught.value.__notes__)

    @pytest.mark.parametrize("read", READS.values(), ids=READS)
    def test_for_every_array_of_the_chain_and_every_way_to_read_it(self, each_engine, read):
        first = nd.explode(nd.array([5.0]))
        second = first + 1
        third = second[0:] * 2
        for array in (third, first, second, third, nd.tanh(third), third.detach()):
            with pytest.raises(ZeroDivisionError, match="above 0"):
                read(array)
        nd.waitall()

    @pytest.mark.parametrize("write", OVERWRITES.values(), ids=OVERWRITES)
    def test_until_the_array_is_overwritten(self, each_engine, write):
        x = overwritten(write)
        assert x.asnumpy().tolist() == [0.0, 0.0, 0.0, 0.0]
        nd.waitall()

    @pytest.mark.parametrize("write", PARTIAL_WRITES.values(), ids=PARTIAL_WRITES)
    def test_though_a_part_is_overwritten(self, each_engine, write):
        x = overwritten(write)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                x.asnumpy()

    def test_of_one_operation_leave_others_that_use_its_resources_alone(self, each_engine):
        """Four scratch spaces take turns, so eight calls share all of them."""
        bad = [nd.explode_scratch(nd.array(A), limit=0) for _ in range(4)]
        out = [nd.array(np.ones(4)) for _ in range(4)]
        for target in out:
            nd.explode_scratch(target, limit=2, out=target)
        for target in out:
            assert target.asnumpy().tolist() == [1.0] * 4
        with pytest.raises(ExceptionGroup):
            nd.waitall()
        del bad

    def test_two_failures_are_both_heard_of(self, each_engine):
        first, second = nd.explode(nd.array(A)), nd.explode(nd.array(B), limit=4)
        with pytest.raises(ZeroDivisionError, match="above 4"):
            second.asnumpy()
        with pytest.raises(ZeroDivisionError, match="above 0"):
            nd.waitall()
        with pytest.raises(ZeroDivisionError, match="above 0"):
            first.asnumpy()

    def test_together_at_waitall(self, each_engine):
        arrays = [nd.explode(nd.array(A), limit=limit) for limit in (0, 1, 2)]
        with pytest.raises(ExceptionGroup) as caught:
            nd.waitall()
        assert [str(error) for error in caught.value.exceptions] == [f"a value above {n}" for n in (0, 1, 2)]
        nd.waitall()
        del arrays

    def test_leave_other_arrays_alone(self, each_engine):
        x = nd.array(A)
        bad, good = nd.explode(x), x + 1
        np.testing.assert_array_equal(good.asnumpy(), A + 1)
        with pytest.raises(ZeroDivisionError):
            bad.asnumpy()
        np.testing.assert_array_equal(x.asnumpy(), A)

    def test_are_gone_once_the_array_is_overwritten(self, each_engine):
        x = nd.empty(4)
        nd.explode(nd.array(A), out=x)
        with pytest.raises(ZeroDivisionError):
            x.wait_to_read()
        nd.tanh(nd.array(A), out=x)
        np.testing.assert_array_equal(x.asnumpy(), np.tanh(A))

    def test_survive_a_write_to_a_part(self, each_engine):
        x = nd.array(np.zeros((2, 4)))
        nd.explode(nd.array(A), out=x[0])
        x[1] = 3
        with pytest.raises(ZeroDivisionError):
            x.asnumpy()

    def test_of_large_operations_too(self, each_engine):
        x = nd.array(np.ones((300, 300)))
        y = nd.tanh(nd.explode(x))
        with pytest.raises(ZeroDivisionError):
            y.asnumpy()

    def test_waiting_inside_an_operator_is_refused(self, each_engine):
        x = nd.array(A)
        caught = []

        def peek(_):
            try:
                x.asnumpy()
            except OperadError as error:
                caught.append(type(error).__name__)

        engine.get().push_sync(peek, cpu(0), (), (nd.empty(1)._chunk.var,))
        nd.waitall()
        assert caught == ["BlockingInOperatorError"]


def test_threads_may_call_the_same_operators_and_share_arrays():
    shared = nd.array(np.ones(64))
    results, errors = {}, []

    def work(number):
        try:
            x = shared * number
            for _ in range(50):
                x = nd.tanh(x + shared) * 0.5 + nd.elemwise_mul(x, shared)
            results[number] = x.asnumpy()
        except BaseException as error:  # noqa: BLE001 - reported below
            errors.append(error)

    run_together(work, range(6))
    assert not errors
    for number, result in results.items():
        x = np.full(64, number, np.float32)
        for _ in range(50):
            x = np.tanh(x + 1) * np.float32(0.5) + x
        np.testing.assert_array_equal(result, x)


def test_threads_that_add_to_one_array_lose_nothing():
    total = nd.array(np.zeros(8))

    def work():
        for _ in range(100):
            nd._plus_scalar(total, scalar=1, out=total)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total.asnumpy().tolist() == [400.0] * 8


def _drawn():
    random.seed(7)
    x = nd.array(np.zeros(5))
    return [nd.draw(x + i).asnumpy() for i in range(4)]


def test_a_seeded_program_repeats_on_every_engine():
    engine.set("naive")
    naive = _drawn()
    engine.set("threaded")
    np.testing.assert_array_equal(_drawn(), naive)
    assert len({row[0] - i for i, row in enumerate(naive)}) == 4


@st.composite
def programs(draw):
    """Steps over six arrays: (operator, sources, target), targets overwritten in place."""
    index = st.integers(0, 5)
    ops = st.sampled_from(["elemwise_add", "elemwise_mul", "tanh", "reverse_last", "part"])
    return draw(st.lists(st.tuples(ops, index, index, index), min_size=1, max_size=25))


def _run(program, size):
    arrays = [nd.array(np.linspace(-1, 1, size) + i / 7) for i in range(6)]
    for op, first, second, target in program:
        if op == "part":
            arrays[target][1:] = arrays[first][:-1]
        elif op.startswith("elemwise"):
            getattr(nd, op)(arrays[first], arrays[second], out=arrays[target])
        else:
            getattr(nd, op)(arrays[first], out=arrays[target])
    return [x.asnumpy() for x in arrays]


@given(program=programs(), size=st.sampled_from([5, 20_000]))
def test_any_program_of_overwrites_gives_the_same_on_every_engine(program, size):
    threaded = _run(program, size)
    engine.set("naive")
    try:
        naive = _run(program, size)
    finally:
        engine.set("threaded")
    np.testing.assert_array_equal(threaded, naive)
